import type { Dialect } from '@tablewright/runtime/language';
import type { CatalogStamps, ReadOptions, RunStatement } from '../facts.ts';
import type { TableName } from './catalog.ts';
import { ownSchema } from './names.ts';

/**
 * By view of `information_schema`: the database and the table that a row is of, what it says that is read, and which rows
 * say it. MySQL does not tell the table of a check.
 */
function viewsOf(
  dialect: Dialect,
): readonly (readonly [name: string, schema: string, table: string | null, columns: string, where?: string])[] {
  return [
    ['TABLES', 'TABLE_SCHEMA', 'TABLE_NAME', 'TABLE_TYPE, TABLE_COMMENT, CREATE_OPTIONS'],
    [
      'COLUMNS',
      'TABLE_SCHEMA',
      'TABLE_NAME',
      'COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLLATION_NAME, COLUMN_COMMENT, GENERATION_EXPRESSION',
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
    ['VIEWS', 'TABLE_SCHEMA', 'TABLE_NAME', 'VIEW_DEFINITION, IS_UPDATABLE'],
    ['TRIGGERS', 'EVENT_OBJECT_SCHEMA', 'EVENT_OBJECT_TABLE', 'TRIGGER_NAME'],
  ];
}

/**
 * The statement that stamps what is read of these databases, and its parameters. Its rows are the database and the
 * table, or nulls for facts of no table, and two texts. These change whenever the facts that are read of it change.
 */
function stampsQuery(
  dialect: Dialect,
  schemas: readonly string[] = [ownSchema],
): readonly [sql: string, parameters: string[]] {
  const databases = schemas.map((schema) => (schema === ownSchema ? 'DATABASE()' : '?')).join(', ');
  const named = schemas.filter((schema) => schema !== ownSchema);
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

/** How stamps name a table. */
export function markedName({ table_schema: schema, table_name: table }: TableName): string {
  return JSON.stringify([schema, table]);
}

/** The table of such a name. */
export function tableOf(name: string): TableName {
  const [schema, table]: readonly [string, string] = JSON.parse(name);
  return { table_schema: schema, table_name: table };
}

/** Reads the marks of all tables. */
export async function readMysqlStamps(
  dialect: Dialect,
  run: RunStatement,
  { schemas }: Pick<ReadOptions, 'schemas'>,
): Promise<CatalogStamps> {
  const relations = new Map<string, string>();
  let whole = '';
  for (const [schema, table, ...marks] of await run(...stampsQuery(dialect, schemas))) {
    const stamp = ` ${marks.join(' ')}`;
    if (schema == null || table == null) whole += stamp;
    else {
      const name = markedName({ table_schema: schema, table_name: table });
      relations.set(name, (relations.get(name) ?? '') + stamp);
    }
  }
  return { whole, relations };
}
