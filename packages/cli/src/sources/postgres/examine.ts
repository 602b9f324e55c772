/** Findings about a PostgreSQL database: version, clock, rights, replicas, poolers. */
import type { Schema } from '@tablewright/introspect/schema';
import { compareClock, type Examination, type Finding, privilegesToWrite } from '../finding.ts';
import { quotedName, quotedTable, type Source } from '../source.ts';
import { examineSearch } from './examine-search.ts';

export function postgresExaminations(schema: Schema): readonly Examination[] {
  return [
    standby,
    superuser,
    clock,
    pooler,
    (source) => privileges(source, schema),
    (source) => writes(source, schema),
    (source) => statistics(source, schema),
    (source) => examineSearch(source, schema),
  ];
}

async function standby({ run }: Source): Promise<readonly Finding[]> {
  const [row] = await run('SELECT pg_catalog.pg_is_in_recovery()::text', []);
  if (row?.[0] !== 'true') return [];
  const message = 'The database is a standby: it can be read and not written.';
  return [{ check: 'standby', severity: 'warning', message, advice: 'Let DATABASE_URL lead to the primary.' }];
}

async function superuser({ run, embedded }: Source): Promise<readonly Finding[]> {
  if (embedded !== null) return [];
  const [row] = await run(
    'SELECT (rolsuper OR rolbypassrls)::text FROM pg_catalog.pg_roles WHERE rolname = current_user',
    [],
  );
  if (row?.[0] !== 'true') return [];
  const message =
    'The role of DATABASE_URL may do everything in the database, and row-level security does not bind it.';
  return [
    { check: 'superuser', severity: 'warning', message, advice: 'Give the server a role with the rights it needs.' },
  ];
}

function clock(source: Source): Promise<readonly Finding[]> {
  return compareClock(source, 'SELECT extract(epoch FROM pg_catalog.clock_timestamp())::text');
}

/** Sessions may be shared with other clients in any pooling mode. */
async function pooler({ pooled }: Source): Promise<readonly Finding[]> {
  if (pooled !== true) return [];
  const message = 'A pooler stands before the database: sessions may be shared, so prepared statements may not last.';
  return [
    {
      check: 'pooler',
      severity: 'note',
      message,
      advice: 'See docs/configuration.md, "The connection", for DATABASE_DRIVER.',
    },
  ];
}

/**
 * Columns of collections that the role may not read, by table; hidden fields are not read. Where callers have roles of
 * their own only administrators may run as this one.
 */
async function privileges({ run }: Source, { collections, tables, rowSecurity }: Schema): Promise<readonly Finding[]> {
  const byId = new Map(tables.map((table) => [table.id, table]));
  const passed = rowSecurity?.roles;
  const ofConnection = collections.filter(({ system }) => system !== undefined || passed === undefined);
  const expected = (passed?.admin === undefined ? collections : ofConnection).flatMap(({ table: id, fields }) => {
    const table = byId.get(id);
    return table === undefined ? [] : [{ table, columns: fields.map(({ column }) => column) }];
  });
  const rows = await run(privilegesSql, [
    JSON.stringify(expected.map(({ table: { schema, name }, columns }) => ({ schema, name, columns }))),
  ]);
  const systemTables = new Set(collections.flatMap(({ system, table }) => (system === undefined ? [] : [table])));
  const tablesOfConnection = new Set(ofConnection.map(({ table }) => table));
  const ofAdministrators = rows
    .map(([schema, name]) => `${schema}.${name}`)
    .filter((id) => !tablesOfConnection.has(id));
  const found = rows.flatMap(([schema, name, columns, isWhole, isEntered]) => {
    const table = expected.find(
      (candidate) => candidate.table.schema === schema && candidate.table.name === name,
    )?.table;
    if (table === undefined || columns == null || !tablesOfConnection.has(table.id)) return [];
    const what = isWhole === 'true' ? table.id : `the columns ${columns} of ${table.id}`;
    const some = isWhole === 'true' ? 'SELECT' : `SELECT (${columns})`;
    const entering = isEntered === 'true' ? '' : `GRANT USAGE ON SCHEMA ${quotedName('postgres', table.schema)} and `;
    return {
      check: 'no-right',
      severity: 'problem' as const,
      message: `The role of DATABASE_URL may not read ${what}.`,
      advice: `${entering}GRANT ${some} ON ${quotedTable('postgres', table)} to it${systemTables.has(table.id) ? '' : ', or leave that out of the configuration'}.`,
    };
  });
  return [...found, ...withoutAdministrators(ofAdministrators)];
}

/** One finding for all tables that administrators cannot read. */
function withoutAdministrators(tables: readonly string[]): readonly Finding[] {
  if (tables.length === 0) return [];
  const some = tables.length > 3 ? [...tables.slice(0, 3), `${tables.length - 3} more`] : tables;
  return [
    {
      check: 'no-right',
      severity: 'warning',
      message: `Administrators run as the role of DATABASE_URL, which may not read all columns of ${some.join(', ')}.`,
      advice: 'Name a role of the database for them, `admin` in `database.rowSecurity.roles`, or GRANT it SELECT.',
    },
  ];
}

