import { ledgerTable, printTable, reservedPrefix, systemCollection } from '@tablewright/runtime/language';
import { type Diagnostic, sortDiagnostics } from '../diagnostic.ts';
import { followThrough, type SchemaFacts } from '../facts.ts';
import { sortedBy } from '../order.ts';
import type { Table, TableId } from '../schema.ts';
import { matches, quotedNames, unmatchedPatterns } from '../table-names.ts';
import {
  type CheckRow,
  idOf,
  type MysqlCatalog,
  type StatisticsRow,
  schemaOf,
  type TableName,
  type TableRow,
} from './catalog.ts';
import { buildChecks, buildColumns, wholeTexts } from './columns.ts';
import { buildForeignKeys, buildKeys, unlistedKeys } from './keys.ts';
import { buildMysqlRoutines } from './routines.ts';

/**
 * Builds tables from the catalog of a MySQL or MariaDB server. Pure: the result does not depend on the order of the
 * catalog's rows, and is sorted as that of `buildTables`. There are no enums: the servers have them in columns only.
 */
export function buildMysqlTables(catalog: MysqlCatalog): SchemaFacts {
  const old = versionDiagnostics(catalog);
  if (old.length > 0) return { dialect: catalog.dialect, tables: [], enums: [], diagnostics: old };
  const listable = catalog.tables.filter((row) => row.table_type !== 'SEQUENCE');
  const isSystem = systemTest(catalog);
  const ordinary = listable.filter((row) => !isSystem(row) && isRequested(catalog, row));
  const lookup = lookupOf(catalog);
  const isReadable = (row: TableRow): boolean => row.table_type !== 'VIEW' || lookup.columns.has(idOf(catalog, row));
  const requested = ordinary.filter((row) => isRequestedTable(catalog, row));
  const desired = [
    ...requested.filter(isReadable),
    ...listable.filter((row) => isSystem(row) && isCollection(catalog, row)),
  ];
  const listed = new Set(desired.map((row) => idOf(catalog, row)));
  const isVisible = visibleTriggers(catalog);
  const hidden = new Set(desired.filter((row) => kindOf(row) !== 'view' && !isSystem(row) && !isVisible(row)));
  const built = desired.map((row) => buildTable(catalog, lookup, listed, row, hidden.has(row)));
  const alone = sortedBy(
    built.map(({ table }) => table),
    ({ id }) => id,
  );
  // No trigger of these servers runs for what a foreign key does.
  const tables = followThrough(alone, unlistedKeys(catalog, lookup.keys, alone), new Set());
  const diagnostics = [
    ...built.flatMap((part) => part.diagnostics),
    ...excluded(catalog, ordinary, requested),
    ...unreadable(
      catalog,
      requested.filter((row) => !isReadable(row)),
    ),
    ...unmatched(catalog, ordinary),
    ...unknownTypes(tables),
    ...hiddenTriggers(catalog, hidden),
  ];
  const routines = catalog.routines && { routines: buildMysqlRoutines(catalog, catalog.routines) };
  return { dialect: catalog.dialect, tables, enums: [], ...routines, diagnostics: sortDiagnostics(diagnostics) };
}

/** The rows of each kind by the id of their table. */
type Lookup = ReturnType<typeof lookupOf>;

function lookupOf(catalog: MysqlCatalog) {
  const id = (row: TableName): TableId => idOf(catalog, row);
  const columns = Map.groupBy(catalog.columns, id);
  // MariaDB adds the end of the period to keys of tables with versions: current rows have the same.
  const isEnd = (row: StatisticsRow): boolean =>
    columns
      .get(id(row))
      ?.some((column) => column.column_name === row.column_name && column.generation_expression === 'ROW END') === true;
  const statistics = catalog.statistics.filter((row) => row.non_unique !== 0 || !isEnd(row));
  return {
    columns,
    statistics: Map.groupBy(statistics, id),
    keys: Map.groupBy(catalog.keys, id),
    checks: Map.groupBy(catalog.checks, id),
  } as const;
}

/**
 * Distinguishes the platform's own tables, also those of another project. Tables that are no collection of this project
 * (sessions, the ledger, all of the other project) are never served, so nothing is reported about them.
 */
