/** PATCH: one item by its key, several by their keys, by a query or each with its own data, or the one of a singleton. */
import { allOf, sqlTrue } from '../dialects/fragment.ts';
import { forbidden, invalidQuery } from '../errors.ts';
import { createProblems, earlierOf, placesIn } from '../json/problems.ts';
import { type FilterObject, isObject } from '../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../language/index.ts';
import { parseKeySegment } from '../query/parse/keys.ts';
import type { ReadPlan } from '../query/plan/plan.ts';
import type { Row } from '../sql/row.ts';
import { type Granted, grantFor, type WritableCollection } from './access/scope.ts';
import { sparesAdministrators } from './access/system-access.ts';
import { printAllowed, requirementsOf } from './checks/check.ts';
import { ruleMatches } from './checks/presets.ts';
import type { Batch } from './decode/batch.ts';
import { decodeItems, hashBatch } from './decode/decode.ts';
import { checkOwnKey, type Keys, keyChanged, keyedItems, keyNamedIn, namedKeys, oneKey } from './decode/keys.ts';
import { parseObject, parseUpdate } from './decode/parse-body.ts';
import type { Running, Step } from './execute/running.ts';
import { runStep } from './execute/step.ts';
import {
  checkTargetsSyntax,
  find,
  findHeld,
  lockSingleton,
  prepareSingleton,
  prepareTargets,
} from './execute/targets.ts';
import { lockOfUpdate } from './plan/plan-update.ts';
import { type StepForm, writtenColumns } from './plan/plans.ts';
import {
  changedEntries,
  checkTree,
  isTree,
  newEntries,
  overtakesPayloads,
  prepareTree,
  runTree,
} from './tree/prepare-tree.ts';
import {
  affectedBy,
  completed,
  type FindKeys,
  guardOf,
  guardOfSingleton,
  type PreparedStep,
  prepareStep,
  returningOf,
  type WriteContext,
  type WritePlan,
  writableOf,
} from './write-plan.ts';

/** Prepares changes of the item that an address names. */
export async function prepareUpdateOne(
  context: WriteContext,
  key: string,
  body: JsonValue | undefined,
): Promise<WritePlan> {
  const data = parseObject(body);
  const returning = returningOf(context, 'one');
  const granted = grantedTo(context, writableOf(context));
  const { writable } = granted;
  const keys = oneKey(parseKeySegment(writable.collection, key));
  if (isTree(writable, [data])) {
    checkOwnKey(writable.collection, data, keys);
    const tree = await prepareTree(context, writable, changedEntries(writable, keys, [data], null), false, returning);
    return { ...tree, ...guardOf(context, writable.collection, keys, () => returning) };
  }
  const batch = await decodeOne(context, granted, data, keys);
  const plan = await updateOf(context, granted, batch, 'one', keys, null, returning);
  return { ...plan, ...guardOf(context, granted.writable.collection, keys, () => returning) };
}

export async function prepareUpdate(context: WriteContext, body: JsonValue | undefined): Promise<WritePlan> {
  const parsed = parseUpdate(body, context.maxItems);
  const returning = returningOf(context, 'many');
  const granted = grantedTo(context, writableOf(context));
  if (parsed.kind === 'each') return eachOf(context, granted, parsed.items, returning);
  const { named, data } = parsed;
  if (named.kind === 'query') return { returning, ...(await queried(context, granted, named.query, data)) };
  const { writable } = granted;
  const keys = namedKeys(writable, named.keys);
  if (isTree(writable, [data])) {
    checkOwnKey(writable.collection, data, keys);
    if (keys.count === 0) {
      const work = (running: Running): Promise<null> => checkNone(context, writable, data, running);
      return { returning, affected: () => [], work };
    }
    return prepareTree(context, writable, changedEntries(writable, keys, [data], null), true, returning);
  }
  const batch = await decodeOne(context, granted, data, keys);
  return updateOf(context, granted, batch, 'shared', keys, null, returning);
}

