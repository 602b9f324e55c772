/** Many-to-many relations: targets are made and changed, and the junction is made to join them. */
import { PlatformError } from '../../errors.ts';
import { createProblems, type Place } from '../../json/problems.ts';
import { always, type Condition, type ManyToMany } from '../../language/index.ts';
import { type Granted, grantFor, type WritableCollection } from '../access/scope.ts';
import { holdsFor, tablesOf } from '../checks/ahead.ts';
import type { LinkedTargets } from '../checks/check.ts';
import type { Batch, BatchColumn } from '../decode/batch.ts';
import { requireFields } from '../decode/decode.ts';
import type { Step } from '../execute/running.ts';
import { runStep } from '../execute/step.ts';
import { type AffectedConstraints, explainViolation } from '../execute/violation.ts';
import { affectedBy, prepareStep } from '../write-plan.ts';
import {
  type DecodedSteps,
  fieldsOf,
  type Group,
  type KeyTexts,
  type Members,
  madeNodes,
  pairsToWrite,
  sortField,
  type Targets,
} from './parse/group.ts';
import { deleteRows, findDeleted } from './removal.ts';
import { findMeeting, type InspectedTargets, inspectTargets, type Pair } from './resolve/inspect.ts';
import { madeLinks } from './resolve/references.ts';
import { checkHeld, columnTexts } from './resolve/stored.ts';
import {
  type Above,
  checkEarlierSteps,
  isLinking,
  isTaking,
  type Owners,
  stepsOn,
  type Writing,
  writesOf,
  writtenBy,
} from './writing.ts';

/** One pair that the payloads want, and whose it is. */
interface OwnedPair extends Pair {
  readonly owner: number;
}

export async function writeTargets(writing: Writing, owners: Owners, edge: Targets): Promise<void> {
  const { relation, group, members } = edge;
  const { running, context } = writing;
  const above = owners.group.writable.collection;
  const nearTexts = await columnTexts(
    running,
    above,
    owners.keys,
    relation.near.map(({ from }) => from),
  );
  const nearOf = (owner: number): KeyTexts => nearTexts[owner] ?? [];
  const keys = await writing.write(group, new Map());
  const farTexts = await columnTexts(
    running,
    group.writable.collection,
    keys,
    relation.far.map(({ to }) => to),
  );
  for (const { owner, nodes, place: location } of members) {
    for (const node of nodes) {
      checkHeld(nearTexts[owner], location);
      checkHeld(farTexts[node], location);
    }
  }
  const pairs = eachOnce(
    members.flatMap(({ owner, nodes }) =>
      nodes.map((node): OwnedPair => ({ owner, near: nearOf(owner), far: farTexts[node] ?? [] })),
    ),
  );
  const junction = context.scope.collections.get(relation.junction);
  const found = await inspect(writing, owners, edge, junction, nearOf, pairs);
  const location = members[0]?.place ?? { collection: relation.junction, index: undefined };
  const missing = [...pairs.entries()].flatMap(([index, pair]) => (found?.there.has(index) ? [] : [pair]));
  if (junction?.delete !== undefined && found !== null && found.gone.length > 0)
    await checkEarlierSteps(writing, junction, junction.delete);
  const removal = deleteRows(writing, junction, found?.gone ?? [], location);
  // History reads rows between the steps; without it they go together. The first of two errors counts.
  if (running.history !== null) await removal;
  const joining = missing.length === 0 ? undefined : joinPairs(writing, edge, junction, missing, found);
  const [, joined] = await Promise.allSettled([removal, joining]);
  await removal;
  if (joined.status === 'rejected') throw joined.reason;
}

/**
 * Looks at links before anything is written, as far as payloads tell the keys. Gives the step that makes those which are
 * not there; undefined for none. Throws FORBIDDEN for those that the caller may not make or remove, and for what is not there.
 */
