/** PATCH: one item by its key, several by their keys, by a query or each with its own data, or the one of a singleton. */
import type { FilterObject } from '../contract/filter-syntax.ts';
import type { JsonValue } from '../contract/index.ts';
import { forbidden } from '../query/invalid.ts';
import { parseKeySegment } from '../query/keys.ts';
import type { ReadPlan } from '../query/plan.ts';
import { allOf, sqlTrue } from '../sql/fragment.ts';
import type { Row } from '../sql/row.ts';
import { sparesAdministrators } from '../users/spare-administrators.ts';
import type { Batch } from './batch.ts';
import { decodeItems } from './decode.ts';
import { hashBatch } from './hash.ts';
import { find, findHeld } from './held-targets.ts';
import {
  type Desk,
  echoOf,
  type Granted,
  guardOf,
  type Job,
  type PreparedStep,
  prepareStep,
  returnedBy,
  touchedBy,
  writableOf,
} from './job.ts';
import { checkOwnKey, type Keys, keyChanged, keyedItems, keyNamedIn, namedKeys, oneKey } from './keys.ts';
import { lockOfUpdate } from './locked-rows.ts';
import { parseObject, parseUpdate } from './parse-body.ts';
import { type StepForm, writtenColumns } from './plans.ts';
import { createGrant } from './prepare-create.ts';
import { ruleMatches } from './presets.ts';
import { createProblems, earlierOf, placesIn } from './problems.ts';
import { printAllowed, requirementsOf } from './requirements.ts';
import { grantFor, type WritableCollection } from './scope.ts';
import { type Running, runStep, type Step } from './step.ts';
import { checkTargetsSyntax, lockSingleton, prepareSingleton, prepareTargets } from './targets.ts';
import { changedEntries, isTree, newEntries, overtakesPayloads, prepareTree, runTree } from './tree/prepare-tree.ts';

/** Prepares changes of the item that an address names. */
export async function prepareUpdateOne(desk: Desk, key: string, body: JsonValue | undefined): Promise<Job> {
  const data = parseObject(body);
  const echo = echoOf(desk, 'one');
  const granted = updateGrant(desk, writableOf(desk));
  const { writable } = granted;
  const keys = oneKey(parseKeySegment(writable.collection, key));
  if (isTree(writable, [data])) {
    checkOwnKey(writable.collection, data, keys);
    const tree = await prepareTree(desk, writable, changedEntries(writable, keys, [data], null), false, echo);
    return { ...tree, ...guardOf(desk, writable.collection, keys, () => echo) };
  }
  const batch = await decodeOne(desk, granted, data, keys);
  const job = updateOf(desk, granted, batch, 'one', keys, null, echo);
  return { ...job, ...guardOf(desk, granted.writable.collection, keys, () => echo) };
}

/** Prepares changes of the items that a body names. */
export async function prepareUpdate(desk: Desk, body: JsonValue | undefined): Promise<Job> {
  const parsed = parseUpdate(body, desk.mostItems);
  const echo = echoOf(desk, 'many');
  const granted = updateGrant(desk, writableOf(desk));
  if (parsed.kind === 'each') return eachOf(desk, granted, parsed.items, echo);
  const { named, data } = parsed;
  if (named.kind === 'query') return { echo, ...(await queried(desk, granted, named.query, data)) };
  const { writable } = granted;
  const keys = namedKeys(writable, named.keys);
  if (isTree(writable, [data])) {
    if (keys.count === 0) checkNames(granted, data);
    checkOwnKey(writable.collection, data, keys);
    return prepareTree(desk, writable, changedEntries(writable, keys, [data], null), true, echo);
  }
  const batch = await decodeOne(desk, granted, data, keys);
  return updateOf(desk, granted, batch, 'shared', keys, null, echo);
}

/**
 * Prepares changes of items by their keys. The statement returns the answer itself where no history or If-Match
 * prevents it.
 */
function updateOf(
  desk: Desk,
  granted: Granted,
  batch: Batch,
  form: StepForm,
  keys: Keys,
  places: readonly number[] | null,
  echo: Job['echo'],
): Job {
  const placeOf = placesIn(desk.collection, places);
  const prepare = (plan?: ReadPlan): PreparedStep =>
    prepareStep(desk, granted, 'update', batch, form, { placeOf, ...(plan && { plan }) });
  return {
    echo,
    ...(keys.count > 0 && returnedBy(desk, prepare, echo, keys)),
    touched: () => [touchedBy(desk, granted, batch)],
    work: (running) => runUpdate(running, prepare(), keys, false),
  };
}

/** Prepares changes of the item of a singleton, which is made when there is none. */
export async function prepareUpdateSingleton(desk: Desk, body: JsonValue | undefined): Promise<Job> {
  const data = parseObject(body);
  const echo = echoOf(desk, 'singleton');
  const writable = writableOf(desk);
  const found = prepareSingleton(desk.scope, writable, desk.caller);
  const granted = updateGrant(desk, writable);
  const tree = isTree(writable, [data]);
  const batch = await decodeOne(desk, granted, tree ? {} : data, undefined);
  const step = prepareStep(desk, granted, 'update', batch, 'shared', { placeOf: placesIn(desk.collection, null) });
  return {
    echo,
    touched: () => [touchedBy(desk, granted, batch)],
    overtaken: (error) => overtakesPayloads(desk, writable, [data], error),
    async work(running) {
      const { transaction } = running;
      const lock = lockSingleton(running.dialect, writable);
      const locked = transaction.run(lock.statement, lock.parameters, { row: () => {} });
      const [{ keys, count }] = await Promise.all([find(running, found), locked]);
      if (keys !== null) await requireOwnKey(desk, writable, data, running);
      if (tree && keys !== null) {
        return runTree(desk, writable, changedEntries(writable, keys, [data], null), true, running);
      }
      if (keys !== null) return runUpdate(running, step, keys, false);
      if (count > 0) throw forbidden();
      return createSingleton(desk, writable, data, running);
    },
  };
}

