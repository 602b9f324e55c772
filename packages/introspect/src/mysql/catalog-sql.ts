/**
 * The statements that read the catalog: one per kind of rows, each with the databases or the table as its parameters.
 * They return one column, the row as JSON. Joined parts are made once beforehand (`DISTINCT`, `GROUP BY`): the tables
 * of `information_schema` have no indexes, but MariaDB gives one to a derived table. Otherwise it compares each row
 * with all, and reads some of them anew for each. That takes five seconds for a thousand tables instead of 50 ms; for
 * the checks of MySQL it takes eight.
 */
import { mysqlSessionSettings } from '@tablewright/runtime/language';
import type { MysqlDialect, MysqlRows, TableName } from './catalog.ts';

/** To be run before the catalog is read: types of columns of views depend on these settings. */
export const mysqlSettings = `SET SESSION ${mysqlSessionSettings}, NAMES utf8mb4 COLLATE utf8mb4_general_ci`;

export const serverSql = 'SELECT VERSION(), DATABASE()';

/** Tables that are read: all of some databases, or one. */
type Extent = { readonly databases: readonly string[] } | TableName;

/** A statement and what stands for its question marks. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly string[];
}

/** Prints a condition by the column that names the database, and the one that names the table where there is one. */
type Among = (database: string, table?: string) => string;

/**
 * Prints the statement of each kind. The servers find the rows of named databases without opening the tables of all
 * others, and those of one table without the others. So the condition stands in every statement as it is.
 */
export function rowsSql(dialect: MysqlDialect, extent: Extent): Readonly<Record<keyof MysqlRows, Statement>> {
  const statement = (print: (among: Among) => string): Statement => {
    // In the order of the question marks, which is that in which a text is put together.
    const parameters: string[] = [];
    const sql = print((database, table) => {
      if ('databases' in extent) {
        parameters.push(...extent.databases);
        return `${database} IN (${extent.databases.map(() => '?').join(', ')})`;
      }
      parameters.push(extent.table_schema, ...(table === undefined ? [] : [extent.table_name]));
      return `${database} = ?${table === undefined ? '' : ` AND ${table} = ?`}`;
    });
    return { sql, parameters };
  };
  return {
    tables: statement(tablesSql),
    columns: statement((among) => columnsSql(dialect, among)),
    statistics: statement((among) => statisticsSql(dialect, among)),
    keys: statement(keysSql),
    checks: statement((among) => checksSql(dialect, among)),
  };
}

/** Words that a procedure needs to answer rows; some mean that only where a statement begins. */
const answering =
  'select|show|call|execute|returning|explain|handler|(^|;|begin|then|else|do)[[:space:]]+(values|table|desc|help|check|analyze)';

export function routinesSql(databases: readonly string[]): Readonly<Record<'routines' | 'parameters', Statement>> {
  const among = (column: string) => `${column} IN (${databases.map(() => '?').join(', ')})`;
  const names = { specific_name: 'SPECIFIC_NAME', routine_type: 'ROUTINE_TYPE' };
  const routines = select(
    {
      ...{ routine_schema: 'ROUTINE_SCHEMA', ...names },
      ...plain(['routine_name', 'sql_data_access', 'routine_comment']),
      answers: `IF(LOWER(ROUTINE_DEFINITION) NOT REGEXP '${answering}', 0, 1)`,
    },
    `information_schema.ROUTINES WHERE ${among('ROUTINE_SCHEMA')} AND ROUTINE_TYPE IN ('FUNCTION', 'PROCEDURE')`,
  );
  const parameters = select(
    {
      ...{ routine_schema: 'SPECIFIC_SCHEMA', ...names },
      ...plain(['ordinal_position', 'parameter_mode', 'parameter_name', 'data_type', 'dtd_identifier']),
      ...plain(['character_maximum_length', 'numeric_precision', 'numeric_scale', 'datetime_precision']),
    },
    `information_schema.PARAMETERS WHERE ${among('SPECIFIC_SCHEMA')}`,
  );
  return { routines: { sql: routines, parameters: databases }, parameters: { sql: parameters, parameters: databases } };
}

function tablesSql(among: Among): string {
  return select(
    {
      ...plain(['table_schema', 'table_name', 'table_type', 'table_comment', 'create_options'], 't.'),
      ...plain(['is_updatable'], 'v.'),
      triggers: 'COALESCE(g.triggers, 0)',
    },
    `information_schema.TABLES t
       LEFT JOIN (SELECT DISTINCT TABLE_SCHEMA, TABLE_NAME, IS_UPDATABLE
         FROM information_schema.VIEWS WHERE ${among('TABLE_SCHEMA', 'TABLE_NAME')}) v
         ON v.TABLE_SCHEMA = t.TABLE_SCHEMA AND v.TABLE_NAME = t.TABLE_NAME
       LEFT JOIN (SELECT EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE, COUNT(*) AS triggers
         FROM information_schema.TRIGGERS WHERE ${among('EVENT_OBJECT_SCHEMA', 'EVENT_OBJECT_TABLE')}
         GROUP BY EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE) g
         ON g.EVENT_OBJECT_SCHEMA = t.TABLE_SCHEMA AND g.EVENT_OBJECT_TABLE = t.TABLE_NAME
       WHERE ${among('t.TABLE_SCHEMA', 't.TABLE_NAME')}`,
  );
}

