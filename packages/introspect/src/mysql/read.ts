import type { Dialect } from '@tablewright/runtime/language';
import { ownSchema } from '@tablewright/runtime/language';
import type { CatalogStamps, ReadOptions, RunStatement } from '../facts.ts';
import type { ColumnRow, MysqlCatalog, MysqlDialect, MysqlRows, StatisticsRow, TableName } from './catalog.ts';
import { routinesSql, rowsSql, type Statement, serverSql } from './catalog-sql.ts';
import { isGenerated, labelsOf, quoted } from './columns.ts';

/**
 * Reads the catalog of a MySQL (8.0 or later) or MariaDB (10.6 or later) server in six statements for any number of
 * tables. Rights of MySQL take one more, and functions two, where they are asked for. Question marks take one for the
 * defaults of a table, and one for the labels of a column. The server says which of the two it is. An older server is read
 * in the same way, and `buildMysqlTables` reports it. Rejects with the error of `run`, and when the connection has no database.
 */
export async function readMysqlCatalog(run: RunStatement, options: ReadOptions = {}): Promise<MysqlCatalog> {
  const [[version, database] = []] = await run(serverSql, []);
  if (version == null || database == null) throw new Error('The connection names no database.');
  const dialect = /mariadb/i.test(version) ? 'mariadb' : 'mysql';
  const named = (schema: string): string => (schema === ownSchema ? database : schema);
  const requested = (options.schemas ?? [ownSchema]).map(named);
  const system = named(options.systemSchema ?? ownSchema);
  const databases = [...new Set([...requested, system])];
  return {
    version,
    dialect,
    database,
    requestedSchemas: requested,
    system,
    include: options.include ?? null,
    exclude: options.exclude ?? [],
    ...(dialect === 'mysql' && (await readGrants(run))),
    ...(await readRows(run, dialect, rowsSql(dialect, { databases }))),
    ...(options.functions === true && { routines: await readRoutines(run, [...new Set(requested)]) }),
  };
}