/** Checks in the database that a key in a payload is that of the singleton. Throws INVALID_PAYLOAD if not. */
async function requireOwnKey(
  { scope, caller }: Desk,
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

async function createSingleton(
  desk: Desk,
  writable: WritableCollection,
  data: FilterObject,
  running: Running,
): Promise<Keys> {
  const granted = createGrant(desk, writable);
  if (isTree(writable, [data])) {
    const made = await runTree(desk, writable, newEntries(writable, [data], false), true, running);
    if (made !== null) return made;
  }
  const problems = createProblems();
  const decoded = decodeItems({ scope: desk.scope, ...granted, action: 'create' }, [data], null, problems);
  problems.raise();
  const step = prepareStep(desk, granted, 'create', await hashBatch(desk, granted, decoded), 'one', {
    placeOf: placesIn(desk.collection, null),
  });
  const done = await runStep(running, { ...step, keys: null, lenient: false });
  await done.judgeLate();
  return done.keys;
}

/**
 * The names of a tree are judged item by item. Where there is no item they are judged here, so that the name of a relation that
 * is hidden answers as one that does not exist.
 */
function checkNames({ writable, grant }: Granted, payload: FilterObject): void {
  const key = writable.namesKey ? writable.collection.descriptor.key : [];
  if (Object.keys(payload).some((name) => !grant.listed.has(name) && !key.includes(name))) throw forbidden();
}

/** The rules by which a caller changes items. Throws FORBIDDEN when there are none. */
export function updateGrant({ caller }: Desk, writable: WritableCollection): Granted {
  const grant = grantFor(writable, writable.update, caller);
  if (writable.update === undefined || grant === undefined) throw forbidden();
  return { writable, grant, all: writable.update };
}

/** Decodes data for one item, or the same for several; `keys` undefined: the key in it may be any. */
async function decodeOne(
  desk: Desk,
  granted: Granted,
  data: FilterObject,
  keys: Keys | null | undefined,
): Promise<Batch> {
  const problems = createProblems();
  const batch = decodeItems({ scope: desk.scope, ...granted, action: 'update' }, [data], null, problems);
  problems.raise();
  if (keys !== undefined) checkOwnKey(granted.writable.collection, data, keys);
  return hashBatch(desk, granted, batch);
}

/** Changes of each item by the key in it. */
async function eachOf(
  desk: Desk,
  granted: Granted,
  elements: readonly FilterObject[],
  echo: Job['echo'],
): Promise<Job> {
  const { writable } = granted;
  const { keys, items, places } = keyedItems(writable, elements);
  if (isTree(writable, items))
    return prepareTree(desk, writable, changedEntries(writable, keys, items, places), true, echo);
  const problems = createProblems();
  const decoded = decodeItems({ scope: desk.scope, ...granted, action: 'update' }, items, places, problems);
  problems.raise();
  const batch = await hashBatch(desk, granted, decoded);
  return updateOf(desk, granted, batch, 'many', keys, places, echo);
}

/** The same changes of every item that a query selects and the caller may read and change. */
async function queried(desk: Desk, granted: Granted, query: JsonValue, data: FilterObject): Promise<Omit<Job, 'echo'>> {
  const { grant, writable } = granted;
  const tree = isTree(writable, [data]);
  checkTargetsSyntax({ ...desk, query });
  if (tree) checkOwnKey(writable.collection, data, null);
  const batch = await decodeOne(desk, granted, tree ? {} : data, null).catch((error: unknown) => {
    // Errors in names of the query come before errors in values of the data.
    throw earlierOf(
      error,
      problemOf(() => prepareTargets({ ...desk, query, targets: { permitted: () => sqlTrue } })) ?? error,
    );
  });
  const requirements = requirementsOf({ grant, columns: writtenColumns(batch), named: [] });
  const permitted = (row: Row): string => {
    const rules = grant.rules.map((rule) =>
      ruleMatches({ ...row, scope: desk.scope.open, collection: granted.writable.collection }, rule),
    );
    const allowed = printAllowed(
      requirements,
      (rule) => rules[rule] ?? sqlTrue,
      () => sqlTrue,
    );
    return allOf([allowed, ...sparesAdministrators(desk.scope, row)]);
  };
  const { collection } = writable;
  const names = batch.columns.map(({ field }) => field.descriptor.name);
  const lock = lockOfUpdate(collection.descriptor, names);
  const targets = prepareTargets({ ...desk, query, targets: { permitted, lock } });
  const step = prepareStep(desk, granted, 'update', batch, 'shared', { placeOf: placesIn(desk.collection, null) });
  return {
    touched: () => [touchedBy(desk, granted, batch)],
    ...(tree && { overtaken: (error) => overtakesPayloads(desk, writable, [data], error) }),
    async work(running) {
      const keys = await findHeld(running, targets, { collection, lock, most: desk.mostItems });
      if (tree && keys !== null) {
        return runTree(desk, writable, changedEntries(writable, keys, [data], null), true, running);
      }
      if (tree) checkNames(granted, data);
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
  await done.judgeLate();
  return done.keys;
}
