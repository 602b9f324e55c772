/** POST on a collection: one item, or an array of them. */
import type { JsonValue } from '../contract/index.ts';
import { forbidden } from '../query/invalid.ts';
import type { ReadPlan } from '../query/plan.ts';
import { decodeItems } from './decode.ts';
import { hashBatch } from './hash.ts';
import {
  type Desk,
  echoOf,
  type Granted,
  type Job,
  type PreparedStep,
  prepareStep,
  returnedBy,
  touchedBy,
  writableOf,
} from './job.ts';
import { parseCreate } from './parse-body.ts';
import { createProblems, placesIn } from './problems.ts';
import { grantFor, type WritableCollection } from './scope.ts';
import { runStep } from './step.ts';
import { isTree, newEntries, prepareKnownTree, prepareTree } from './tree/prepare-tree.ts';

/** Prepares the creation of items. Throws for everything that is wrong with the request itself. */
export async function prepareCreate(desk: Desk, body: JsonValue | undefined): Promise<Job> {
  const { many, items } = parseCreate(body, desk.mostItems);
  const echo = echoOf(desk, many ? 'many' : 'one');
  const granted = createGrant(desk, writableOf(desk));
  const { writable } = granted;
  const job = prepareKnownTree(desk, writable, items, many, echo);
  if (job !== undefined) return job;
  if (isTree(writable, items)) return prepareTree(desk, writable, newEntries(writable, items, many), many, echo);
  const problems = createProblems();
  const input = { scope: desk.scope, ...granted, action: 'create' as const };
  const places = many ? [...items.keys()] : null;
  const decoded = decodeItems(input, items, places, problems);
  problems.raise();
  const touched = () => [touchedBy(desk, granted, decoded)];
  if (items.length === 0) return { echo, touched, work: async () => null };
  const batch = await hashBatch(desk, granted, decoded);
  const placeOf = placesIn(desk.collection, places);
  const prepare = (plan?: ReadPlan): PreparedStep =>
    prepareStep(desk, granted, 'create', batch, items.length === 1 ? 'one' : 'many', {
      placeOf,
      ...(plan && { plan }),
    });
  return {
    echo,
    touched,
    ...returnedBy(desk, prepare, echo, null),
    async work(running) {
      const done = await runStep(running, { ...prepare(), keys: null, lenient: false });
      await done.judgeLate();
      return done.keys;
    },
  };
}

/** The rules by which a caller makes items. Throws FORBIDDEN when there are none. */
export function createGrant({ caller }: Desk, writable: WritableCollection): Granted {
  const grant = grantFor(writable, writable.create, caller);
  if (writable.create === undefined || grant === undefined) throw forbidden();
  return { writable, grant, all: writable.create };
}