/** Rights of the session with those of its active roles, without the users who have them. */
async function readGrants(run: RunStatement): Promise<Pick<MysqlCatalog, 'grants'>> {
  const rows = await run('SHOW GRANTS', []).catch(() => null);
  return rows === null ? {} : { grants: rows.map(([grant]) => (grant ?? '').replace(/ TO [`"'].*/s, '')) };
}

// As with tables, the shape of each row is what our own statement builds.
async function readRoutines(
  run: RunStatement,
  databases: readonly string[],
): Promise<NonNullable<MysqlCatalog['routines']>> {
  const { routines, parameters } = routinesSql(databases);
  const read = async <Row>({ sql, parameters: values }: Statement): Promise<readonly Row[]> =>
    (await run(sql, values)).flatMap(([row]) => (row == null ? [] : [JSON.parse(row)]));
  return { routines: await read(routines), parameters: await read(parameters) };
}

/** More tables than these are read with all others. */
const maxReread = 10;

/** Reads these tables again, named by `markedName`; null where reading everything takes less time. */
export async function rereadMysqlCatalog(
  run: RunStatement,
  catalog: MysqlCatalog,
  changed: ReadonlySet<string>,
): Promise<MysqlCatalog | null> {
  if (changed.size > maxReread) return null;
  const isKept = (row: TableName): boolean => !changed.has(markedName(row));
  const read: MysqlRows[] = [];
  for (const name of changed) read.push(await readRows(run, catalog.dialect, rowsSql(catalog.dialect, tableOf(name))));
  // To a server two names may be one that are not.
  const isRead = (row: TableName): boolean => changed.has(markedName(row));
  return {
    ...catalog,
    tables: [...catalog.tables.filter(isKept), ...read.flatMap(({ tables }) => tables.filter(isRead))],
    columns: [...catalog.columns.filter(isKept), ...read.flatMap(({ columns }) => columns.filter(isRead))],
    statistics: [...catalog.statistics.filter(isKept), ...read.flatMap(({ statistics }) => statistics.filter(isRead))],
    keys: [...catalog.keys.filter(isKept), ...read.flatMap(({ keys }) => keys.filter(isRead))],
    checks: [...catalog.checks.filter(isKept), ...read.flatMap(({ checks }) => checks.filter(isRead))],
  };
}

async function readRows(
  run: RunStatement,
  dialect: MysqlDialect,
  statements: Readonly<Record<keyof MysqlRows, Statement>>,
): Promise<MysqlRows> {
  // MariaDB prints conditions as the session spells names, and those of requests have them in double quotes.
  const runPlainly: RunStatement =
    dialect === 'mariadb' ? (sql, values) => run(`SET STATEMENT sql_mode = '' FOR ${sql}`, values) : run;
  return {
    tables: await rowsOf<'tables'>(runPlainly, statements.tables),
    columns: await withLabels(
      run,
      await withDefaults(run, dialect, await rowsOf<'columns'>(runPlainly, statements.columns)),
    ),
    statistics: await withDistances(run, await rowsOf<'statistics'>(run, statements.statistics)),
    keys: await rowsOf<'keys'>(run, statements.keys),
    checks: await rowsOf<'checks'>(runPlainly, statements.checks),
  };
}

/**
 * The servers report defaults in a character set without characters of four bytes, and a question mark in their place.
 * MariaDB does so of bytes as well. The table itself tells them. A table without rows does not where a column is never
 * null; nor one that must not be read.
 */
async function withDefaults(
  run: RunStatement,
  dialect: MysqlDialect,
  rows: readonly ColumnRow[],
): Promise<readonly ColumnRow[]> {
  const defaults = new Map<ColumnRow, string>();
  for (const columns of Map.groupBy(
    rows.filter((row) => isCut(row, dialect)),
    markedName,
  ).values()) {
    const [{ table_schema: schema, table_name: name } = { table_schema: '', table_name: '' }] = columns;
    const list = columns.map((row) => {
      const value = `DEFAULT(t.${quoted(row.column_name)})`;
      return isOfBytes(row) ? `HEX(${value})` : value;
    });
    const sql = `SELECT ${list.join(', ')} FROM (SELECT 1) one LEFT JOIN ${quoted(schema)}.${quoted(name)} t ON TRUE LIMIT 1`;
    const [values = []] = await run(sql, []).catch(() => []);
    for (const [index, column] of columns.entries()) {
      const value = values[index];
      if (typeof value !== 'string') continue;
      const literal = isOfBytes(column) ? `X'${value}'` : `'${value.replaceAll(/['\\]/g, '\\$&')}'`;
      defaults.set(column, dialect === 'mariadb' ? literal : value);
    }
  }
  if (defaults.size === 0) return rows;
  return rows.map((row) => ({ ...row, column_default: defaults.get(row) ?? row.column_default }));
}

/** Labels are reported so, too. A column without rows makes them of their numbers, of which a set has those of its bits. */
async function withLabels(run: RunStatement, rows: readonly ColumnRow[]): Promise<readonly ColumnRow[]> {
  const named = new Map<ColumnRow, readonly string[]>();
  for (const row of rows.filter(isListed)) {
    const column = `t.${quoted(row.column_name)} AS label FROM (SELECT 1) AS one`;
    const table = `${quoted(row.table_schema)}.${quoted(row.table_name)}`;
    const { length } = labelsOf(row.column_type);
    const sql = `WITH RECURSIVE labels AS (SELECT 0 AS n, ${column} LEFT JOIN ${table} AS t ON FALSE
UNION ALL SELECT n + 1, ${row.data_type === 'set' ? '1 << n' : 'n + 1'} FROM labels WHERE n < ${length}) SELECT label FROM labels WHERE n > 0 ORDER BY n`;
    const labels = (await run(sql, []).catch(() => [])).map(([label]) => label ?? '');
    if (labels.length === length) named.set(row, labels);
  }
  return named.size === 0 ? rows : rows.map((row) => ({ ...row, labels: named.get(row) ?? null }));
}

function isListed({ data_type: kind, column_type: type }: ColumnRow): boolean {
  return (kind === 'enum' || kind === 'set') && type.includes('?');
}

function isOfBytes({ data_type: type }: ColumnRow): boolean {
  return /binary$|blob$/i.test(type);
}

/** True if the default may have lost characters: a constant text with a question mark, which MariaDB reports as SQL. */
function isCut(row: ColumnRow, dialect: MysqlDialect): boolean {
  const { collation_name: collation, column_default: text } = row;
  if (dialect === 'mariadb' && isOfBytes(row)) return text?.startsWith("'") === true;
  if (collation === null || text === null || !text.includes('?')) return false;
  return dialect === 'mariadb' ? /^'(?:[^'\\]|\\.|'')*'$/s.test(text) : !isGenerated(row);
}

