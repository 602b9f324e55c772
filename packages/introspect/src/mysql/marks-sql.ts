import type { Dialect } from '@platform/runtime/contract';
import { ownSchema } from './names.ts';

/** By view of `information_schema`: the database that a row is of, and what it says that is read. */
const views = [
  ['TABLES', 'TABLE_SCHEMA', 'TABLE_NAME, TABLE_TYPE, TABLE_COMMENT, CREATE_OPTIONS'],
  [
    'COLUMNS',
    'TABLE_SCHEMA',
    'TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLLATION_NAME, COLUMN_COMMENT, GENERATION_EXPRESSION',
  ],
  ['STATISTICS', 'TABLE_SCHEMA', 'TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE, SUB_PART, INDEX_TYPE'],
  [
    'KEY_COLUMN_USAGE',
    'TABLE_SCHEMA',
    'TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME',
  ],
  ['REFERENTIAL_CONSTRAINTS', 'CONSTRAINT_SCHEMA', 'TABLE_NAME, CONSTRAINT_NAME, UPDATE_RULE, DELETE_RULE'],
  ['CHECK_CONSTRAINTS', 'CONSTRAINT_SCHEMA', 'CONSTRAINT_NAME, CHECK_CLAUSE'],
  ['VIEWS', 'TABLE_SCHEMA', 'TABLE_NAME, VIEW_DEFINITION, IS_UPDATABLE'],
  ['TRIGGERS', 'EVENT_OBJECT_SCHEMA', 'EVENT_OBJECT_TABLE, TRIGGER_NAME'],
] as const;

/** The statement that marks what is read of these databases, and its parameters: one row of three texts by view. */
export function marksQuestion(
  dialect: Dialect,
  schemas: readonly string[] = [ownSchema],
): readonly [sql: string, parameters: string[]] {
  const databases = schemas.map((schema) => (schema === ownSchema ? 'DATABASE()' : '?')).join(', ');
  const named = schemas.filter((schema) => schema !== ownSchema);
  const selects = views.map(([name, schema, columns]) => {
    // MariaDB knows no indexes on expressions.
    const read = name === 'STATISTICS' && dialect === 'mysql' ? `${columns}, EXPRESSION` : columns;
    const texts = `${schema}, ${read}`.split(', ').map((column) => `IFNULL(${column}, '')`);
    return `SELECT '${name}', COUNT(*),
  SUM(CONV(LEFT(SHA2(CONCAT_WS('|', ${texts.join(', ')}), 256), 12), 16, 10))
FROM information_schema.${name} WHERE ${schema} IN (${databases})`;
  });
  return [selects.join('\nUNION ALL\n'), views.flatMap(() => named)];
}
