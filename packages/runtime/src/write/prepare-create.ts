/** POST on a collection: one item, or an array of them. */
import { forbidden } from '../errors.ts';
import { createProblems, placesIn } from '../json/problems.ts';
import type { JsonValue } from '../language/index.ts';
import type { ReadPlan } from '../query/plan/plan.ts';
import { type Granted, grantFor, type WritableCollection } from './access/scope.ts';
import { decodeItems } from './decode/decode.ts';
import { hashBatch } from './decode/hash.ts';
import { parseCreate } from './decode/parse-body.ts';
import { runStep } from './execute/step.ts';
import { isTree, newEntries, planUnread, prepareTree } from './tree/prepare-tree.ts';
import {
  affectedBy,
  completed,
  type PreparedStep,
  prepareStep,
  returningOf,
  type WriteContext,
  type WritePlan,
  writableOf,
} from './write-plan.ts';

/** Prepares the creation of items. Throws for everything that is wrong with the request itself. */
export async function prepareCreate(context: WriteContext, body: JsonValue | undefined): Promise<WritePlan> {
  const { many, items } = parseCreate(body, context.maxItems);
  const returning = returningOf(context, many ? 'many' : 'one');
  const granted = createGrant(context, writableOf(context));
  const { writable } = granted;
  const recalled = context.seams?.recall(
    context,
    { writable, items },
    planUnread(context, writable, items, many, returning),
  );
  if (recalled !== undefined) return recalled;
  if (isTree(writable, items))
    return prepareTree(context, writable, newEntries(writable, items, many), many, returning);
  const problems = createProblems();
  const input = { scope: context.scope, ...granted, action: 'create' as const };
  const places = many ? [...items.keys()] : null;
  const decoded = decodeItems(input, items, places, problems);
  problems.raise();
  const affected = () => [affectedBy(context, granted, decoded)];
  if (items.length === 0) return { returning, affected, work: async () => null };
  const batch = await hashBatch(context, granted, decoded);
  const placeOf = placesIn(context.collection, places);
  const prepare = (plan?: ReadPlan): PreparedStep =>
    prepareStep(context, granted, 'create', batch, items.length === 1 ? 'one' : 'many', {
      placeOf,
      ...(plan && { plan }),
    });
  const work: WritePlan['work'] = async (running) => {
    const done = await runStep(running, { ...prepare(), keys: null, lenient: false });
    await done.checkLate();
    return done.keys;
  };
  return completed(context, { returning, affected, work }, { kind: 'step', prepare, keys: null });
}

/** The rules by which a caller makes items. Throws FORBIDDEN when there are none. */
export function createGrant({ caller }: WriteContext, writable: WritableCollection): Granted {
  const grant = grantFor(writable, writable.create, caller);
  if (writable.create === undefined || grant === undefined) throw forbidden();
  return { writable, grant, all: writable.create };
}