/** Only the definition of a table tells the distance of an index of vectors. */
async function withDistances<Row extends IndexName>(
  run: RunStatement,
  rows: readonly Row[],
): Promise<readonly (Row & Pick<StatisticsRow, 'distance'>)[]> {
  const isVector = (row: Row): boolean => row.index_type === 'VECTOR';
  const distances = new Map<string, string>();
  for (const row of new Map(rows.filter(isVector).map((found) => [markedName(found), found])).values()) {
    const [[, definition = ''] = []] = await run(
      `SHOW CREATE TABLE ${quoted(row.table_schema)}.${quoted(row.table_name)}`,
      [],
    );
    for (const [line, index = ''] of (definition ?? '').matchAll(/^ *VECTOR KEY ["`](.*?)["`] \(.*$/gm)) {
      const [, distance = 'euclidean'] = /["`]?DISTANCE["`]?='?(\w+)/i.exec(line) ?? [];
      distances.set(JSON.stringify([markedName(row), index]), distance.toLowerCase());
    }
  }
  return rows.map((row) => {
    const distance = distances.get(JSON.stringify([markedName(row), row.index_name]));
    return distance === undefined ? row : { ...row, distance };
  });
}

type IndexName = Pick<StatisticsRow, 'table_schema' | 'table_name' | 'index_name' | 'index_type'>;

/** The distances of indexes of vectors by the marked names of their tables. A table that goes meanwhile has none. */
async function distanceStamps(
  run: RunStatement,
  schemas: readonly string[] | undefined,
): Promise<readonly (readonly [table: string, stamp: string])[]> {
  const [databases, named] = databasesOf(schemas);
  const sql = `SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS
WHERE INDEX_TYPE = 'VECTOR' AND TABLE_SCHEMA IN (${databases}) ORDER BY INDEX_NAME`;
  const indexes = (await run(sql, named)).map(([schema, table, index]): IndexName => {
    return { table_schema: schema ?? '', table_name: table ?? '', index_name: index ?? '', index_type: 'VECTOR' };
  });
  const measured = await withDistances(run, indexes).catch(() => []);
  return measured.map((row) => [markedName(row), ` ${row.index_name} ${row.distance}`]);
}

// The shape of each row is what our own statement builds, so it is not checked again.
async function rowsOf<Kind extends keyof MysqlRows>(
  run: RunStatement,
  { sql, parameters }: Statement,
): Promise<readonly MysqlRows[Kind][number][]> {
  return (await run(sql, parameters)).flatMap(([row]) => (row == null ? [] : [JSON.parse(row)]));
}

/** A view of `information_schema`: database and table of a row, what it says that is read, and which rows say it. */
type StampedView = readonly [name: string, schema: string, table: string | null, columns: string, where?: string];

/** Only MySQL has checks that it does not enforce. */
const enforcedChecks: StampedView = [
  'TABLE_CONSTRAINTS',
  'TABLE_SCHEMA',
  'TABLE_NAME',
  'CONSTRAINT_NAME, ENFORCED',
  "CONSTRAINT_TYPE = 'CHECK'",
];

/** The views that tell what is read. Routines are of no table, and MySQL does not tell that of a check. */
function viewsOf(dialect: Dialect): readonly StampedView[] {
  return [
    ['TABLES', 'TABLE_SCHEMA', 'TABLE_NAME', 'TABLE_TYPE, TABLE_COMMENT, CREATE_OPTIONS'],
    [
      'COLUMNS',
      'TABLE_SCHEMA',
      'TABLE_NAME',
      // MariaDB knows no spatial references of columns.
      `COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLLATION_NAME, COLUMN_COMMENT, GENERATION_EXPRESSION${dialect === 'mysql' ? ', SRS_ID' : ''}`,
    ],
    [
      'STATISTICS',
      'TABLE_SCHEMA',
      'TABLE_NAME',
      // MariaDB knows no indexes on expressions.
      `INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE, SUB_PART, INDEX_TYPE${dialect === 'mysql' ? ', EXPRESSION' : ''}`,
    ],
    [
      'KEY_COLUMN_USAGE',
      'TABLE_SCHEMA',
      'TABLE_NAME',
      'CONSTRAINT_NAME, COLUMN_NAME, ORDINAL_POSITION, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME',
      // The others are indexes.
      'REFERENCED_TABLE_NAME IS NOT NULL',
    ],
    ['REFERENTIAL_CONSTRAINTS', 'CONSTRAINT_SCHEMA', 'TABLE_NAME', 'CONSTRAINT_NAME, UPDATE_RULE, DELETE_RULE'],
    [
      'CHECK_CONSTRAINTS',
      'CONSTRAINT_SCHEMA',
      dialect === 'mysql' ? null : 'TABLE_NAME',
      'CONSTRAINT_NAME, CHECK_CLAUSE',
    ],
    ...(dialect === 'mysql' ? [enforcedChecks] : []),
    ['VIEWS', 'TABLE_SCHEMA', 'TABLE_NAME', 'VIEW_DEFINITION, IS_UPDATABLE'],
    ['TRIGGERS', 'EVENT_OBJECT_SCHEMA', 'EVENT_OBJECT_TABLE', 'TRIGGER_NAME'],
    [
      'ROUTINES',
      'ROUTINE_SCHEMA',
      null,
      'SPECIFIC_NAME, ROUTINE_TYPE, SQL_DATA_ACCESS, ROUTINE_COMMENT, ROUTINE_DEFINITION',
    ],
    [
      'PARAMETERS',
      'SPECIFIC_SCHEMA',
      null,
      'SPECIFIC_NAME, ROUTINE_TYPE, ORDINAL_POSITION, PARAMETER_MODE, PARAMETER_NAME, DTD_IDENTIFIER',
    ],
  ];
}

/**
 * The statement that stamps what is read of these databases, and its parameters. Its rows are the database and the
 * table, or nulls for facts of no table, and two texts. These change whenever the facts that are read of it change.
 */
function stampsQuery(
  dialect: Dialect,
  schemas: readonly string[] | undefined,
): readonly [sql: string, parameters: string[]] {
  const [databases, named] = databasesOf(schemas);
  const views = viewsOf(dialect);
  const selects = views.map(([name, schema, table, columns, where]) => {
    const texts = columns.split(', ').map((column) => `IFNULL(${column}, '')`);
    return `SELECT ${table === null ? 'NULL' : schema} AS named_schema, ${table ?? 'NULL'} AS named_table,
  CONCAT('${name} ', COUNT(*)) AS kind,
  BIT_XOR(CAST(CONV(LEFT(SHA2(CONCAT_WS('|', ${texts.join(', ')}), 256), 16), 16, 10) AS UNSIGNED)) AS mark
FROM information_schema.${name}
WHERE ${schema} IN (${databases})${where === undefined ? '' : ` AND ${where}`}${table === null ? '' : `\nGROUP BY ${schema}, ${table}`}`;
  });
  return [selects.join('\nUNION ALL\n'), views.flatMap(() => named)];
}

/** The databases that are stamped, as a list of SQL and its parameters. */
function databasesOf(schemas: readonly string[] = [ownSchema]): readonly [sql: string, parameters: readonly string[]] {
  const list = schemas.map((schema) => (schema === ownSchema ? 'DATABASE()' : '?')).join(', ');
  return [list, schemas.filter((schema) => schema !== ownSchema)];
}

function markedName({ table_schema: schema, table_name: table }: TableName): string {
  return JSON.stringify([schema, table]);
}

function tableOf(name: string): TableName {
  const [schema, table]: readonly [string, string] = JSON.parse(name);
  return { table_schema: schema, table_name: table };
}

export async function readMysqlStamps(
  dialect: Dialect,
  run: RunStatement,
  { schemas }: Pick<ReadOptions, 'schemas'>,
): Promise<CatalogStamps> {
  const relations = new Map<string, string>();
  let whole = '';
  const add = (name: string, stamp: string): void => {
    relations.set(name, (relations.get(name) ?? '') + stamp);
  };
  for (const [schema, table, ...marks] of await run(...stampsQuery(dialect, schemas))) {
    const stamp = ` ${marks.join(' ')}`;
    if (schema == null || table == null) whole += stamp;
    else add(markedName({ table_schema: schema, table_name: table }), stamp);
  }
  // MySQL has no indexes of vectors.
  if (dialect === 'mariadb') for (const found of await distanceStamps(run, schemas)) add(...found);
  return { whole, relations };
}
