import { defaultSystemSchema, reservedPrefix } from '@tablewright/runtime/language';
import type { CatalogStamps, ReadOptions, RunStatement } from '../facts.ts';
import {
  type Catalog,
  type CatalogRows,
  type FunctionCatalog,
  oldestVersion,
  type RelationRow,
  type Selection,
} from './catalog.ts';
import { functionsSql } from './sql/functions.ts';
import { objectsSql } from './sql/objects.ts';
import {
  columnsSql,
  constraintsSql,
  indexesSql,
  inheritsSql,
  namespacesSql,
  relationsSql,
  rulesSql,
} from './sql/relations.ts';
import { rereadSql, stampsSql } from './sql/stamps.ts';
import { typesSql, usedTypesSql } from './sql/types.ts';
import { type Extent, requestedSql, settingsSql } from './sql/wanted.ts';

/**
 * Reads the catalog of a PostgreSQL database (14 to 18, or PGlite) in two statements for any number of tables. A third
 * reads functions where they are asked for. The second statement sets what decides how expressions print (`search_path`, `TimeZone` …) for its transaction. Inside a
 * transaction of the caller the settings stay until its end. For an older server only the version is read, which
 * `buildTables` reports. Rejects with the error of `run`.
 */
export async function readCatalog(run: RunStatement, options: ReadOptions = {}): Promise<Catalog> {
  const selection = selectionOf(options);
  const version = Number((await run(versionSql, []))[0]?.[0]);
  const rows = version >= oldestVersion ? await run(catalogSql(version), [schemasOf(selection)]) : [];
  const functions =
    options.functions === true && version >= oldestVersion
      ? await run(functionsSql, [schemasOf(selection)])
      : undefined;
  return { version, selection, ...rowsByKind(rows), ...(functions && { functions: functionsIn(functions) }) };
}

function functionsIn(rows: readonly (readonly (string | null)[])[]): FunctionCatalog {
  const rowsOfKind = <Row>(kind: keyof FunctionCatalog): readonly Row[] =>
    rows.flatMap(([rowKind, row]) => (rowKind === kind && row ? [JSON.parse(row)] : []));
  return { functions: rowsOfKind('functions'), types: rowsOfKind('types') };
}

/** Reads these relations and their dependents again; null where the rest of the catalog has changed as well. */
export async function rereadCatalog(
  run: RunStatement,
  catalog: Catalog,
  relations: ReadonlySet<string>,
): Promise<CombinedCatalog | null> {
  const { version, selection } = catalog;
  const rows = await run(catalogSql(version, 'reread'), [schemasOf(selection), JSON.stringify([...relations])]);
  return mergeCatalog(catalog, { version, selection, ...rowsByKind(rows) }, relations);
}

function schemasOf({ schemas, system }: Selection): string | null {
  return schemas === null ? null : JSON.stringify([...schemas, system]);
}

function selectionOf(options: ReadOptions): Selection {
  return {
    schemas: options.schemas ?? null,
    include: options.include ?? null,
    exclude: options.exclude ?? [],
    system: options.systemSchema ?? defaultSystemSchema,
  };
}

function rowsByKind(rows: readonly (readonly (string | null)[])[]): CatalogRows {
  return {
    namespaces: rowsOf(rows, 'namespaces'),
    relations: rowsOf(rows, 'relations'),
    columns: rowsOf(rows, 'columns'),
    constraints: rowsOf(rows, 'constraints'),
    indexes: rowsOf(rows, 'indexes'),
    inherits: rowsOf(rows, 'inherits'),
    rules: rowsOf(rows, 'rules'),
    types: rowsOf(rows, 'types'),
    objects: rowsOf(rows, 'objects'),
  };
}

// The shape of each row is what our own statement builds, so it is not checked again.
function rowsOf<Kind extends keyof CatalogRows>(
  rows: readonly (readonly (string | null)[])[],
  kind: Kind,
): readonly CatalogRows[Kind][number][] {
  return rows.flatMap(([rowKind, row]) => (rowKind === kind && row ? [JSON.parse(row)] : []));
}

/** The oid by which the statement marks what is no relation's own. */
const noRelation = '0';

export async function readPostgresStamps(run: RunStatement): Promise<CatalogStamps> {
  const marks = new Map((await run(stampsSql, [])).map(([relation, stamp]) => [relation ?? '', stamp ?? '']));
  const whole = marks.get(noRelation) ?? '';
  marks.delete(noRelation);
  return { whole, relations: marks };
}

const versionSql = "SELECT pg_catalog.current_setting('server_version_num')";

/** Prints the statement for a server of this version (14 or later); one that reads relations again has a second parameter. */
function catalogSql(version: number, extent: Extent = 'all'): string {
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

/** A catalog in which some relations were read again. */
interface CombinedCatalog {
  readonly catalog: Catalog;
  /** The oids of these relations, and of those that are gone. */
  readonly reread: ReadonlySet<string>;
}

/**
 * Replaces some relations of a known catalog by what was read of them now. The `asked` relations without rows are gone.
 * Null where the rest cannot stay the same: the platform's own tables decide which others are left out.
 */
function mergeCatalog(previous: Catalog, part: Catalog, requested: ReadonlySet<string>): CombinedCatalog | null {
  const reread = new Set([...requested, ...part.relations.map(({ oid }) => oid)]);
  const before = previous.relations.filter(({ oid }) => reread.has(oid));
  const relations = [...before, ...part.relations];
  if (relations.some(({ relname }) => relname.startsWith(reservedPrefix))) return null;
  const names = new Set(before.map(nameOf));
  const catalog = {
    ...previous,
    relations: replaced(previous.relations, part.relations, ({ oid }) => reread.has(oid)),
    columns: replaced(previous.columns, part.columns, ({ attrelid }) => reread.has(attrelid)),
    constraints: replaced(previous.constraints, part.constraints, ({ conrelid }) => reread.has(conrelid)),
    indexes: replaced(previous.indexes, part.indexes, ({ indrelid }) => reread.has(indrelid)),
    inherits: replaced(
      previous.inherits,
      part.inherits,
      (row) => reread.has(row.inhrelid) || reread.has(row.inhparent),
    ),
    rules: replaced(previous.rules, part.rules, ({ ev_class }) => reread.has(ev_class)),
    // Includes types that only these relations have: no column refers to a type that none has.
    types: [...new Map([...previous.types, ...part.types].map((row) => [row.oid, row])).values()],
    objects: replaced(
      previous.objects,
      part.objects,
      ({ nspname, relation }) => relation !== null && names.has(nameOf({ nspname, relname: relation })),
    ),
  };
  return { catalog, reread };
}

function replaced<Row>(rows: readonly Row[], part: readonly Row[], isReread: (row: Row) => boolean): readonly Row[] {
  return [...rows.filter((row) => !isReread(row)), ...part];
}

function nameOf({ nspname, relname }: Pick<RelationRow, 'nspname' | 'relname'>): string {
  return JSON.stringify([nspname, relname]);
}
