import type { ReadOptions, RunStatement } from '../facts.ts';
import type { MysqlCatalog, MysqlRows, StatisticsRow, TableName } from './catalog.ts';
import { routinesSql, rowsSql, type Statement, serverSql } from './catalog-sql.ts';
import { ownSchema } from './names.ts';
import { markedName, tableOf } from './stamps-sql.ts';

/**
 * Reads the catalog of a MySQL (8.0 or later) or MariaDB (10.6 or later) server in six statements for any number of
 * tables. Functions take two more, where they are asked for. The server says which of the two it is. An older server is
 * read in the same way, and `buildMysqlTables` reports it. Rejects with the error of `run`, and when the connection has no database.
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
    ...(await readRows(run, rowsSql(dialect, { databases }))),
    ...(options.functions === true && { routines: await readRoutines(run, [...new Set(requested)]) }),
  };
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

/**
 * Reads these tables again, named by `markedName`; the other tables are taken from the known catalog. Null where
 * reading everything takes less time.
 */
export async function rereadMysqlCatalog(
  run: RunStatement,
  catalog: MysqlCatalog,
  changed: ReadonlySet<string>,
): Promise<MysqlCatalog | null> {
  if (changed.size > maxReread) return null;
  const isKept = (row: TableName): boolean => !changed.has(markedName(row));
  const read: MysqlRows[] = [];
  for (const name of changed) read.push(await readRows(run, rowsSql(catalog.dialect, tableOf(name))));
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
  statements: Readonly<Record<keyof MysqlRows, Statement>>,
): Promise<MysqlRows> {
  return {
    tables: await rowsOf<'tables'>(run, statements.tables),
    columns: await rowsOf<'columns'>(run, statements.columns),
    statistics: await withDistances(run, await rowsOf<'statistics'>(run, statements.statistics)),
    keys: await rowsOf<'keys'>(run, statements.keys),
    checks: await rowsOf<'checks'>(run, statements.checks),
  };
}

/** Only the definition of a table tells the distance of an index of vectors. */
async function withDistances(run: RunStatement, rows: readonly StatisticsRow[]): Promise<readonly StatisticsRow[]> {
  const isVector = (row: StatisticsRow): boolean => row.index_type === 'VECTOR';
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

function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

// The shape of each row is what our own statement builds, so it is not checked again.
async function rowsOf<Kind extends keyof MysqlRows>(
  run: RunStatement,
  { sql, parameters }: Statement,
): Promise<readonly MysqlRows[Kind][number][]> {
  return (await run(sql, parameters)).flatMap(([row]) => (row == null ? [] : [JSON.parse(row)]));
}
