/** Items of a query, held still before they are written. */
import type { CollectionScope } from '../query/scope.ts';
import { readRows } from '../sql/array-text.ts';
import type { RowLock } from '../sql/dialects/index.ts';
import type { Keys } from './keys.ts';
import { lockRows } from './lock-rows.ts';
import { checkCount } from './parse-body.ts';
import type { Running } from './step.ts';
import { findTargets, type Targets } from './targets.ts';

/** What is held, how, and how many items at most; null: as many as there are. */
export interface Holding {
  readonly collection: CollectionScope;
  readonly lock: RowLock;
  readonly most: number | null;
}

/** Runs a statement that finds keys, of a collection that fits the database. */
export async function find({ transaction, gate }: Running, targets: Targets): ReturnType<typeof findTargets> {
  gate(targets.statement);
  return findTargets(transaction, targets);
}

/**
 * Finds the items that a query selects, and holds them: null when there are none. Another request may change an item between the
 * look and the lock, or hold it meanwhile, so they are looked for again, until the query selects nothing but what is held: of two
 * workers who each take the first item that is free, each gets another one. Where the query looks at nothing but the items, the
 * first look holds them. Throws INVALID_PAYLOAD for too many.
 */
export async function findHeld(
  running: Running,
  targets: Targets,
  { collection, lock, most }: Holding,
): Promise<Keys | null> {
  const { transaction, dialect } = running;
  const held = new Set<string>();
  let { keys, count } = await find(running, targets);
  for (;;) {
    checkCount(count, most);
    const rows = keys === null || targets.held === true ? [] : readRows(keys.values).map((key) => JSON.stringify(key));
    if (keys === null || rows.every((key) => held.has(key))) return keys;
    for (const key of rows) held.add(key);
    // A statement of its own: it sees what the lock has waited for.
    const locked = lockRows(transaction, dialect, collection.descriptor, keys, lock);
    [{ keys, count }] = await Promise.all([find(running, targets), locked]);
  }
}
