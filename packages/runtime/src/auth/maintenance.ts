/** Background work: recording that users were here, and removing sessions that ended long ago. */

import type { Database } from '../database/database.ts';
import { firstRow } from '../database/own-statements/own-rows.ts';
import type { OwnSql } from '../database/own-statements/script.ts';
import { ownTables } from '../dialects/index.ts';
import type { SystemPlace } from '../system/place.ts';

/** Work in the background of requests; a failure is tried again on the next occasion. */
export interface Maintenance {
  /** A user was here. */
  recordActivity(user: string): void;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
}

/** A user is noted once a minute, and at most so many are remembered to have been. */
const noteEveryMs = 60_000;
const maxNoted = 10_000;
/** How often ended sessions are removed, in milliseconds, and how many at once. */
const purgeEveryMs = 600_000;
const maxPurged = 1_000;

/** Makes the upkeep of a location. */
export function createMaintenance(database: Pick<Database, 'transaction'>, location: SystemPlace): Maintenance {
  const texts = ownTables(location).statements.sessions;
  const noted = new Map<string, number>();
  const running = new Set<Promise<unknown>>();
  let swept = performance.now();

  function run(text: OwnSql, value: string): void {
    const work = database
      .transaction(async (transaction) => {
        const [id] = (await firstRow(transaction, text, [value])) ?? [];
        if (typeof id === 'string') transaction.identify(id);
        return { value: undefined };
      })
      .catch(() => undefined)
      .finally(() => running.delete(work));
    running.add(work);
  }

  return {
    recordActivity(user) {
      const now = performance.now();
      if (now - (noted.get(user) ?? Number.NEGATIVE_INFINITY) >= noteEveryMs) {
        noted.delete(user);
        noted.set(user, now);
        const [oldest] = noted.keys();
        if (noted.size > maxNoted && oldest !== undefined) noted.delete(oldest);
        run(texts.touch, user);
      }
      if (now - swept >= purgeEveryMs) {
        swept = now;
        run(texts.purge, String(maxPurged));
      }
    },
    async settled() {
      await Promise.allSettled(running);
    },
  };
}
