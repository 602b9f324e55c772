/** Requests whose payloads hold related items. */
import { PlatformError } from '../../errors.ts';
import { createProblems, type Problems, placesIn } from '../../json/problems.ts';
import type { FilterObject } from '../../language/conditions/filter-syntax.ts';
import { arrayLiteral, type CollectionDescriptor } from '../../language/index.ts';
import { readRows } from '../../sql/array-text.ts';
import type { WritableCollection, WriteScope } from '../access/scope.ts';
import type { Keys } from '../decode/keys.ts';
import type { Running } from '../execute/running.ts';
import { runStep } from '../execute/step.ts';
import { type AffectedConstraints, isKnown, keysInPayloads, takenKey } from '../execute/violation.ts';
import type { Returning } from '../returning.ts';
import { completed, type LinkedStep, prepareStep, type WriteContext, type WritePlan } from '../write-plan.ts';
import { decodeTree, hashDecoded, isSame, keyLinks, linkBatch } from './parse/decode-tree.ts';
import { type DecodedSteps, type DecodedTree, type Group, groupsOf } from './parse/group.ts';
import { type Entry, isTreeValue } from './parse/nested-write.ts';
import { parseNestedWrite } from './parse/parse-nested-write.ts';
import { keysOfRows } from './removal.ts';
import { resolveTree } from './resolve/defer-links.ts';
import { existenceQueries, type Found, findNamed } from './resolve/references.ts';
import { writeTree } from './run-tree.ts';

/** True if some payload holds more for a relation than a key. */
export function isTree({ collection }: WritableCollection, payloads: readonly FilterObject[]): boolean {
  return payloads.some((payload) =>
    Object.entries(payload).some(([name, value]) => {
      const relation = collection.relations.get(name)?.descriptor;
      return relation !== undefined && isTreeValue(relation, value);
    }),
  );
}

/** New items at the top of a tree; `many` tells whether the body is an array. */
export function newEntries({ collection }: WritableCollection, items: readonly FilterObject[], many: boolean): Entry[] {
  const { name } = collection.descriptor;
  return items.map((payload, index) => {
    return { form: 'create', key: null, payload, place: { collection: name, index: many ? index : undefined } };
  });
}

/** Changes of stored items at the top of a tree, by their keys: the same for all, or one for each. */
export function changedEntries(
  { collection }: WritableCollection,
  keys: Keys,
  items: readonly FilterObject[],
  places: readonly number[] | null,
): Entry[] {
  const { name } = collection.descriptor;
  const rows = keys.many ? readRows(keys.values) : [keys.values];
  return rows.map((key, index) => {
    const payload = items[index] ?? items[0] ?? {};
    return { form: 'update', key, payload, place: { collection: name, index: places?.[index] } };
  });
}

/** Prepares a tree. Errors in it are known before the transaction, as far as they do not depend on stored items. */
export async function prepareTree(
  context: WriteContext,
  writable: WritableCollection,
  entries: readonly Entry[],
  many: boolean,
  returning: Returning | null,
): Promise<WritePlan> {
  const problems = createProblems();
  const root = parseNestedWrite(context, problems, writable, entries);
  const requested = existenceQueries(root);
  const ready = requested.length === 0 ? await draftSettled(context, root, () => false, problems) : undefined;
  if (ready === undefined) problems.raise();
  const linked = ready === undefined && context.isPart !== true ? await linkedStep(context, root) : undefined;
  const plan: WritePlan = {
    returning,
    affected: () => affectedByTree(context, root),
    ...(linked && { attempt: (running) => runLinked(running, linked) }),
    isConflict: (error) => isTreeConflict(context.scope, root, error),
    async work(running) {
      const stored = ready === undefined ? await draftStored(context, root, running) : { ...ready, isTaken: false };
      if (stored.isTaken) return refuseTaken(context, root, running, stored);
      const rows = await writeTree(running, context, stored.settled, stored.drafts);
      return keysOf(rows, many);
    },
  };
  return completed(context, plan, { kind: 'tree', root, ready, linked, many });
}

/** Refuses new items whose keys hidden ones have, after all that is wrong with new ones. */
async function refuseTaken(
  context: WriteContext,
  root: Group,
  running: Running,
  { settled, drafts }: DecodedTree,
): Promise<never> {
  await writeTree({ ...running, judgesFirst: true }, context, settled, drafts).catch((error: unknown) => {
    if (!isTreeConflict(context.scope, root, error)) throw error;
  });
  throw new PlatformError('FORBIDDEN');
}

/** The items at the top as one step, which links the items below by their keys; undefined where more is to be done. */
async function linkedStep(context: WriteContext, root: Group): Promise<LinkedStep | undefined> {
  const links = keyLinks(context.scope, root);
  if (links === undefined) return undefined;
  const problems = createProblems();
  const decoded = decodeTree(context, root, () => true, problems);
  // The steps report errors, as they come after those of items that are hidden.
  const [step, ...others] = problems.any() ? [] : ((await hashDecoded(context, decoded)).get(root) ?? []);
  if (step === undefined || others.length > 0 || step.nodes.length < root.nodes.length) return undefined;
  const { action, granted, nodes, named } = step;
  const batch = linkBatch(step, links);
  const placeOf = (item: number) => root.nodes[nodes[item] ?? -1]?.place ?? placesIn(context.collection, null)(item);
  const form = nodes.length === 1 ? 'one' : 'many';
  return {
    prepare: (plan) => prepareStep(context, granted, action, batch, form, { placeOf, named, ...(plan && { plan }) }),
    keys: action === 'create' ? null : keysOfRows(nodes.map((index) => root.nodes[index]?.key ?? [])),
  };
}