/** Prepares changes of items by their keys. */
function updateOf(
  context: WriteContext,
  granted: Granted,
  batch: Batch,
  form: StepForm,
  keys: Keys,
  places: readonly number[] | null,
  returning: WritePlan['returning'],
): WritePlan | Promise<WritePlan> {
  const placeOf = placesIn(context.collection, places);
  const prepare = (plan?: ReadPlan): PreparedStep =>
    prepareStep(context, granted, 'update', batch, form, { placeOf, ...(plan && { plan }) });
  const plan: WritePlan = {
    returning,
    affected: () => [affectedBy(context, granted, batch, placeOf)],
    step: () => prepare().plans,
    work: (running) => runUpdate(running, prepare(), keys, false),
  };
  return keys.count === 0 ? plan : completed(context, plan, { kind: 'step', prepare, keys });
}

/** Prepares changes of the item of a singleton, which is made when there is none. */
export async function prepareUpdateSingleton(context: WriteContext, body: JsonValue | undefined): Promise<WritePlan> {
  const data = parseObject(body);
  const returning = returningOf(context, 'singleton');
  const writable = writableOf(context);
  const findItem = singletonFinder(context, writable);
  const granted = grantedTo(context, writable);
  const tree = isTree(writable, [data]);
  const batch = await decodeOne(context, granted, tree ? {} : data, undefined);
  const placeOf = placesIn(context.collection, null);
  const step = prepareStep(context, granted, 'update', batch, 'shared', { placeOf });
  return {
    returning,
    ...guardOfSingleton(context, writable.collection, findItem),
    affected: () => [affectedBy(context, granted, batch, placeOf)],
    isConflict: (error) => overtakesPayloads(context, writable, [data], error),
    async work(running) {
      const keys = await findItem(running);
      if (keys !== null) await requireOwnKey(context, writable, data, running);
      if (tree && keys !== null) {
        return runTree(context, writable, changedEntries(writable, keys, [data], null), true, running);
      }
      if (keys !== null) return runUpdate(running, step, keys, false);
      return runTree(context, writable, newEntries(writable, [data], false), true, running);
    },
  };
}

/** Makes what waits for the turn to write a singleton and finds its item; FORBIDDEN for one that the caller may not read. */
export function singletonFinder({ scope, caller }: WriteContext, writable: WritableCollection): FindKeys {
  const found = prepareSingleton(scope, writable, caller);
  return async function findItem(running) {
    // The first is sent first.
    const locked = lockSingleton(running, writable);
    const [{ keys, count }] = await Promise.all([find(running, found), locked]);
    if (keys === null && count > 0) throw forbidden();
    return keys;
  };
}

/** Checks in the database that a key in a payload is that of the singleton. Throws INVALID_PAYLOAD if not. */
async function requireOwnKey(
  { scope, caller }: WriteContext,
  writable: WritableCollection,
  data: FilterObject,
  running: Running,
): Promise<void> {
  // A caller who must not name the key gets the same error as for an unknown name.
  const named = writable.namesKey ? keyNamedIn(writable.collection, data) : null;
  if (named === null) return;
  const { fields, values } = named;
  if (values === null) throw keyChanged();
  const found = await find(running, prepareSingleton(scope, writable, caller, { fields, values }));
  if (found.keys === null) throw keyChanged();
}

/** Judges a tree of no item as that of one, so that a hidden name answers as one that does not exist. */
async function checkNone(
  context: WriteContext,
  writable: WritableCollection,
  payload: FilterObject,
  running: Running,
): Promise<null> {
  const location = placesIn(context.collection, null)(0);
  await checkTree(context, writable, [{ form: 'update', key: null, payload, place: location }], running);
  return null;
}

/** The rules by which a caller makes or changes items. Throws FORBIDDEN when there are none. */
export function grantedTo(
  { caller }: WriteContext,
  writable: WritableCollection,
  action: 'create' | 'update' = 'update',
): Granted {
  const all = writable[action];
  const grant = grantFor(writable, all, caller);
  if (all === undefined || grant === undefined) throw forbidden();
  return { writable, grant, all };
}

