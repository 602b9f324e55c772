import type { MysqlCatalog, MysqlRows } from './mysql/catalog.ts';
import { parametersOf, rowsSql, serverSql } from './mysql/catalog-sql.ts';
import { ownSchema } from './mysql/names.ts';
import type { ReadOptions, RunStatement } from './read.ts';

/**
 * Reads the catalog of a MySQL (8.0 or later) or MariaDB (10.6 or later) server in six statements, however many tables
 * there are. Which of the two it is, the server says itself. Of an older server the same is read and `buildMysqlTables`
 * reports it. Rejects with whatever `run` rejects with, and when the connection has no database.
 */
export async function readMysqlCatalog(run: RunStatement, options: ReadOptions = {}): Promise<MysqlCatalog> {
  const [[version, database] = []] = await run(serverSql, []);
  if (version == null || database == null) throw new Error('The connection names no database.');
  const dialect = /mariadb/i.test(version) ? 'mariadb' : 'mysql';
  const named = (schema: string): string => (schema === ownSchema ? database : schema);
  const asked = (options.schemas ?? [ownSchema]).map(named);
  const system = named(options.systemSchema ?? ownSchema);
  const databases = [...new Set([...asked, system])];
  const sql = rowsSql(dialect, databases.length);
  return {
    version,
    dialect,
    database,
    asked,
    system,
    include: options.include ?? null,
    exclude: options.exclude ?? [],
    tables: await rowsOf<'tables'>(run, sql.tables, databases),
    columns: await rowsOf<'columns'>(run, sql.columns, databases),
    statistics: await rowsOf<'statistics'>(run, sql.statistics, databases),
    keys: await rowsOf<'keys'>(run, sql.keys, databases),
    checks: await rowsOf<'checks'>(run, sql.checks, databases),
  };
}

// The shape of each row is what our own statement builds, so it is not checked again.
async function rowsOf<Kind extends keyof MysqlRows>(
  run: RunStatement,
  sql: string,
  databases: readonly string[],
): Promise<readonly MysqlRows[Kind][number][]> {
  return (await run(sql, parametersOf(sql, databases))).flatMap(([row]) => (row == null ? [] : [JSON.parse(row)]));
}
