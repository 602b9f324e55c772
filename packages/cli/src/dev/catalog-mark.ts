/** Whether the tables of a database may have changed, for much less than reading them. */
import type { Source } from '../source.ts';

/**
 * One text that is another one whenever somebody changed a table, a column, a key, a type, a comment or a right. It may
 * also be another one for nothing.
 */
export async function catalogMark(source: Pick<Source, 'family' | 'run'>): Promise<string> {
  const rows = await source.run(source.family === 'postgres' ? postgresSql : mysqlSql, []);
  return rows.map((row) => row.join(' ')).join('\n');
}

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
FROM pg_catalog.${name} WHERE ${id} >= ${firstOwn}${name === 'pg_class' ? " AND relkind <> 't'" : ''}${
      of === null ? '' : ` AND ${of} NOT IN (SELECT oid FROM temporary)`
    }`,
  )
  .join('\nUNION ALL\n')}`;

const views = [
  ['TABLES', 'TABLE_SCHEMA', 'TABLE_NAME, TABLE_TYPE, TABLE_COMMENT'],
  [
    'COLUMNS',
    'TABLE_SCHEMA',
    'TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLLATION_NAME, COLUMN_COMMENT',
  ],
  ['STATISTICS', 'TABLE_SCHEMA', 'TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE'],
  [
    'KEY_COLUMN_USAGE',
    'TABLE_SCHEMA',
    'TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME',
  ],
  ['REFERENTIAL_CONSTRAINTS', 'CONSTRAINT_SCHEMA', 'TABLE_NAME, CONSTRAINT_NAME, UPDATE_RULE, DELETE_RULE'],
  ['CHECK_CONSTRAINTS', 'CONSTRAINT_SCHEMA', 'CONSTRAINT_NAME, CHECK_CLAUSE'],
  ['VIEWS', 'TABLE_SCHEMA', 'TABLE_NAME, VIEW_DEFINITION'],
] as const;

const mysqlSql = views
  .map(
    ([name, schema, columns]) => `SELECT '${name}', COUNT(*),
  SUM(CONV(LEFT(SHA2(CONCAT_WS('|', ${columns
    .split(', ')
    .map((column) => `IFNULL(${column}, '')`)
    .join(', ')}), 256), 12), 16, 10))
FROM information_schema.${name} WHERE ${schema} = DATABASE()`,
  )
  .join('\nUNION ALL\n');