/** Rights to write that rules count on, and the server for its own tables. Callers with roles of their own have others. */
async function writes({ run }: Source, schema: Schema): Promise<readonly Finding[]> {
  if (schema.rowSecurity?.roles !== undefined) return [];
  const expected = privilegesToWrite(schema).map(({ table, required }) => {
    return { schema: table.schema, name: table.name, required };
  });
  const rows = await run(writesSql, [JSON.stringify(expected)]);
  return [...Map.groupBy(rows, ([, lacking]) => lacking ?? '')].map(([lacking, group]) => {
    const objects = group.map(([object]) => object).join(', ');
    return {
      check: 'no-right',
      severity: 'warning',
      message: `The role of DATABASE_URL lacks ${lacking} on ${objects}: writes that are allowed are SERVICE_UNAVAILABLE.`,
      advice: `GRANT ${lacking} ON ${lacking === 'USAGE' ? 'SEQUENCE ' : ''}${objects} to it, or leave out the rules that need it.`,
    };
  });
}

/** Sequences of identity columns need no right of their own; UPDATE on a sequence allows what USAGE does. */
const writesSql = `WITH wanted AS (
  SELECT c.oid, pg_catalog.format('%I.%I', n.nspname, c.relname) AS object, w.required
  FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS w(schema text, name text, required jsonb)
  JOIN pg_catalog.pg_namespace AS n ON n.nspname = w.schema
  JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = w.name
)
SELECT object, pg_catalog.string_agg(r, ', ' ORDER BY r)
FROM wanted CROSS JOIN LATERAL pg_catalog.jsonb_array_elements_text(required) AS r
WHERE NOT CASE r WHEN 'DELETE' THEN pg_catalog.has_table_privilege(oid, r)
  ELSE pg_catalog.has_any_column_privilege(oid, r) END
GROUP BY object
UNION ALL
SELECT pg_catalog.format('%I.%I', n.nspname, s.relname), 'USAGE'
FROM wanted
JOIN pg_catalog.pg_depend AS d ON d.refobjid = wanted.oid AND d.deptype = 'a'
  AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.classid = d.refclassid
JOIN pg_catalog.pg_class AS s ON s.oid = d.objid
JOIN pg_catalog.pg_namespace AS n ON n.oid = s.relnamespace
WHERE required ? 'INSERT'
  AND CASE s.relkind WHEN 'S' THEN NOT pg_catalog.has_sequence_privilege(s.oid, 'USAGE, UPDATE') ELSE false END
ORDER BY 1`;

/** Tables from a megabyte never analyzed: restored, upgraded, or partitioned (autovacuum takes only parts). */
async function statistics({ run }: Source, { collections, tables }: Schema): Promise<readonly Finding[]> {
  const ids = new Set(collections.map(({ table }) => table));
  const names = tables.filter(({ id }) => ids.has(id)).map(({ schema, name }) => ({ schema, name }));
  const rows = await run(unknownRowsSql, [JSON.stringify(names)]);
  return rows.flatMap(([schema, name, isPartitioned]) => {
    const table = tables.find((candidate) => candidate.schema === schema && candidate.name === name);
    if (table === undefined) return [];
    const again = isPartitioned === 'true' ? ' Repeat it after large changes: autovacuum leaves it out.' : '';
    return {
      check: 'statistics-missing',
      severity: 'warning' as const,
      message: `The database knows nothing of the rows of ${table.id}, so its plans may be slow.`,
      advice: `ANALYZE ${quotedTable('postgres', table)};${again}`,
    };
  });
}

const unknownRowsSql = `SELECT n.nspname, c.relname, (c.relkind = 'p')::text
FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS wanted(schema text, name text)
JOIN pg_catalog.pg_namespace AS n ON n.nspname = wanted.schema
JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = wanted.name
WHERE c.relkind IN ('r', 'p', 'm') AND c.reltuples < 0 AND 2 ^ 20 <= (
  SELECT pg_catalog.sum(pg_catalog.pg_relation_size(part.relid))
  FROM (SELECT c.oid AS relid UNION SELECT relid FROM pg_catalog.pg_partition_tree(c.oid)) AS part
)
ORDER BY 1, 2`;

/** By numbers and not by names: a role without access to a schema may not even ask for its tables by name. */
const privilegesSql = `SELECT n.nspname, c.relname,
  pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE d.denied),
  pg_catalog.bool_and(d.denied)::text, d.entered::text
FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS wanted(schema text, name text, columns jsonb)
JOIN pg_catalog.pg_namespace AS n ON n.nspname = wanted.schema
JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = wanted.name
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND wanted.columns ? a.attname
CROSS JOIN LATERAL (SELECT pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS entered) AS s
CROSS JOIN LATERAL (
  SELECT s.entered, NOT (s.entered AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')) AS denied
) AS d
GROUP BY n.nspname, c.relname, d.entered
HAVING pg_catalog.bool_or(d.denied)
ORDER BY 1, 2`;
