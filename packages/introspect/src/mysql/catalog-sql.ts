/**
 * The statements that read the catalog: one per kind of rows, each with the allowed databases as its parameters. They
 * return one column, the row as JSON.
 */
import type { MysqlDialect, MysqlRows } from './catalog.ts';

/**
 * To be run on a session before the catalog is read: types of the columns of views depend on it, and this is what
 * sessions of the runtime have.
 */
export const mysqlSettings = 'SET SESSION group_concat_max_len = 4294967295';

/** Reads the version of the server and the database of the connection. */
export const serverSql = 'SELECT VERSION(), DATABASE()';

/**
 * Prints the statement of each kind for a number of databases. The servers find the rows of named databases without
 * opening the tables of all others, so the condition stands in every statement as it is.
 */
export function rowsSql(dialect: MysqlDialect, databases: number): Readonly<Record<keyof MysqlRows, string>> {
  const among = (column: string): string => `${column} IN (${Array(databases).fill('?').join(', ')})`;
  return {
    tables: select(
      {
        table_schema: 't.TABLE_SCHEMA',
        table_name: 't.TABLE_NAME',
        table_type: 't.TABLE_TYPE',
        table_comment: 't.TABLE_COMMENT',
        create_options: 't.CREATE_OPTIONS',
        is_updatable: 'v.IS_UPDATABLE',
        triggers: `(SELECT COUNT(*) FROM information_schema.TRIGGERS g
          WHERE g.EVENT_OBJECT_SCHEMA = t.TABLE_SCHEMA AND g.EVENT_OBJECT_TABLE = t.TABLE_NAME)`,
      },
      `information_schema.TABLES t
       LEFT JOIN information_schema.VIEWS v ON v.TABLE_SCHEMA = t.TABLE_SCHEMA AND v.TABLE_NAME = t.TABLE_NAME
       WHERE ${among('t.TABLE_SCHEMA')}`,
    ),
    columns: select(
      plain([
        'table_schema',
        'table_name',
        'column_name',
        'ordinal_position',
        'column_default',
        'is_nullable',
        'data_type',
        'column_type',
        'character_maximum_length',
        'numeric_precision',
        'numeric_scale',
        'datetime_precision',
        'collation_name',
        'extra',
        'column_comment',
        'generation_expression',
      ]),
      `information_schema.COLUMNS WHERE ${among('TABLE_SCHEMA')}`,
    ),
    statistics: select(
      {
        ...plain([
          'table_schema',
          'table_name',
          'index_name',
          'non_unique',
          'seq_in_index',
          'column_name',
          'sub_part',
          'index_type',
        ]),
        // MariaDB knows no indexes on expressions.
        expression: dialect === 'mysql' ? 'EXPRESSION' : 'NULL',
      },
      `information_schema.STATISTICS WHERE ${among('TABLE_SCHEMA')}`,
    ),
    keys: select(
      {
        table_schema: 'k.TABLE_SCHEMA',
        table_name: 'k.TABLE_NAME',
        constraint_name: 'k.CONSTRAINT_NAME',
        column_name: 'k.COLUMN_NAME',
        ordinal_position: 'k.ORDINAL_POSITION',
        referenced_table_schema: 'k.REFERENCED_TABLE_SCHEMA',
        referenced_table_name: 'k.REFERENCED_TABLE_NAME',
        referenced_column_name: 'k.REFERENCED_COLUMN_NAME',
        update_rule: 'r.UPDATE_RULE',
        delete_rule: 'r.DELETE_RULE',
      },
      `information_schema.KEY_COLUMN_USAGE k
       JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA
         AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
       WHERE ${among('k.TABLE_SCHEMA')} AND k.REFERENCED_TABLE_NAME IS NOT NULL`,
    ),
    checks: checksSql(dialect, among),
  };
}

/** In MariaDB the checks of two tables may share a name; MySQL tells the table elsewhere. */
function checksSql(dialect: MysqlDialect, among: (column: string) => string): string {
  const names = { constraint_name: 'c.CONSTRAINT_NAME', check_clause: 'c.CHECK_CLAUSE' };
  if (dialect === 'mariadb') {
    const table = { table_schema: 'c.CONSTRAINT_SCHEMA', table_name: 'c.TABLE_NAME' };
    return select(
      { ...table, ...names },
      `information_schema.CHECK_CONSTRAINTS c WHERE ${among('c.CONSTRAINT_SCHEMA')}`,
    );
  }
  return select(
    { table_schema: 't.TABLE_SCHEMA', table_name: 't.TABLE_NAME', ...names },
    `information_schema.CHECK_CONSTRAINTS c
     JOIN information_schema.TABLE_CONSTRAINTS t ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA
       AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME AND t.CONSTRAINT_TYPE = 'CHECK'
     WHERE ${among('t.TABLE_SCHEMA')}`,
  );
}

function plain(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, name.toUpperCase()]));
}

function select(columns: Readonly<Record<string, string>>, rest: string): string {
  const members = Object.entries(columns).map(([name, sql]) => `'${name}', ${sql}`);
  return `SELECT JSON_OBJECT(${members.join(', ')}) FROM ${rest}`;
}