export async function findLinks(
  writing: Writing,
  owners: Owners,
  edge: Targets,
  nearOf: (owner: number) => KeyTexts | undefined,
  farOf: (node: number) => KeyTexts | undefined,
): Promise<Step | undefined> {
  const { drafts, context } = writing;
  const members = edge.members.filter(({ owner }) => owners.isNew(owner) || nearOf(owner) !== undefined);
  if (!members.some(isLinking)) return undefined;
  const made = madeNodes(drafts, edge.group);
  const isClear = ({ owner, nodes }: Members): boolean =>
    owners.isNew(owner) || nodes.every((node) => made.has(node) || farOf(node) !== undefined);
  // Other steps may make these links, or remove them.
  const isSettled = !isWrittenBeside(drafts, edge) && members.every(isClear);
  const near = (owner: number): KeyTexts => nearOf(owner) ?? [];
  const pairs = members.flatMap(({ owner, nodes }) =>
    nodes.map((node): OwnedPair => ({ owner, near: near(owner), far: farOf(node) ?? [] })),
  );
  const looked = members.map((member) => ({ ...member, complete: isSettled && member.complete }));
  const junction = context.scope.collections.get(edge.relation.junction);
  const found = await inspect(writing, owners, { ...edge, members: looked }, junction, near, isSettled ? pairs : []);
  await findDeleted(writing, junction, found?.gone ?? []);
  const missing = isSettled ? pairs.filter((_, index) => found?.there.has(index) !== true) : [];
  return missing.length === 0 ? undefined : prepareJoin(writing, edge, junction, missing, found).step;
}

/** True if a request writes the junction of an edge otherwise, too. */
function isWrittenBeside(drafts: DecodedSteps, edge: Targets): boolean {
  const others = new Map([...drafts].map(([group, steps]) => [without(group, edge), steps]));
  return writtenBy(others).has(edge.relation.junction);
}

function without(group: Group, edge: Targets): Group {
  return { ...group, targets: group.targets.filter((other) => other !== edge) };
}

/** Positions of the items for which a condition on targets may hold when links are written. */
export async function findLinking(
  writing: Writing,
  { relation, condition, fields }: LinkedTargets,
  above: Above,
): Promise<readonly number[]> {
  const reached = tablesOf(relation);
  const nameOf = ({ writable }: Group): string => writable.collection.descriptor.name;
  const isReached = (group: Group): boolean => reached.includes(nameOf(group));
  // Only of links to stored targets is known what they will be.
  const isChanging = ([group, steps]: (typeof all)[number]): boolean =>
    (nameOf(group) === relation.junction && steps.length > 0) ||
    (nameOf(group) === relation.target && stepsOn(steps, fields).length > 0) ||
    group.children.some((edge) => isReached(edge.group) && edge.members.some(isTaking));
  const all = [...writing.drafts];
  if (all.some(isChanging)) return above.all;
  const found: number[] = [];
  for (const group of writing.drafts.keys()) {
    const name = nameOf(group);
    const made = madeNodes(writing.drafts, group);
    const positionsOf = ({ owner }: Members): readonly number[] => {
      const position = above.positionOf(group.nodes[owner]);
      return position === undefined ? [] : [position];
    };
    const isTwice = ({ owner }: Members): boolean =>
      writesOf(writing.drafts, name, group.nodes[owner]?.key ?? []).length > 1;
    for (const edge of group.targets) {
      if (!reached.includes(edge.relation.junction)) continue;
      const members = edge.members.filter((member) => isLinking(member));
      const isOther = edge.relation.name !== relation.name || edge.relation.target !== relation.target;
      if (isOther && members.length > 0) return above.all;
      const concerned = members.filter((member) => positionsOf(member).length > 0);
      if (concerned.length === 0) continue;
      const owners = { group, keys: [], isNew: (owner: number) => made.has(owner) };
      const where = condition.kind === 'compare' ? always : condition.where;
      const count = await countMeeting(writing, owners, { ...edge, members: concerned }, where);
      const linking = concerned.filter(
        (member) => isTwice(member) || holdsFor(condition, count(member.owner)) !== false,
      );
      found.push(...linking.flatMap(positionsOf));
    }
  }
  return found;
}

