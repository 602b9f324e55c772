/** Dialects: the only file that chooses between the folders that read tables. */

import { type Dialect, dialectFacts, type Family } from '@tablewright/runtime/language';
import type { CatalogStamps, ChangedRelations, ReadOptions, RunStatement, SchemaFacts } from './facts.ts';
import type { MysqlCatalog } from './mysql/catalog.ts';
import { readMysqlCatalog, readMysqlStamps, rereadMysqlCatalog } from './mysql/read.ts';
import { buildMysqlTables } from './mysql/tables.ts';
import type { Catalog } from './postgres/catalog.ts';
import { readCatalog, readPostgresStamps, rereadCatalog } from './postgres/read.ts';
import { type BuiltTables, buildRelations, buildTables } from './postgres/tables.ts';

export type { MysqlCatalog } from './mysql/catalog.ts';
export { mysqlSettings } from './mysql/catalog-sql.ts';
export { withDrafts } from './mysql/drafts.ts';
export { buildMysqlTables } from './mysql/tables.ts';
export type * from './postgres/catalog.ts';
export { buildTables } from './postgres/tables.ts';
export type { Family };
export { readCatalog, readMysqlCatalog };

/** The rows that a server reports, of either family. */
export type AnyCatalog = Catalog | MysqlCatalog;

/** Facts, and what they were built from. */
export interface Reading {
  readonly facts: SchemaFacts;
  readonly catalog: AnyCatalog;
  /** For PostgreSQL: the facts built of each relation. */
  readonly relations: BuiltTables['relations'];
}

/** Reads the facts of a database over a connection of one family. Rejects with the error of `run`. */
export async function readFacts(family: Family, run: RunStatement, options: ReadOptions = {}): Promise<SchemaFacts> {
  return (await readTables(family, run, options)).facts;
}

/** The same, so that a part of it can be read again. */
export async function readTables(family: Family, run: RunStatement, options: ReadOptions = {}): Promise<Reading> {
  return build(await readAnyCatalog(family, run, options));
}

/** Reads the changed tables again; unchanged ones of PostgreSQL stay the same objects. Null: read everything. */
export async function rereadTables(
  run: RunStatement,
  { catalog, relations }: Reading,
  changed: ChangedRelations,
): Promise<Reading | null> {
  if (changed === 'all') return null;
  if ('dialect' in catalog) {
    const combined = await rereadMysqlCatalog(run, catalog, changed);
    return combined && build(combined);
  }
  const union = await rereadCatalog(run, catalog, changed);
  if (union === null) return null;
  return build(union.catalog, new Map([...relations].filter(([oid]) => !union.reread.has(oid))));
}

function build(catalog: AnyCatalog, kept: BuiltTables['relations'] = new Map()): Reading {
  if ('dialect' in catalog) return { facts: buildMysqlTables(catalog), catalog, relations: kept };
  return { catalog, ...buildRelations(catalog, kept) };
}

/** Reads the catalog of a database over a connection of one family. Rejects with the error of `run`. */
export function readAnyCatalog(family: Family, run: RunStatement, options: ReadOptions = {}): Promise<AnyCatalog> {
  return family === 'mysql' ? readMysqlCatalog(run, options) : readCatalog(run, options);
}

/** Builds the facts of a catalog of either family. */
export function buildFacts(catalog: AnyCatalog): SchemaFacts {
  return 'dialect' in catalog ? buildMysqlTables(catalog) : buildTables(catalog);
}

/**
 * Checks cheaply if the tables of a database may have changed. Stamps change with every change of a table, a column, a
 * key, a trigger, a type, a comment or a right. Sometimes they change without one. Rejects with the error of `run`.
 */
export function readStamps(
  dialect: Dialect,
  run: RunStatement,
  options: Pick<ReadOptions, 'schemas'> = {},
): Promise<CatalogStamps> {
  const { family } = dialectFacts[dialect];
  return family === 'mysql' ? readMysqlStamps(dialect, run, options) : readPostgresStamps(run);
}
