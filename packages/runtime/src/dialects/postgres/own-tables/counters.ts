import type { CounterStatements } from '../../own-statements.ts';

/** SQL statements of counters. */
export function postgresCounters(schema: string, maxPurged: number): CounterStatements {
  const table = `${schema}.platform_auth_attempts`;
  const now = 'pg_catalog.statement_timestamp()';
  // Parts are separated by a character that no part contains, so that no two counters share a hash.
  const parts = `COALESCE(${schema}.platform_normal_email(w.email), ''), COALESCE(w."user", ''), COALESCE(w.client, '')`;
  const subject = `pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat_ws(pg_catalog.chr(1), ${parts}), 'UTF8'))`;
  const requested = `WITH wanted AS MATERIALIZED (
  SELECT DISTINCT ON (w.purpose, subject) w.purpose, ${subject} AS subject, w."window", w.last
  FROM pg_catalog.json_to_recordset($1::json)
    AS w(purpose text, email text, "user" text, client text, "window" pg_catalog.int8, last json)
  ORDER BY w.purpose, subject
)`;
  const ms = (count: string): string => `(${count}) * pg_catalog.interval '1 millisecond'`;
  const left = `pg_catalog.ceil(EXTRACT(epoch FROM a.expires_at - ${now}) * 1000)`;
  const counts = `pg_catalog.json_agg(pg_catalog.json_build_array(a.purpose, a.attempts, ${left}))::pg_catalog.text`;
  const same = 'a.purpose = w.purpose AND a.subject = w.subject';
  const number = 'pg_catalog.pg_current_xact_id()::pg_catalog.text';
  const attempts = `CASE WHEN a.expires_at <= ${now} THEN 1 ELSE LEAST(a.attempts, 1000000000) + 1 END`;
  return {
    input: (counters) => JSON.stringify(counters),
    read: `${requested} SELECT ${counts} FROM wanted AS w JOIN ${table} AS a ON ${same} WHERE a.expires_at > ${now}`,
    // The same order everywhere, so that transactions cannot deadlock.
    count: `${requested}, a AS (
  INSERT INTO ${table} AS a (purpose, subject, attempts, expires_at)
  SELECT w.purpose, w.subject, 1, ${now} + ${ms('w."window"')} FROM wanted AS w ORDER BY w.purpose, w.subject
  ON CONFLICT (purpose, subject) DO UPDATE SET attempts = ${attempts}, expires_at = COALESCE(
    (SELECT ${now} + ${ms(`(w.last->>'window')::pg_catalog.int8`)} FROM wanted AS w
      WHERE ${same} AND (w.last->>'attempts')::pg_catalog.int4 <= ${attempts}),
    CASE WHEN a.expires_at <= ${now} THEN excluded.expires_at ELSE a.expires_at END)
  RETURNING a.purpose, a.attempts, a.expires_at
) SELECT ${counts}, ${number} FROM a`,
    giveBack: `${requested}, a AS (
  UPDATE ${table} AS a SET attempts = GREATEST(a.attempts - 1, 0) FROM wanted AS w WHERE ${same}
  RETURNING a.purpose, a.attempts, a.expires_at
) SELECT ${counts}, ${number} FROM a`,
    clear: `${requested}, a AS (
  DELETE FROM ${table} AS a USING wanted AS w WHERE ${same} RETURNING a.purpose, a.attempts, a.expires_at
) SELECT ${counts}, ${number} FROM a`,
    purge: `DELETE FROM ${table} WHERE (purpose, subject) IN (SELECT purpose, subject FROM ${table}
WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${maxPurged} FOR UPDATE SKIP LOCKED)`,
  };
}