/** Counts the targets of owners that meet a condition, when the links to stored ones are written. */
async function countMeeting(
  writing: Writing,
  owners: Owners,
  edge: Targets,
  where: Condition,
): Promise<(owner: number) => number> {
  const { running, context } = writing;
  const { relation, group, members } = edge;
  const { collections } = context.scope.open;
  const [target, junction] = [collections.get(relation.target), collections.get(relation.junction)];
  if (target === undefined || junction === undefined) throw new PlatformError('FORBIDDEN');
  const textsOf = ({ nodes, writable }: Group, columns: readonly string[]) => {
    const keys = nodes.map(({ key }) => key ?? []);
    return columnTexts(running, writable.collection, keys, columns);
  };
  const near = await textsOf(
    owners.group,
    relation.near.map(({ from }) => from),
  );
  const far = await textsOf(
    group,
    relation.far.map(({ to }) => to),
  );
  // Keys of new owners are not known yet, and nothing is stored of them.
  const nearOf = (owner: number): KeyTexts => (owners.isNew(owner) ? [] : (near[owner] ?? []));
  const all = members.flatMap(({ owner, nodes }) =>
    eachOnce(nodes.map((node) => ({ owner, near: nearOf(owner), far: far[node] ?? [] }))),
  );
  const found = await inspect(writing, owners, edge, context.scope.collections.get(relation.junction), nearOf, all);
  const pairs = all.filter((_, index) => found?.there.has(index) !== true);
  const above = found?.owners ?? [];
  const query = { relation, junction, target, pairs, owners: above.map(nearOf), gone: found?.gone ?? [] };
  const met = await findMeeting(running, context.scope, query, where);
  const meeting = [...met.owners.map((index) => above[index]), ...met.pairs.map((index) => pairs[index]?.owner)];
  const counts = Map.groupBy(meeting, (owner) => owner);
  return (owner) => counts.get(owner)?.length ?? 0;
}

/** A payload may name a target in two places, by its key and as a new one. */
function eachOnce(pairs: readonly OwnedPair[]): readonly OwnedPair[] {
  return [...new Map(pairs.map((pair) => [JSON.stringify([pair.near, pair.far]), pair])).values()];
}

/** Rows of the junction, with the owners in the order of `last`. */
interface Found extends InspectedTargets {
  readonly owners: readonly number[];
}

async function inspect(
  { running, context }: Writing,
  { isNew }: Owners,
  { relation, group, members }: Targets,
  junction: WritableCollection | undefined,
  nearOf: (owner: number) => KeyTexts,
  pairs: readonly Pair[],
): Promise<Found | null> {
  const old = members.filter(({ owner }) => !isNew(owner));
  const removed = members.flatMap(({ owner, removed: keys }) => keys.map((key) => ({ owner, key })));
  if (removed.some(({ owner }) => isNew(owner))) throw new PlatformError('FORBIDDEN');
  if (old.length === 0) return null;
  const collection = context.scope.open.collections.get(relation.junction);
  if (collection === undefined) throw new PlatformError('FORBIDDEN');
  const distinct = [...new Map(removed.map((removal) => [JSON.stringify(removal), removal])).values()];
  const found = await inspectTargets(running, context.scope, {
    relation,
    junction: junction?.collection ?? collection,
    target: group.writable.collection,
    owners: old.map(({ owner, complete }) => ({ values: nearOf(owner), complete })),
    pairs,
    removed: distinct.map(({ owner, key }) => ({ near: nearOf(owner), key })),
    sort: sortField(collection, relation.sort)?.column,
  });
  if (found.removed !== distinct.length) throw new PlatformError('FORBIDDEN');
  return { ...found, owners: old.map(({ owner }) => owner) };
}

