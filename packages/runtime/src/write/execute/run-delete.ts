/** Removal of items in a transaction. */

import { placesIn } from '../../json/problems.ts';
import type { WritableCollection } from '../access/scope.ts';
import type { Written } from '../checks/check.ts';
import type { Removal } from '../checks/removal.ts';
import { createBatch } from '../decode/batch.ts';
import type { Keys } from '../decode/keys.ts';
import { deletePlan } from '../plan/plans.ts';
import type { WriteContext } from '../write-plan.ts';
import type { Running } from './running.ts';
import { runStep } from './step.ts';

/** Deletes or archives items by their keys, which it gives back. Throws FORBIDDEN where one is missing, or not to be deleted. */
export async function runDelete(
  context: WriteContext,
  writable: WritableCollection,
  removed: Removal,
  running: Running,
  keys: Keys,
  lenient: boolean,
): Promise<Keys | null> {
  if (keys.count === 0) return null;
  const { descriptor } = writable.collection;
  const written: Written = {
    scope: context.scope,
    writable,
    grant: { rules: [], fields: new Map(), listed: new Set() },
    action: 'update',
    columns: [],
    named: [],
    postponed: false,
    collections: new Set([descriptor.name]),
  };
  const plans = deletePlan(context.steps, written, removed, keys.many);
  const payload = { collection: descriptor.name, placeOf: placesIn(descriptor.name, null), names: new Set<string>() };
  const archives = !removed.purge && descriptor.softDelete !== undefined;
  const batch = createBatch(descriptor).finish(0);
  await runStep(running, { action: 'delete', archives, plans, batch, keys, lenient, payload });
  return keys;
}