async function runLinked(running: Running, { prepare, keys }: LinkedStep): Promise<Keys | null> {
  const done = await runStep(running, { ...prepare(), keys, lenient: false });
  await done.checkLinks();
  await done.checkLate();
  return done.keys;
}

/** The plan of new items that are not looked at before it runs. */
export function planUnread(
  context: WriteContext,
  writable: WritableCollection,
  items: readonly FilterObject[],
  many: boolean,
  returning: Returning | null,
): WritePlan {
  const entries = (): Entry[] => newEntries(writable, items, many);
  return {
    returning,
    affected: () => affectedByTree(context, parseNestedWrite(context, createProblems(), writable, entries())),
    isConflict: (error) => overtakesPayloads(context, writable, items, error),
    async work(running) {
      const { work } = await prepareTree(context, writable, entries(), many, returning);
      return work(running);
    },
  };
}

/** Prepares and writes a tree in a transaction that is under way; null when there are no items. */
export async function runTree(
  context: WriteContext,
  writable: WritableCollection,
  entries: readonly Entry[],
  many: boolean,
  running: Running,
): Promise<Keys | null> {
  const { work } = await prepareTree(context, writable, entries, many, null);
  return work(running);
}

/** As `isTreeConflict`, of payloads whose tree grows in the transaction. */
export function overtakesPayloads(
  context: WriteContext,
  writable: WritableCollection,
  payloads: readonly FilterObject[],
  error: unknown,
): boolean {
  if (takenKey(error) === undefined) return false;
  const { name: collection } = writable.collection.descriptor;
  const location = { collection, index: undefined };
  const entries = payloads.map((payload): Entry => ({ form: 'either', key: null, payload, place: location }));
  return isTreeConflict(context.scope, parseNestedWrite(context, createProblems(), writable, entries), error);
}

/** Judges a tree as far as stored items decide, before anybody else sees it: only values may still be wrong. */
export async function checkTree(
  context: WriteContext,
  writable: WritableCollection,
  entries: readonly Entry[],
  running: Running,
): Promise<void> {
  const problems = createProblems();
  const root = parseNestedWrite(context, problems, writable, entries);
  const { found, isTaken } = await findNamed(running, context.scope, root);
  draft(context, resolveTree(context.scope, root, found).root, found, problems);
  if (isTaken) throw new PlatformError('FORBIDDEN');
}

/** A tree as stored items decide it. `isTaken` tells that hidden ones have keys of its new items. */
async function draftStored(
  context: WriteContext,
  root: Group,
  running: Running,
): Promise<DecodedTree & { readonly isTaken: boolean }> {
  const { found, isTaken } = await findNamed(running, context.scope, root);
  return { ...(await draftSettled(context, root, found, createProblems())), isTaken };
}

async function draftSettled(
  context: WriteContext,
  root: Group,
  found: Found,
  problems: Problems,
): Promise<DecodedTree> {
  const settled = resolveTree(context.scope, root, found);
  return { settled, drafts: await hashDecoded(context, draft(context, settled.root, found, problems)) };
}

function draft(context: WriteContext, root: Group, found: Found, problems: Problems): DecodedSteps {
  const decoded = decodeTree(context, root, found, problems);
  problems.raise();
  return decoded;
}

function keysOf(rows: readonly (readonly string[])[], many: boolean): Keys | null {
  const [first] = rows;
  if (first === undefined) return null;
  if (!many) return { count: 1, many: false, values: first };
  const values = first.map((_, part) => arrayLiteral(rows.map((row) => row[part] ?? null)));
  return { count: rows.length, many: true, values };
}

/** Returns the context by which errors of the database are explained at the end of the transaction. */
function affectedByTree({ scope }: WriteContext, root: Group): readonly AffectedConstraints[] {
  return groupsOf(root).map(({ writable, nodes, path }) => ({
    scope,
    collection: writable.collection,
    names: new Set(nodes.flatMap(({ own: fields }) => Object.keys(fields))),
    findKeys: keysInPayloads(nodes.map(({ own: fields }) => fields)),
    writable: new Set([...(writable.create?.fields.keys() ?? []), ...(writable.update?.fields.keys() ?? [])]),
    ...(path !== '' && { path }),
  }));
}

/** True if another request has made an item or link since the tree looked for it: the next try finds it. */
function isTreeConflict({ open }: WriteScope, root: Group, error: unknown): boolean {
  const name = takenKey(error);
  if (name === undefined) return false;
  const sought = groupsOf(root).flatMap(({ writable, nodes, targets }) => {
    const keyed = nodes.some(({ form, key }) => form === 'either' && key !== null);
    const { descriptor } = writable.collection;
    const constraints = keyed ? uniqueNames(descriptor, (fields) => isSame(fields, descriptor.key)) : [];
    const links = targets.flatMap(({ relation }) => {
      const junction = open.collections.get(relation.junction)?.descriptor;
      return junction === undefined ? [] : uniqueNames(junction, () => true);
    });
    return [...constraints, ...links];
  });
  // A name that no collection knows is that of a partition's constraint.
  return sought.includes(name) || (sought.length > 0 && !isKnown(open, name));
}

function uniqueNames(
  { constraints = [] }: CollectionDescriptor,
  requested: (fields: readonly string[]) => boolean,
): readonly string[] {
  return constraints.flatMap(({ type, fields, name }) => (type === 'unique' && requested(fields) ? [name] : []));
}