function systemTest({ tables }: MysqlCatalog): (row: TableRow) => boolean {
  const ledgers = tables.filter(({ table_name: name }) => name === ledgerTable);
  const homes = new Set(ledgers.map(({ table_schema: schema }) => schema));
  return ({ table_schema: schema, table_name: name, table_type: type }) =>
    type === 'BASE TABLE' && name.startsWith(reservedPrefix) && homes.has(schema);
}

function isCollection(catalog: MysqlCatalog, { table_schema: schema, table_name: name }: TableRow): boolean {
  return schema === catalog.system && systemCollection(name) !== undefined;
}

/** The database of the platform's tables is always read; its other tables only on request. */
function isRequested({ requestedSchemas: requested }: MysqlCatalog, { table_schema: schema }: TableRow): boolean {
  return requested.includes(schema);
}

function isRequestedTable(catalog: MysqlCatalog, row: TableName): boolean {
  const name = { nspname: schemaOf(catalog, row.table_schema), relname: row.table_name };
  const { include, exclude } = catalog;
  if (exclude.some((pattern) => matches(pattern, name))) return false;
  return include === null || include.some((pattern) => matches(pattern, name));
}

function buildTable(
  catalog: MysqlCatalog,
  lookup: Lookup,
  listed: ReadonlySet<TableId>,
  row: TableRow,
  hidesTriggers: boolean,
): { readonly table: Table; readonly diagnostics: readonly Diagnostic[] } {
  const id = idOf(catalog, row);
  const columns = lookup.columns.get(id) ?? [];
  const all = lookup.checks.get(id) ?? [];
  const checks = all.filter(isEnforced).map((check) => {
    return { ...check, check_clause: wholeTexts(check.check_clause, catalog.dialect) };
  });
  const keys = lookup.keys.get(id) ?? [];
  const { diagnostics, ...foreign } = buildForeignKeys(catalog, id, keys, listed, lookup.statistics);
  const table: Table = {
    id,
    schema: schemaOf(catalog, row.table_schema),
    name: row.table_name,
    kind: kindOf(row),
    comment: commentOf(row),
    owner: '',
    rowSecurity: { enabled: false, forced: false },
    inherits: [],
    writable: writableOf(row),
    ...(row.triggers !== 0 ? { amended: true as const } : hidesTriggers && { amended: 'hidden' as const }),
    columns: buildColumns(catalog.dialect, columns, checks, row.is_updatable !== 'NO'),
    ...buildKeys(lookup.statistics.get(id) ?? []),
    ...foreign,
    checks: buildChecks(checks, columns),
  };
  return { table, diagnostics: [...diagnostics, ...all.flatMap((check) => checkRemark(id, check))] };
}

/** True for a check that the server enforces; MySQL may have others, which promise nothing. */
function isEnforced({ enforced }: CheckRow): boolean {
  return enforced === 'YES';
}

function checkRemark(id: TableId, check: CheckRow): Diagnostic[] {
  if (isEnforced(check)) return [];
  const name = check.constraint_name;
  const message = `The check "${name}" is NOT ENFORCED: rows may break it.`;
  return [
    { code: 'check-not-enforced', severity: 'info', place: `table ${printTable('mysql', id)}`, message, hint: null },
  ];
}

/** For a view the servers say whether its rows can be changed, but not whether rows can be added. */
function writableOf(row: TableRow): Table['writable'] {
  if (kindOf(row) !== 'view') return { insert: true, update: true, delete: true };
  const changed = row.is_updatable === 'YES';
  return { insert: false, update: changed, delete: changed };
}

function kindOf({ table_type: type, create_options: options }: TableRow): Table['kind'] {
  if (type === 'VIEW') return 'view';
  return /\bpartitioned\b/i.test(options ?? '') ? 'partitioned' : 'table';
}

/** For a view the comment of both servers says only that it is one. */
function commentOf({ table_type: type, table_comment: comment }: TableRow): string | null {
  return comment === '' || type === 'VIEW' ? null : comment;
}

