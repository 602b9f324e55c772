/**
 * Counters of attempts, in windows, in the database, so that every process sees the same. The subject of a counter is
 * stored as a hash. One statement each; a counter begins anew with the first attempt after its window.
 */
import type { Database, Transaction } from '../database/database.ts';
import { ask, firstRow } from '../database/own-statements/own-rows.ts';
import type { OwnSql } from '../database/own-statements/script.ts';
import { ownTables } from '../dialects/index.ts';
import type { Counter, Counting } from '../dialects/own-statements.ts';
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
  const texts = ownTables(location).statements.counters(maxPurged);
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

function readCounts(text: string | null): readonly Count[] {
  const rows: readonly (readonly [string, number, number])[] = text === null ? [] : JSON.parse(text);
  return rows.map(([purpose, attempts, left]) => ({ purpose, attempts, left }));
}
