/** Whether the tables of a database may have changed, for much less than reading them. */
import type { ReadOptions } from '@platform/introspect';
import type { Dialect } from '@platform/runtime/contract';
import type { Source } from '../source.ts';

/**
 * One text that is another one whenever somebody changed a table, a column, a key, a trigger, a type, a comment or a right. It
 * may also be another one for nothing. `schemas` are the databases that are read of MySQL and MariaDB.
 */
export async function catalogMark(
  { family, dialect, run }: Pick<Source, 'family' | 'dialect' | 'run'>,
  { schemas = [ownDatabase] }: Pick<ReadOptions, 'schemas'> = {},
): Promise<string> {
  const [sql, parameters] = family === 'postgres' ? [postgresSql, []] : mysqlQuestion(dialect, schemas);
  const rows = await run(sql, parameters);
  return rows.map((row) => row.join(' ')).join('\n');
}

/** What the database of the connection is called where several databases are read. */
const ownDatabase = 'public';

/**
 * Rows of the catalog have the number of the transaction that wrote them; those of the server itself are left out, and
 * what is temporary: sessions come and go with it, our own with its event trigger. By table: what numbers its rows, and
 * what says of which table, or else of which schema, they are.
 */
const catalogs = [
  ['pg_class', 'oid', 'oid'],
  ['pg_attribute', 'attrelid', 'attrelid'],
  ['pg_attrdef', 'oid', 'adrelid'],
  ['pg_constraint', 'oid', 'conrelid'],
  ['pg_index', 'indexrelid', 'indexrelid'],
  ['pg_type', 'oid', 'typnamespace'],
  ['pg_enum', 'oid', null],
  ['pg_namespace', 'oid', 'oid'],
  ['pg_rewrite', 'oid', 'ev_class'],
  ['pg_inherits', 'inhrelid', 'inhrelid'],
  ['pg_description', 'objoid', 'objoid'],
  ['pg_trigger', 'oid', 'tgrelid'],
  ['pg_auth_members', 'member', null],
  ['pg_policy', 'oid', null],
] as const;

const firstOwn = 16384;

const temporary = `SELECT oid FROM pg_catalog.pg_class WHERE relpersistence = 't'
  UNION ALL SELECT oid FROM pg_catalog.pg_namespace WHERE nspname LIKE 'pg\\_temp\\_%' OR nspname LIKE 'pg\\_toast\\_temp\\_%'`;

const postgresSql = `WITH temporary AS MATERIALIZED (${temporary})
${catalogs
  .map(
    ([name, id, of]) => `SELECT '${name}', pg_catalog.count(*)::text,
  pg_catalog.sum(pg_catalog.hashtextextended(ctid::text || ' ' || xmin::text, 0))::text
FROM pg_catalog.${name} WHERE ${name === 'pg_namespace' ? `(${id} >= ${firstOwn} OR nspname = 'public')` : `${id} >= ${firstOwn}`}${name === 'pg_class' ? " AND relkind <> 't'" : ''}${
      of === null ? '' : ` AND ${of} NOT IN (SELECT oid FROM temporary)`
    }`,
  )
  .join('\nUNION ALL\n')}`;

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

function mysqlQuestion(dialect: Dialect, schemas: readonly string[]): readonly [sql: string, parameters: string[]] {
  const databases = schemas.map((schema) => (schema === ownDatabase ? 'DATABASE()' : '?')).join(', ');
  const named = schemas.filter((schema) => schema !== ownDatabase);
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