/** Tests if the server shows the triggers of a table: MySQL does so to users with the right TRIGGER only. */
function visibleTriggers({ grants }: MysqlCatalog): (row: TableName) => boolean {
  if (grants === undefined) return () => true;
  const patterns = grants.flatMap((grant) => {
    const [, privileges = '', database = '', table = ''] = /^GRANT (.+?) ON (.+?)\.(\*|[`"].+[`"])$/.exec(grant) ?? [];
    if (!/(?:^|, )(?:TRIGGER|ALL PRIVILEGES)(?:,|$)/.test(privileges)) return [];
    return new RegExp(`^${namePattern(database)}\\.${namePattern(table)}$`, 'i');
  });
  return ({ table_schema: schema, table_name: name }) => patterns.some((pattern) => pattern.test(`${schema}.${name}`));
}

/** The expression of a name in a grant, where `%` and `_` stand for other characters unless escaped. */
function namePattern(name: string): string {
  if (name === '*') return '.*';
  const text = name.slice(1, -1).replaceAll(/([`"])\1/g, '$1');
  return text.replaceAll(/\\?[\s\S]/g, (part) => {
    if (part === '%') return '.*';
    return part === '_' ? '.' : part.slice(-1).replace(/[$()*+./?[\\\]^{|}-]/, '\\$&');
  });
}

/** One for all tables: the right is mostly that of a database. */
function hiddenTriggers(catalog: MysqlCatalog, rows: ReadonlySet<TableRow>): Diagnostic[] {
  if (rows.size === 0) return [];
  const names = quotedNames([...rows].map((row) => printTable('mysql', idOf(catalog, row))));
  return [
    {
      code: 'triggers-hidden',
      severity: 'warning',
      place: 'database',
      message: `The server hides whether ${names} have triggers: they count as tables that have some.`,
      hint: 'GRANT the user of DATABASE_URL the right TRIGGER on the database where the project is compiled.',
    },
  ];
}

function excluded(catalog: MysqlCatalog, ordinary: readonly TableRow[], requested: readonly TableRow[]): Diagnostic[] {
  const left = ordinary.filter((row) => !requested.includes(row));
  return left.map((row) => ({
    code: 'relation-excluded',
    severity: 'info',
    place: `table ${printTable('mysql', idOf(catalog, row))}`,
    message: `The configuration leaves out "${row.table_name}".`,
    hint: null,
  }));
}

/** Views of which the server tells no column: they cannot be read either. One per view. */
function unreadable(catalog: MysqlCatalog, views: readonly TableRow[]): Diagnostic[] {
  return views.map((row) => ({
    code: 'view-unreadable',
    severity: 'warning',
    place: `table ${printTable('mysql', idOf(catalog, row))}`,
    message: `The server knows no columns of the view "${row.table_name}", which leads back to itself or reads what is not there: it is left out.`,
    hint: 'Replace the view by one that reads tables, or drop it.',
  }));
}

function unmatched(catalog: MysqlCatalog, rows: readonly TableRow[]): Diagnostic[] {
  const names = rows.map((row) => ({ nspname: schemaOf(catalog, row.table_schema), relname: row.table_name }));
  return unmatchedPatterns([...(catalog.include ?? []), ...catalog.exclude], names);
}

/** One per type, with the columns that have it. */
function unknownTypes(tables: readonly Table[]): Diagnostic[] {
  const found = tables.flatMap(({ id, columns }) =>
    columns.flatMap(({ name, type }) =>
      type.portable === 'unknown' ? [{ type: type.base, column: `${printTable('mysql', id)}.${name}` }] : [],
    ),
  );
  return [...Map.groupBy(found, ({ type }) => type)].map(([type, uses]) => ({
    code: 'type-unknown',
    severity: 'info',
    place: `type ${type}`,
    message: `"${type}" has no portable form: it is read as text and not written, in ${quotedNames(uses.map(({ column }) => column))}.`,
    hint: null,
  }));
}

/** The oldest servers that are read. */
const oldest = { mysql: [8, 0], mariadb: [10, 6] } as const;

const labels = { mysql: 'MySQL', mariadb: 'MariaDB' } as const;

/** An error when the server is older than what is supported. */
function versionDiagnostics({ dialect, version }: MysqlCatalog): Diagnostic[] {
  // Replication once wanted MariaDB to look like MySQL 5.5: some still report 5.5.5- in front.
  const [, major = '0', minor = '0'] = /^(?:5\.5\.5-)?(\d+)\.(\d+)/.exec(version) ?? [];
  const [least, after] = oldest[dialect];
  if (Number(major) > least || (Number(major) === least && Number(minor) >= after)) return [];
  return [
    {
      code: 'server-version',
      severity: 'error',
      place: 'database',
      message: `The server reports version ${version}; ${labels[dialect]} ${least}.${after} or later is needed.`,
      hint: 'Upgrade the server.',
    },
  ];
}