/** Makes junction rows, in the order of the payloads. */
async function joinPairs(
  writing: Writing,
  edge: Targets,
  junction: WritableCollection | undefined,
  pairs: readonly OwnedPair[],
  found: Found | null,
): Promise<void> {
  const { running, done } = writing;
  const { step, affected } = prepareJoin(writing, edge, junction, pairs, found);
  try {
    done.push(await runStep(running, step));
    running.endBroken?.(step.plans);
  } catch (error) {
    throw explainViolation(error, [affected]);
  }
}

/** The step that makes junction rows, and how its errors are explained. Throws FORBIDDEN where the caller may not. */
function prepareJoin(
  { context, collections, made }: Writing,
  { relation, members }: Targets,
  junction: WritableCollection | undefined,
  pairs: readonly OwnedPair[],
  found: Found | null,
): { readonly step: Step; readonly affected: AffectedConstraints } {
  const grant = junction && grantFor(junction, junction.create, context.caller);
  if (junction?.create === undefined || grant === undefined) throw new PlatformError('FORBIDDEN');
  const granted: Granted = { writable: junction, grant, all: junction.create };
  const batch = pairBatch(relation, granted, pairs, found);
  const location: Place = members[0]?.place ?? { collection: relation.junction, index: undefined };
  const placeOf = (): Place => ({ ...location, collection: relation.junction });
  const problems = createProblems();
  requireFields({ scope: context.scope, writable: junction, grant, action: 'create' }, batch, placeOf, problems);
  problems.raise();
  const form = pairs.length === 1 ? 'one' : 'many';
  const links = madeLinks(context.scope, made, junction.collection, batch);
  const step = prepareStep(context, granted, 'create', batch, form, { placeOf, collections, made: links });
  const { path } = location;
  const affected = { ...affectedBy(context, granted, batch, placeOf), names: new Set<string>() };
  return {
    step: { ...step, keys: null, lenient: false },
    affected: path === undefined ? affected : { ...affected, path },
  };
}

/** Both keys of each pair, and its position in order where the junction keeps one. */
function pairBatch(
  relation: ManyToMany,
  { writable, grant }: Granted,
  pairs: readonly OwnedPair[],
  found: Found | null,
): Batch {
  const { collection } = writable;
  const near = relation.near.map(({ from, to }) => ({ from: to, to: from }));
  const held = pairsToWrite(writable, [...near, ...relation.far], 'from');
  const holders = [...relation.near.map(({ to }) => to), ...relation.far.map(({ from }) => from)];
  const columns = [...new Set(held.map(({ from }) => from))].flatMap((column) => {
    const part = holders.indexOf(column);
    return fieldsOf(collection, [column]).map((name): BatchColumn => {
      const field = grant.fields.get(name);
      if (field === undefined) throw new PlatformError('FORBIDDEN');
      // Keys of new items are not there before these are.
      const values = pairs.map((pair) => pair.near[part] ?? pair.far[part - near.length] ?? null);
      return { field, values, present: null, linked: true };
    });
  });
  const descriptor = sortField(collection, relation.sort);
  const rules = grant.rules.map((_, index) => index);
  const order = descriptor && { field: grant.fields.get(descriptor.name) ?? { descriptor, rules } };
  const orders = order === undefined ? [] : [{ ...order, values: orderOf(pairs, found), present: null, linked: true }];
  return { count: pairs.length, columns: [...columns, ...orders] };
}

/** Places after the last one of each owner. */
function orderOf(pairs: readonly OwnedPair[], found: Found | null): readonly string[] {
  const last = new Map(found?.owners.map((owner, index) => [owner, found.last[index] ?? 0n]));
  return pairs.map(({ owner }) => {
    const next = (last.get(owner) ?? 0n) + 1n;
    last.set(owner, next);
    return String(next);
  });
}
