/**
 * Counters of attempts, in windows, in the database, so that every process sees the same. The subject of a counter is
 * stored as a hash. One statement each; a counter begins anew with the first attempt after its window.
 */

import type { Database, Transaction } from '../database/database.ts';
import { ask, firstRow } from '../database/own-statements/own-rows.ts';
import type { OwnSql } from '../database/own-statements/script.ts';
import { byFamily } from '../dialects/by-family.ts';
import type { Counter, CounterStatements, Counting } from '../dialects/counter-statements.ts';
import { mysqlCounters } from '../dialects/mysql/own-tables/counters.ts';
import type { SystemPlace } from '../system/place.ts';

/** How a counter stands. */
export interface Count {
  readonly purpose: string;
  readonly attempts: number;
  /** Milliseconds until it begins anew. */
  readonly left: number;
}

/** The counters of one location. */
export interface Counters {
  /** Returns the counts of those counters whose window is running. */
  read(counters: readonly Counter[]): Promise<readonly Count[]>;
  /** Counts one attempt on each, and returns the new counts. */
  count(counters: readonly Counting[]): Promise<readonly Count[]>;
  /** Takes back one attempt on each, as if it had not been made. */
  giveBack(counters: readonly Counter[]): Promise<void>;
  /** Lets counters begin anew. */
  clear(counters: readonly Counter[]): Promise<void>;
}

/** How often counters whose window has ended are removed, in milliseconds, and how many at once. */
const purgeEveryMs = 60_000;
const maxPurged = 1_000;

/** Makes the counters. */
export function createCounters(database: Pick<Database, 'query' | 'transaction'>, location: SystemPlace): Counters {
  const texts = byFamily<CounterStatements>(location, {
    postgres: (schema) => ({ ...statements(schema), input: (counters) => JSON.stringify(counters) }),
    mysql: (tables) => mysqlCounters(tables, maxPurged),
  });
  let swept = Number.NEGATIVE_INFINITY;

  function write(text: OwnSql, counters: readonly Counter[]): Promise<readonly Count[]> {
    return database.transaction(async (transaction) => {
      const row = firstRow(transaction, text, [texts.input(counters)]);
      purge(transaction);
      const [counts = null, id] = (await row) ?? [];
      if (typeof id === 'string') transaction.identify(id);
      return { value: readCounts(counts) };
    });
  }

  /** Removes expired counters. They mean nothing, so a failure is ignored and the removal tried again later. */
  function purge(transaction: Transaction): void {
    if (performance.now() - swept < purgeEveryMs) return;
    swept = performance.now();
    firstRow(transaction, texts.purge, []).catch(() => {});
  }

  return {
    async read(counters) {
      const [row] = await ask(database, texts.read, [texts.input(counters)]);
      return readCounts(row?.[0] ?? null);
    },
    count: (counters) => write(texts.count, counters),
    giveBack: async (counters) => void (await write(texts.giveBack, counters)),
    clear: async (counters) => void (await write(texts.clear, counters)),
  };
}

function statements(schema: string) {
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

function readCounts(text: string | null): readonly Count[] {
  const rows: readonly (readonly [string, number, number])[] = text === null ? [] : JSON.parse(text);
  return rows.map(([purpose, attempts, left]) => ({ purpose, attempts, left }));
}
