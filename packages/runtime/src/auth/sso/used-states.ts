/** States that were used, so that each is used once, on however many processes. */

import type { Database } from '../../database/database.ts';
import { firstRow } from '../../database/own-statements/own-rows.ts';
import { ownTables } from '../../dialects/index.ts';
import type { SystemPlace } from '../../system/place.ts';
import { stateTtl } from './state.ts';

/** Uses a state up; resolves to true if it had not been used before. */
export type UseState = (key: string) => Promise<boolean>;

/** How often states that have expired are removed, in milliseconds, and how many at once. */
const purgeEveryMs = 600_000;
const maxPurged = 1_000;

/** Makes it. */
export function createUseState(database: Pick<Database, 'transaction'>, location: SystemPlace): UseState {
  const { table, sha256, after, shifted, now, insertOnce, purge } = ownTables(location);
  const tokens = table('platform_single_use_tokens');
  const texts = {
    // Only we make keys, so a row is as good a mark of use as one that was there from the start and is changed.
    use: insertOnce(
      `${tokens} (hash, purpose, expires_at, used_at)`,
      'hash',
      `${sha256('$1')}, 'oauth_state', ${after('$2')}, ${now}`,
    ),
    // An hour later, so that no clock of a server is far enough behind to take one of them for valid.
    purge: purge({
      ...{ table: tokens, key: 'hash', by: 'expires_at', limit: maxPurged },
      where: `purpose = 'oauth_state' AND expires_at < ${shifted(-1, 'hour')}`,
    }),
  };
  let swept = Number.NEGATIVE_INFINITY;
  return function useState(key) {
    return database.transaction(async (transaction) => {
      const [number = null] = (await firstRow(transaction, texts.use, [key, `${stateTtl} milliseconds`])) ?? [];
      if (number !== null) transaction.identify(number);
      if (performance.now() - swept > purgeEveryMs) {
        swept = performance.now();
        await firstRow(transaction, texts.purge, []);
      }
      return { value: number !== null };
    });
  };
}
