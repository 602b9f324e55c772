/**
 * The statement that reads the catalog: one for all kinds of rows, so that they come from one snapshot.
 *
 * It returns two columns: the kind (a key of `CatalogRows`) and one row as JSON. Its parameter is the JSON array of the
 * allowed schemas, or null for all that are not PostgreSQL's own.
 */
import type { CatalogRows } from './catalog.ts';
import { constraintsSql, indexesSql } from './sql/constraints.ts';
import { objectsSql } from './sql/objects.ts';
import { columnsSql, inheritsSql, namespacesSql, relationsSql, rulesSql } from './sql/relations.ts';
import { rereadSql } from './sql/reread.ts';
import { typesSql, usedTypesSql } from './sql/types.ts';
import { type Extent, requestedSql, settingsSql } from './sql/wanted.ts';

/** Reads the version of the server as `server_version_num`. */
export const versionSql = "SELECT pg_catalog.current_setting('server_version_num')";

/** Prints the statement for a server of this version (14 or later); one that reads relations again has a second parameter. */
export function catalogSql(version: number, extent: Extent = 'all'): string {
  const parts = Object.entries(rowsSql(version, extent)).map(([kind, sql]) => printPart(kind, sql));
  return `WITH RECURSIVE ${settingsSql},
${extent === 'all' ? '' : `${rereadSql},\n`}${requestedSql(extent)},
${usedTypesSql(extent)}
${parts.join('\nUNION ALL\n')}`;
}

function printPart(kind: string, sql: string): string {
  return `SELECT '${kind}' AS kind, pg_catalog.row_to_json(part)::pg_catalog.text AS row
FROM (
${sql}
) AS part`;
}

function rowsSql(version: number, extent: Extent): Readonly<Record<keyof CatalogRows, string>> {
  return {
    namespaces: namespacesSql,
    relations: relationsSql,
    columns: columnsSql,
    constraints: constraintsSql(version),
    indexes: indexesSql(version),
    inherits: inheritsSql,
    rules: rulesSql,
    types: typesSql(extent),
    objects: objectsSql(extent),
  };
}
