/** Requests whose payloads hold related items. */
import type { FilterObject } from '../../contract/filter-syntax.ts';
import { arrayLiteral } from '../../contract/index.ts';
import { readRows } from '../../sql/array-text.ts';
import type { Echo } from '../echo.ts';
import type { Desk, Job } from '../job.ts';
import type { Keys } from '../keys.ts';
import { keysInPayloads } from '../missing-parent.ts';
import { createProblems, type Problems } from '../problems.ts';
import type { WritableCollection } from '../scope.ts';
import type { Running } from '../step.ts';
import { type Touched, takenKey } from '../violation.ts';
import { type Drafts, draftTree, hashDrafts } from './draft.ts';
import { type Group, groupsOf } from './group.ts';
import { growTree } from './grow.ts';
import { readKnownTree } from './known-trees.ts';
import { type Entry, isTreeValue } from './lead.ts';
import { isTreeOvertaken } from './overtaken.ts';
import type { Postponed } from './postpone.ts';
import { type Found, probe, wantedOf } from './probe.ts';
import { returnedLinks } from './returned-links.ts';
import { isReturned, returnedByMaking, returnedTree } from './returned-tree.ts';
import { writeTree } from './run-tree.ts';
import { settleTree } from './settle.ts';

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
    return { form: 'create', given: null, payload, place: { collection: name, index: many ? index : undefined } };
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
    return { form: 'update', given: key, payload, place: { collection: name, index: places?.[index] } };
  });
}

/** Prepares a tree. Errors in it are known before the transaction, as far as they do not depend on stored items. */
export async function prepareTree(
  desk: Desk,
  writable: WritableCollection,
  entries: readonly Entry[],
  many: boolean,
  echo: Echo | null,
): Promise<Job> {
  const problems = createProblems();
  const root = growTree(desk, problems, writable, entries);
  const wanted = wantedOf(root);
  const ready = wanted.length === 0 ? await draftSettled(desk, root, () => false, problems) : undefined;
  if (ready === undefined) problems.raise();
  return {
    echo,
    touched: () => touchedByTree(desk, root),
    overtaken: (error) => isTreeOvertaken(desk.scope, root, error),
    ...((ready && returnedTree(desk, ready.settled, ready.drafts, many, echo)) ??
      (await returnedLinks(desk, root, echo))),
    async work(running) {
      const { settled, drafts } = ready ?? (await draftStored(desk, root, running));
      const rows = await writeTree(running, desk, settled, drafts);
      return keysOf(rows, many);
    },
  };
}

/** Prepares new items of a form that was planned before, without growing a tree; undefined where they are of none. */
export function prepareKnownTree(
  desk: Desk,
  writable: WritableCollection,
  items: readonly FilterObject[],
  many: boolean,
  echo: Echo | null,
): Job | undefined {
  const tree = isReturned(desk, echo) ? readKnownTree(desk, writable, items, echo) : undefined;
  if (tree === undefined) return undefined;
  const entries = (): Entry[] => newEntries(writable, items, many);
  return {
    echo,
    touched: () => touchedByTree(desk, growTree(desk, createProblems(), writable, entries())),
    overtaken: (error) => overtakesPayloads(desk, writable, items, error),
    ...returnedByMaking(tree),
    async work(running) {
      const { work } = await prepareTree(desk, writable, entries(), many, echo);
      return work(running);
    },
  };
}

/** Prepares and writes a tree in a transaction that is under way; null when there are no items. */
export async function runTree(
  desk: Desk,
  writable: WritableCollection,
  entries: readonly Entry[],
  many: boolean,
  running: Running,
): Promise<Keys | null> {
  const { work } = await prepareTree(desk, writable, entries, many, null);
  return work(running);
}

/** As `isTreeOvertaken`, of payloads whose tree grows in the transaction. */
export function overtakesPayloads(
  desk: Desk,
  writable: WritableCollection,
  payloads: readonly FilterObject[],
  error: unknown,
): boolean {
  if (takenKey(error) === undefined) return false;
  const { name: collection } = writable.collection.descriptor;
  const location = { collection, index: undefined };
  const entries = payloads.map((payload): Entry => ({ form: 'either', given: null, payload, place: location }));
  return isTreeOvertaken(desk.scope, growTree(desk, createProblems(), writable, entries), error);
}

/** Judges a tree as far as stored items decide, before anybody else sees it: only values may still be wrong. */
export async function judgeTree(
  desk: Desk,
  writable: WritableCollection,
  entries: readonly Entry[],
  running: Running,
): Promise<void> {
  const problems = createProblems();
  const root = growTree(desk, problems, writable, entries);
  const found = await probe(running, desk.scope, wantedOf(root));
  draft(desk, settleTree(desk.scope, root, found).root, found, problems);
}

/** A tree that is ready to be written. */
interface Drafted {
  readonly settled: Postponed;
  readonly drafts: Drafts;
}

async function draftStored(desk: Desk, root: Group, running: Running): Promise<Drafted> {
  const found = await probe(running, desk.scope, wantedOf(root));
  return draftSettled(desk, root, found, createProblems());
}

async function draftSettled(desk: Desk, root: Group, found: Found, problems: Problems): Promise<Drafted> {
  const settled = settleTree(desk.scope, root, found);
  return { settled, drafts: await hashDrafts(desk, draft(desk, settled.root, found, problems)) };
}

function draft(desk: Desk, root: Group, found: Found, problems: Problems): Drafts {
  const drafts = draftTree(desk, root, found, problems);
  problems.raise();
  return drafts;
}

function keysOf(rows: readonly (readonly string[])[], many: boolean): Keys | null {
  const [first] = rows;
  if (first === undefined) return null;
  if (!many) return { count: 1, many: false, values: first };
  const values = first.map((_, part) => arrayLiteral(rows.map((row) => row[part] ?? null)));
  return { count: rows.length, many: true, values };
}

/** Returns the context by which errors of the database are explained at the end of the transaction. */
function touchedByTree({ scope }: Desk, root: Group): readonly Touched[] {
  return groupsOf(root).map(({ writable, nodes, path }) => ({
    scope,
    collection: writable.collection,
    names: new Set(nodes.flatMap(({ own: fields }) => Object.keys(fields))),
    given: keysInPayloads(nodes.map(({ own: fields }) => fields)),
    writable: new Set([...(writable.create?.fields.keys() ?? []), ...(writable.update?.fields.keys() ?? [])]),
    ...(path !== '' && { path }),
  }));
}
