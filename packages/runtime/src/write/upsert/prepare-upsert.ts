/** POST on a collection; with `on_conflict`, items that exist are changed. Source: `docs/decisions/writes.md`. */
import { PlatformError } from '../../errors.ts';
import { createProblems, placesIn } from '../../json/problems.ts';
import type { FilterObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import type { WritableCollection, WriteScope } from '../access/scope.ts';
import { type KnownOthers, truthWithin } from '../checks/known-values.ts';
import { decodeItems, hashBatch } from '../decode/decode.ts';
import { checkOwnKey, type Keys, oneKey } from '../decode/keys.ts';
import { parseCreate } from '../decode/parse-body.ts';
import type { Running } from '../execute/running.ts';
import { runStep } from '../execute/step.ts';
import { type AffectedConstraints, isKnown, keysInPayloads, takenKey } from '../execute/violation.ts';
import { grantedTo } from '../prepare-update.ts';
import type { KeyTexts } from '../tree/parse/group.ts';
import type { Entry } from '../tree/parse/nested-write.ts';
import { isTree, newEntries, overtakesPayloads, planUnread, prepareTree, runTree } from '../tree/prepare-tree.ts';
import {
  affectedBy,
  completed,
  type PreparedStep,
  prepareStep,
  returningOf,
  type WriteContext,
  type WritePlan,
  writableOf,
} from '../write-plan.ts';
import {
  type Conflict,
  findStored,
  mayHaveConflict,
  parseConflict,
  readSought,
  resolveConflict,
  type Sought,
} from './conflict.ts';

export interface Upsert extends Pick<WritePlan, 'returning' | 'affected' | 'isConflict'> {
  /** Finds the items and locks them. Returns those to create and those to update, in the order of the body. */
  find(running: Running): Promise<readonly Entry[]>;
  /** Writes what was found, none or more; with payloads that hooks may have changed. */
  write(running: Running, entries: readonly Entry[]): Promise<Keys | null>;
}

/** Prepares a POST. Throws for everything that is wrong with the request itself. */
export function preparePost(context: WriteContext, body: JsonValue | undefined): WritePlan | Promise<WritePlan> {
  const upsert = readUpsert(context, body);
  if (upsert === null) return prepareCreate(context, body);
  return { ...upsert, work: async (running) => upsert.write(running, await upsert.find(running)) };
}

/** Reads an upsert; null for any other POST. Throws for everything that is wrong with the request itself. */
export function readUpsert(context: WriteContext, body: JsonValue | undefined): Upsert | null {
  if (!mayHaveConflict(context.query)) return null;
  const { many, items } = parseCreate(body, context.maxItems);
  const names = parseConflict(context.query, context.limits);
  return names === null ? null : prepareUpsert(context, many, items, names);
}

function prepareUpsert(
  context: WriteContext,
  many: boolean,
  items: readonly FilterObject[],
  names: readonly string[],
): Upsert {
  const returning = returningOf(context, many ? 'many' : 'one');
  const writable = writableOf(context);
  grantedTo(context, writable);
  const conflict = resolveConflict(context, grantedTo(context, writable, 'create'), names);
  const problems = createProblems();
  const sought = readSought(writable.collection, conflict, items, many, problems);
  problems.raise();
  const affected = () => [affectedByUpsert(context, writable, items)];
  return {
    returning,
    affected,
    isConflict: (error) =>
      isConflict(context.scope, conflict, error) || overtakesPayloads(context, writable, items, error),
    async find(running) {
      if (items.length === 0) return [];
      const stored = await findStored(running, context.scope, conflict, sought);
      return sought.map((item, index) => entryOf(writable.collection, conflict, item, stored.get(index)));
    },
    async write(running, entries) {
      if (entries.length === 0) return null;
      if (!entries.some(({ isTaken }) => isTaken === true)) return runTree(context, writable, entries, many, running);
      const judging = { ...running, judgesFirst: true as const };
      await runTree(context, writable, entries, many, judging).catch((error: unknown) => {
        if (!isConflict(context.scope, conflict, error)) throw error;
      });
      throw new PlatformError('FORBIDDEN');
    },
  };
}

/** Fields that name an item are not written to it. A hidden one answers as none, as far as a new item would be refused. */
function entryOf(
  collection: CollectionScope,
  { fields }: Conflict,
  { item, place: location }: Sought,
  key: KeyTexts | null | undefined,
): Entry {
  if (key === undefined || key === null)
    return { form: 'create', key: null, payload: item, place: location, isTaken: key === null };
  const naming = new Set(fields.map(({ field }) => field.descriptor.name));
  const payload = Object.fromEntries(Object.entries(item).filter(([name]) => !naming.has(name)));
  checkOwnKey(collection, payload, oneKey(key));
  return { form: 'update', key, payload, place: location };
}

/** True if an item was made after it was looked for: the error names its unique key, or that of a partition. */
function isConflict({ open }: WriteScope, { constraints }: Conflict, error: unknown): boolean {
  const name = takenKey(error);
  return name !== undefined && (constraints.has(name) || !isKnown(open, name));
}

function affectedByUpsert(
  { scope }: WriteContext,
  writable: WritableCollection,
  items: readonly FilterObject[],
): AffectedConstraints {
  return {
    scope,
    collection: writable.collection,
    names: new Set(items.flatMap((item) => Object.keys(item))),
    findKeys: keysInPayloads(items),
    writable: new Set([...(writable.create?.fields.keys() ?? []), ...(writable.update?.fields.keys() ?? [])]),
  };
}

/** Prepares the creation of items. Throws for everything that is wrong with the request itself. */
async function prepareCreate(context: WriteContext, body: JsonValue | undefined): Promise<WritePlan> {
  const { many, items } = parseCreate(body, context.maxItems);
  const returning = returningOf(context, many ? 'many' : 'one');
  const granted = grantedTo(context, writableOf(context), 'create');
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
  const placeOf = placesIn(context.collection, places);
  const others = (): KnownOthers => truthWithin(writable.collection, decoded);
  const affected = () => [affectedBy(context, granted, decoded, placeOf, others)];
  if (items.length === 0) return { returning, affected, work: async () => null };
  const batch = await hashBatch(context, granted, decoded);
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
  const step = () => prepare().plans;
  return completed(context, { returning, affected, step, work }, { kind: 'step', prepare, keys: null });
}