/** 1 for a reference that is a plane. */
const planarSql = `CASE WHEN c.SRS_ID = 0 THEN 1 WHEN c.SRS_ID IS NOT NULL THEN (
  SELECT MAX(s.DEFINITION LIKE 'PROJCS%') FROM information_schema.ST_SPATIAL_REFERENCE_SYSTEMS s WHERE s.SRS_ID = c.SRS_ID) END`;

function columnsSql(dialect: MysqlDialect, among: Among): string {
  return select(
    {
      ...plain(['table_schema', 'table_name', 'column_name', 'ordinal_position', 'column_default', 'is_nullable']),
      ...plain(['data_type', 'column_type', 'character_maximum_length', 'numeric_precision', 'numeric_scale']),
      ...plain(['datetime_precision', 'collation_name', 'extra', 'column_comment', 'generation_expression']),
      srs_id: dialect === 'mysql' ? 'SRS_ID' : 'NULL',
      srs_planar: dialect === 'mysql' ? planarSql : 'NULL',
    },
    `information_schema.COLUMNS c WHERE ${among('TABLE_SCHEMA', 'TABLE_NAME')}`,
  );
}

function statisticsSql(dialect: MysqlDialect, among: Among): string {
  return select(
    {
      ...plain(['table_schema', 'table_name', 'index_name', 'non_unique', 'seq_in_index', 'column_name']),
      ...plain(['sub_part', 'index_type']),
      // MariaDB knows no indexes on expressions.
      expression: dialect === 'mysql' ? 'EXPRESSION' : 'NULL',
    },
    `information_schema.STATISTICS WHERE ${among('TABLE_SCHEMA', 'TABLE_NAME')}`,
  );
}

function keysSql(among: Among): string {
  return select(
    {
      ...plain(['table_schema', 'table_name', 'constraint_name', 'column_name', 'ordinal_position'], 'k.'),
      ...plain(['referenced_table_schema', 'referenced_table_name', 'referenced_column_name'], 'k.'),
      ...plain(['update_rule', 'delete_rule'], 'r.'),
    },
    `information_schema.KEY_COLUMN_USAGE k
       LEFT JOIN (SELECT DISTINCT CONSTRAINT_SCHEMA, CONSTRAINT_NAME, TABLE_NAME, UPDATE_RULE, DELETE_RULE
         FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE ${among('CONSTRAINT_SCHEMA', 'TABLE_NAME')}) r
         ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA
         AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
       WHERE ${among('k.TABLE_SCHEMA', 'k.TABLE_NAME')} AND k.REFERENCED_TABLE_NAME IS NOT NULL`,
  );
}

/** In MariaDB the checks of two tables may share a name; MySQL tells the table elsewhere. */
function checksSql(dialect: MysqlDialect, among: Among): string {
  const names = { constraint_name: 'c.CONSTRAINT_NAME', check_clause: 'c.CHECK_CLAUSE' };
  if (dialect === 'mariadb') {
    const table = { table_schema: 'c.CONSTRAINT_SCHEMA', table_name: 'c.TABLE_NAME' };
    return select(
      { ...table, ...names, enforced: "'YES'" },
      `information_schema.CHECK_CONSTRAINTS c WHERE ${among('c.CONSTRAINT_SCHEMA', 'c.TABLE_NAME')}`,
    );
  }
  return select(
    { table_schema: 't.TABLE_SCHEMA', table_name: 't.TABLE_NAME', ...names, enforced: 't.ENFORCED' },
    `(SELECT DISTINCT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_SCHEMA, CONSTRAINT_NAME, ENFORCED
       FROM information_schema.TABLE_CONSTRAINTS
       WHERE ${among('TABLE_SCHEMA', 'TABLE_NAME')} AND CONSTRAINT_TYPE = 'CHECK') t
     JOIN (SELECT DISTINCT CONSTRAINT_SCHEMA, CONSTRAINT_NAME, CHECK_CLAUSE
       FROM information_schema.CHECK_CONSTRAINTS WHERE ${among('CONSTRAINT_SCHEMA')}) c
       ON c.CONSTRAINT_SCHEMA = t.CONSTRAINT_SCHEMA AND c.CONSTRAINT_NAME = t.CONSTRAINT_NAME`,
  );
}

/** Members of the columns that have their names, in a table of an alias such as `t.`. */
function plain(names: readonly string[], alias = ''): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, `${alias}${name.toUpperCase()}`]));
}

function select(columns: Readonly<Record<string, string>>, rest: string): string {
  const members = Object.entries(columns).map(([name, sql]) => `'${name}', ${sql}`);
  return `SELECT JSON_OBJECT(${members.join(', ')}) FROM ${rest}`;
}
