/** Items of a query, held still before they are written. */

import type { RowLock } from '../../dialects/index.ts';
import { readRows } from '../../sql/array-text.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import type { Keys } from '../decode/keys.ts';
import { checkCount } from '../decode/parse-body.ts';
import { lockRows } from './lock-rows.ts';
import type { Running } from './running.ts';
import { findTargets, type Targets } from './targets.ts';

/** Collection to lock, kind of lock, and maximum number of items; null for no maximum. */
export interface Holding {
  readonly collection: CollectionScope;
  readonly lock: RowLock;
  readonly maxCount: number | null;
}

/** Runs a statement that finds keys, of a collection that fits the database. */
export async function find({ transaction, driftGuard }: Running, targets: Targets): ReturnType<typeof findTargets> {
  driftGuard(targets.statement);
  return findTargets(transaction, targets);
}

/**
 * Finds the items that a query selects and locks them; null when there are none. Another request may change or lock an
 * item between the query and the lock. So the query runs again until it selects only locked items: two workers who each
 * take the first free item get different ones. Where the query looks at the items alone, the first run locks them.
 * Throws INVALID_PAYLOAD for too many.
 */
export async function findHeld(
  running: Running,
  targets: Targets,
  { collection, lock, maxCount: maxItems }: Holding,
): Promise<Keys | null> {
  const { transaction, caller, dialect } = running;
  const held = new Set<string>();
  let { keys, count } = await find(running, targets);
  for (;;) {
    checkCount(count, maxItems);
    const rows =
      keys === null || targets.locksRows === true ? [] : readRows(keys.values).map((key) => JSON.stringify(key));
    if (keys === null || rows.every((key) => held.has(key))) return keys;
    for (const key of rows) held.add(key);
    // A statement of its own: it sees what the lock has waited for.
    const locked = lockRows(transaction, dialect, { descriptor: collection.descriptor, keys, lock, side: caller });
    [{ keys, count }] = await Promise.all([find(running, targets), locked]);
  }
}
