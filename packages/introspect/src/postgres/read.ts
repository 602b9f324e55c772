import { defaultSystemSchema } from '@tablewright/runtime/language';
import type { CatalogStamps, ReadOptions, RunStatement } from '../facts.ts';
import { type Catalog, type CatalogRows, type FunctionCatalog, oldestVersion, type Selection } from './catalog.ts';
import { catalogSql, versionSql } from './catalog-sql.ts';
import { type CombinedCatalog, mergeCatalog } from './merge-catalog.ts';
import { functionsSql } from './sql/functions.ts';
import { stampsSql } from './sql/stamps.ts';

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

/**
 * Reads these relations again, and others that depend on them; the rest is taken from the known catalog. Null where
 * that has to be read again as well.
 */
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

/** Reads the marks of all relations. */
export async function readPostgresStamps(run: RunStatement): Promise<CatalogStamps> {
  const marks = new Map((await run(stampsSql, [])).map(([relation, stamp]) => [relation ?? '', stamp ?? '']));
  const whole = marks.get(noRelation) ?? '';
  marks.delete(noRelation);
  return { whole, relations: marks };
}