/** Decodes data for one item, or the same for several; `keys` undefined: the key in it may be any. */
async function decodeOne(
  context: WriteContext,
  granted: Granted,
  data: FilterObject,
  keys: Keys | null | undefined,
): Promise<Batch> {
  const problems = createProblems();
  const batch = decodeItems({ scope: context.scope, ...granted, action: 'update' }, [data], null, problems);
  problems.raise();
  if (keys !== undefined) checkOwnKey(granted.writable.collection, data, keys);
  return hashBatch(context, granted, batch);
}

/** Changes of each item by the key in it. */
async function eachOf(
  context: WriteContext,
  granted: Granted,
  elements: readonly FilterObject[],
  returning: WritePlan['returning'],
): Promise<WritePlan> {
  const { writable } = granted;
  const { keys, items, places } = keyedItems(writable, elements);
  if (isTree(writable, items))
    return prepareTree(context, writable, changedEntries(writable, keys, items, places), true, returning);
  const problems = createProblems();
  const decoded = decodeItems({ scope: context.scope, ...granted, action: 'update' }, items, places, problems);
  problems.raise();
  const batch = await hashBatch(context, granted, decoded);
  return updateOf(context, granted, batch, 'many', keys, places, returning);
}

/** The same changes of every item that a query selects and the caller may read and change. */
async function queried(
  context: WriteContext,
  granted: Granted,
  query: JsonValue,
  data: FilterObject,
): Promise<Omit<WritePlan, 'returning'>> {
  const { grant, writable } = granted;
  const tree = isTree(writable, [data]);
  checkTargetsSyntax({ ...context, query });
  if (tree) checkOwnKey(writable.collection, data, null);
  const batch = await decodeOne(context, granted, tree ? {} : data, null).catch((error: unknown) => {
    // Errors in names of the query come before errors in values of the data.
    throw earlierOf(
      error,
      problemOf(() => prepareTargets({ ...context, query, targets: { permitted: () => sqlTrue } })) ?? error,
    );
  });
  const requirements = requirementsOf({ grant, columns: writtenColumns(batch), named: [] });
  const permitted = (row: Row): string => {
    const rules = grant.rules.map((rule) =>
      ruleMatches({ ...row, scope: context.scope.open, collection: granted.writable.collection }, rule),
    );
    const allowed = printAllowed(
      requirements,
      (rule) => rules[rule] ?? sqlTrue,
      () => sqlTrue,
    );
    return allOf([allowed, ...sparesAdministrators(context.scope, row)]);
  };
  const { collection } = writable;
  const names = batch.columns.map(({ field }) => field.descriptor.name);
  const lock = lockOfUpdate(collection.descriptor, names);
  const targets = prepareTargets({ ...context, query, targets: { permitted, lock } });
  // The rules of the write leave archived items out, so none would be found.
  if (collection.live !== undefined && isObject(query) && (query.archived ?? '') !== '')
    throw invalidQuery('"archived" of a change stands in its address, as in PATCH …?archived=include.');
  const placeOf = placesIn(context.collection, null);
  const step = prepareStep(context, granted, 'update', batch, 'shared', { placeOf });
  return {
    affected: () => [affectedBy(context, granted, batch, placeOf)],
    ...(tree && { isConflict: (error) => overtakesPayloads(context, writable, [data], error) }),
    async work(running) {
      const keys = await findHeld(running, targets, { collection, lock, maxCount: context.maxItems });
      if (tree && keys !== null) {
        return runTree(context, writable, changedEntries(writable, keys, [data], null), true, running);
      }
      if (tree) return checkNone(context, writable, data, running);
      return keys === null ? null : runUpdate(running, step, keys, true);
    },
  };
}

function problemOf(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}

async function runUpdate(
  running: Running,
  step: Omit<Step, 'keys' | 'lenient'>,
  keys: Keys,
  lenient: boolean,
): Promise<Keys | null> {
  if (keys.count === 0) return null;
  const done = await runStep(running, { ...step, keys, lenient });
  await done.checkLate();
  return done.keys;
}
