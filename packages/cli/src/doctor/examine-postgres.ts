/** What a PostgreSQL database tells of itself: version, clock, rights, replicas, poolers. */
import type { Schema } from '@platform/introspect/schema';
import type { Source } from '../source.ts';
import { compareClock } from './clock.ts';
import type { Examination, Finding } from './finding.ts';

/** What PostgreSQL is asked. */
export function postgresExaminations(schema: Schema): readonly Examination[] {
  return [standby, superuser, clock, pooler, (source) => rights(source, schema)];
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

/** Whatever its mode, sessions may be shared with others. */
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

async function rights({ run }: Source, { collections, tables }: Schema): Promise<readonly Finding[]> {
  const used = new Set(collections.map(({ table }) => table));
  const own = tables.filter(({ id }) => used.has(id));
  const names = own.map(({ schema, name }) => [schema, name]);
  const rows = await run(
    `SELECT wanted.schema, wanted.name FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS wanted(schema text, name text)
     WHERE NOT pg_catalog.has_table_privilege(
       pg_catalog.format('%I.%I', wanted.schema, wanted.name), 'SELECT') ORDER BY 1, 2`,
    [JSON.stringify(names.map(([schema, name]) => ({ schema, name })))],
  );
  return rows.map(([schema, name]) => ({
    check: 'no-right',
    severity: 'problem' as const,
    message: `The role of DATABASE_URL may not read ${schema}.${name}.`,
    advice: `GRANT SELECT ON ${schema}.${name} to it, or leave the table out of the configuration.`,
  }));
}
