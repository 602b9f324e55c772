/** One-to-many relations, and the links of many-to-any ones: removed, linked, made and changed. */
import { PlatformError } from '../../errors.ts';
import type { Place } from '../../json/problems.ts';
import { always, type Condition } from '../../language/index.ts';
import { holdsFor } from '../checks/ahead.ts';
import type { BroughtItems, ReachedRows, TakenItems } from '../checks/check.ts';
import type { Step } from '../execute/running.ts';
import { findMet } from '../execute/step.ts';
import { linkedFields } from './parse/decode-tree.ts';
import {
  type Children,
  type DecodedStep,
  type DecodedSteps,
  fieldsOf,
  type Group,
  type KeyTexts,
  type Members,
  madeNodes,
  sortField,
  type TreeNode,
} from './parse/group.ts';
import { deleteRows, findDeleted, keysOfRows, prepareFirst, unlinkable, unlinkRows, unlinkStep } from './removal.ts';
import { findStaying, type Inspected, inspectChildren } from './resolve/inspect.ts';
import { checkHeld, columnTexts } from './resolve/stored.ts';
import {
  type Above,
  checkEarlierSteps,
  isDecided,
  isLinking,
  isTaking,
  type LinkValues,
  type Owners,
  stepsOn,
  type Writing,
} from './writing.ts';

export async function writeChildren(writing: Writing, owners: Owners, edge: Children): Promise<void> {
  const { relation, group, members } = edge;
  const above = await columnTexts(
    writing.running,
    owners.group.writable.collection,
    owners.keys,
    relation.on.map(({ from }) => from),
  );
  const valuesOf = (owner: number): KeyTexts => above[owner] ?? [];
  for (const { owner, nodes, place: location } of members) if (nodes.length > 0) checkHeld(above[owner], location);
  const inspected = await inspect(writing, owners, edge, valuesOf);
  if (inspected !== null) await removeChildren(writing, edge, inspected);
  await writing.write(group, linkValuesOf(edge, members, valuesOf, inspected));
}

/**
 * Looks at what leaves stored items before anything is written. Gives the step that takes it from them; undefined for
 * none, or where it is deleted. Only some items are `isSettled` by then. Throws FORBIDDEN for what is not there.
 */
export async function findLeaving(
  writing: Writing,
  owners: Owners,
  edge: Children,
  valuesOf: (owner: number) => KeyTexts,
  isSettled: (key: KeyTexts) => boolean,
): Promise<Step | undefined> {
  const inspected = await inspect(writing, owners, edge, valuesOf);
  const rows = [...(inspected?.gone ?? []).filter(isSettled), ...(inspected?.unwanted ?? [])];
  const { writable } = edge.group;
  if (isDeleted(edge)) await findDeleted(writing, writable, rows);
  if (rows.length === 0 || isDeleted(edge)) return undefined;
  return unlinkStep(writing, writable, edge.relation.on, rows, placeOfMembers(edge));
}

function placeOfMembers({ group, members }: Children): Place {
  return members[0]?.place ?? { collection: group.writable.collection.descriptor.name, index: undefined };
}

/** Stored children; null below items that the request made. */
interface Below extends Inspected {
  /** Places of nodes, in the order of `there`. */
  readonly nodes: readonly number[];
  /** Owners, in the order of `last`. */
  readonly owners: readonly number[];
  readonly unwanted: readonly KeyTexts[];
}

async function inspect(
  { running, context }: Writing,
  { isNew }: Owners,
  { relation, group, members }: Children,
  valuesOf: (owner: number) => KeyTexts,
): Promise<Below | null> {
  const old = members.filter(({ owner }) => !isNew(owner));
  const removed = members.flatMap(({ owner, removed: keys }) => keys.map((key) => ({ key, owner })));
  if (removed.some(({ owner }) => isNew(owner))) throw new PlatformError('FORBIDDEN');
  if (old.length === 0) return null;
  const { collection } = group.writable;
  const holders = new Map(members.flatMap(({ owner, nodes }) => nodes.map((node) => [node, owner])));
  const named = [...group.nodes.entries()].flatMap(([node, { key }]) => {
    return key === null ? [] : [{ node, key, owner: valuesOf(holders.get(node) ?? -1) }];
  });
  const distinct = new Map(removed.map((removal) => [JSON.stringify(removal), removal]));
  const requested = [...distinct.values()].map(({ key, owner }) => ({ key, owner: valuesOf(owner) }));
  const found = await inspectChildren(running, context.scope, {
    collection,
    columns: relation.on.map(({ to }) => to),
    owners: old.map(({ owner, complete }) => ({ values: valuesOf(owner), complete })),
    kept: named,
    removed: requested,
    sort: sortField(collection, relation.sort)?.column,
  });
  if (found.removed !== requested.length) throw new PlatformError('FORBIDDEN');
  return {
    ...found,
    nodes: named.map(({ node }) => node),
    owners: old.map(({ owner }) => owner),
    unwanted: requested.map(({ key }) => key),
  };
}

/** Links of a many-to-any are nothing without their owner; children are deleted where that is configured and needed. */
async function removeChildren(writing: Writing, edge: Children, below: Below): Promise<void> {
  const { relation, group } = edge;
  const { writable } = group;
  const location = placeOfMembers(edge);
  const rows = [...below.gone, ...below.unwanted];
  if (isDeleted(edge)) {
    if (rows.length > 0) await writing.running.watcher?.removes(writable.collection.descriptor.name, keysOfRows(rows));
    if (rows.length > 0) await checkEarlierSteps(writing, writable, writable.delete ?? []);
    await deleteRows(writing, writable, rows, location);
  } else await unlinkRows(writing, writable, relation.on, rows, location);
}

function isDeleted({ relation, group: { writable } }: Children): boolean {
  return (
    relation.kind === 'm2a' || (relation.onDeselect === 'delete' && unlinkable(writable, relation.on).length === 0)
  );
}

/** The keys of their owners, and positions in order after the last of those that there are. */
function linkValuesOf(
  { relation, group }: Children,
  members: readonly Members[],
  valuesOf: (owner: number) => KeyTexts,
  below: Below | null,
): LinkValues {
  const linkValues = new Map<string, Map<number, string | null>>();
  const set = (field: string, node: number, value: string | null): void => {
    linkValues.set(field, (linkValues.get(field) ?? new Map<number, string | null>()).set(node, value));
  };
  const held = relation.on.map(({ to }) => fieldsOf(group.writable.collection, [to])[0]);
  const there = new Map([...(below?.there ?? [])].map(([index, order]) => [below?.nodes[index], order]));
  for (const { owner, nodes } of members) {
    let last = below?.last[below.owners.indexOf(owner)] ?? 0n;
    for (const node of nodes) {
      for (const [part, field] of held.entries()) {
        if (field !== undefined) set(field, node, valuesOf(owner)[part] ?? null);
      }
      if (group.sort === undefined || Object.hasOwn(group.nodes[node]?.own ?? {}, group.sort)) continue;
      const stored = there.get(node);
      if (stored === undefined) last += 1n;
      set(group.sort, node, stored === undefined ? String(last) : stored);
    }
  }
  return linkValues;
}

/** Positions of the items above from which the tree may take others, or whose items it changes. */
export async function findTaking(
  writing: Writing,
  { relation, fields, condition }: TakenItems,
  above: Above,
): Promise<readonly number[]> {
  const found: number[] = [];
  const losing: Losing[] = [];
  for (const [group, steps] of writing.drafts) {
    for (const edge of group.children) {
      if (edge.group.writable.collection.descriptor.name !== relation.target) continue;
      const owners = edge.members.filter(isTaking);
      // Items of another relation may be deleted.
      if (owners.length > 0 && !isSameRelation(edge.relation, relation)) return above.all;
      const members = owners.filter(({ owner }) => above.positionOf(group.nodes[owner]) !== undefined);
      if (members.length > 0) losing.push({ group, edge, members });
    }
    if (group.targets.some((edge) => edge.relation.junction === relation.target)) return above.all;
    if (group.writable.collection.descriptor.name !== relation.target) continue;
    // Those that stay below the same item change only by what a condition asks for.
    const links = fieldsOf(
      group.writable.collection,
      relation.on.map(({ to }) => to),
    );
    const others = fields.filter((name) => !links.includes(name));
    const holders = nodesAbove(writing.drafts, group, relation);
    const coming = await findComing(writing, group, stepsOn(steps, links), relation, holders, above);
    const changing = new Set([...changedNodes(stepsOn(steps, others)), ...coming]);
    const nodes = changedNodes(steps).filter((node) => changing.has(node));
    const held = await heldTexts(writing, group, nodes, relation);
    found.push(...held.flatMap((texts) => above.positionsOf(texts)));
  }
  return [...found, ...(await findFreed(writing, losing, { relation, condition }, above))];
}

/** Items above from which payloads take some. */
interface Losing {
  readonly group: Group;
  readonly edge: Children;
  readonly members: readonly Members[];
}

function isSameRelation(first: Children['relation'], other: Children['relation']): boolean {
  return first.name === other.name && JSON.stringify(first.on) === JSON.stringify(other.on);
}

/** Positions of the items for which a condition on those below may hold by those that stay there. */
async function findFreed(
  writing: Writing,
  losing: readonly Losing[],
  { relation, condition }: Pick<TakenItems, 'relation' | 'condition'>,
  above: Above,
): Promise<readonly number[]> {
  const [first] = losing;
  if (first === undefined) return [];
  const { running, context, ended, drafts } = writing;
  const owners = new Map<number, KeyTexts>();
  const gone: KeyTexts[] = [];
  for (const { group, edge, members } of losing) {
    const keys = group.nodes.map(({ key }) => key ?? []);
    const columns = relation.on.map(({ from }) => from);
    const texts = await columnTexts(running, group.writable.collection, keys, columns);
    const valuesOf = (owner: number): KeyTexts => texts[owner] ?? [];
    for (const { owner } of members) owners.set(above.positionOf(group.nodes[owner]) ?? -1, valuesOf(owner));
    const made = madeNodes(drafts, group);
    const isNew = (owner: number): boolean => made.has(owner);
    // Those that were taken are gone already.
    const below = ended.has(edge)
      ? null
      : await inspect(writing, { group, keys, isNew }, { ...edge, members }, valuesOf);
    gone.push(...(below?.gone ?? []), ...(below?.unwanted ?? []));
  }
  const { collection } = first.edge.group.writable;
  const columns = relation.on.map(({ to }) => to);
  const where = condition.kind === 'compare' ? always : condition.where;
  const query = { collection, columns, owners: [...owners.values()], gone };
  const staying = await findStaying(running, context.scope, query, where);
  const counts = Map.groupBy(staying, (position) => position);
  return [...owners.keys()].filter((_, index) => holdsFor(condition, counts.get(index)?.length ?? 0) !== false);
}

/** Positions of the items above below which the tree brings others, or writes others that may meet a condition. */
export async function findBringing(
  writing: Writing,
  { relation, fields, where }: BroughtItems,
  above: Above,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (const [group, drafts] of writing.drafts) {
    if (group.targets.some((edge) => edge.relation.junction === relation.target)) return above.all;
    const steps = stepsOn(drafts, fields);
    if (group.writable.collection.descriptor.name !== relation.target || steps.length === 0) continue;
    const holders = nodesAbove(writing.drafts, group, relation);
    const nodes =
      where === undefined
        ? await findComing(writing, group, steps, relation, holders, above)
        : await findMeetingNodes(writing, group, steps, where);
    if (nodes.some((node) => !holders.has(node))) return above.all;
    found.push(...nodes.flatMap((node) => above.positionOf(holders.get(node)) ?? []));
  }
  return found;
}

/** True if steps that have not begun may write rows so that a condition holds, or write links that wait. */
export async function isWrittenLater(writing: Writing, { name, fields, where }: ReachedRows): Promise<boolean> {
  const { drafts, begun, ended } = writing;
  const isNamed = ({ writable }: Group): boolean => writable.collection.descriptor.name === name;
  for (const [group, steps] of drafts) {
    const isTaken = group.children.some(
      (edge) => isNamed(edge.group) && !ended.has(edge) && edge.members.some(isTaking),
    );
    const isLinked = group.targets.some(
      (edge) => edge.relation.junction === name && !ended.has(edge) && edge.members.some(isLinking),
    );
    if (isTaken || isLinked) return true;
    if (!isNamed(group)) continue;
    if (group.nodes.some(({ later }) => later !== undefined)) return true;
    const left = stepsOn(steps, fields).filter((step) => !begun.has(step));
    if (left.length === 0) continue;
    if (where === undefined || (await findMeetingNodes(writing, group, left, where)).length > 0) return true;
  }
  return false;
}

/** Nodes of the items below which a relation puts those of a group, by the nodes of these. */
function nodesAbove(
  drafts: DecodedSteps,
  group: Group,
  { on }: BroughtItems['relation'],
): ReadonlyMap<number, TreeNode | undefined> {
  const isSame = (edge: Children): boolean =>
    edge.group === group && JSON.stringify(edge.relation.on) === JSON.stringify(on);
  const pairs = [...drafts.keys()].flatMap((parent) => {
    const members = parent.children.filter(isSame).flatMap((edge) => edge.members);
    return members.flatMap(({ owner, nodes }) => nodes.map((node) => [node, parent.nodes[owner]] as const));
  });
  return new Map(pairs);
}

/** Nodes of items that are not yet where they come. */
async function findComing(
  writing: Writing,
  group: Group,
  steps: readonly DecodedStep[],
  relation: BroughtItems['relation'],
  holders: ReadonlyMap<number, TreeNode | undefined>,
  above: Above,
): Promise<readonly number[]> {
  const changed = changedNodes(steps);
  const held = await heldTexts(writing, group, changed, relation);
  const isHeld = (node: number, index: number): boolean =>
    above.positionsOf(held[index] ?? []).includes(above.positionOf(holders.get(node)) ?? -1);
  const staying = new Set(changed.filter(isHeld));
  return steps.flatMap(({ nodes }) => nodes.filter((node) => !staying.has(node)));
}

/** Nodes of items that may meet a condition. */
async function findMeetingNodes(
  writing: Writing,
  group: Group,
  drafts: readonly DecodedStep[],
  where: Condition,
): Promise<readonly number[]> {
  const linkedOf = linkedFields(group);
  const open = group.nodes.flatMap(({ later = [] }, node) => [...linkedOf(node), ...later, group.sort]);
  const meeting: (readonly number[])[] = [];
  for (const draft of drafts) {
    const { step } = prepareFirst(writing, group, draft, draft.batch);
    // Other steps may let its items be changed, or do with it what none does alone.
    const met = isDecided(writing, group, draft)
      ? [...draft.nodes.keys()]
      : await findMet(writing.running, step, where, (field) => !open.includes(field));
    meeting.push(met.flatMap((item) => draft.nodes[item] ?? []));
  }
  return meeting.flat();
}

function changedNodes(steps: readonly DecodedStep[]): readonly number[] {
  return steps.filter(({ action }) => action === 'update').flatMap(({ nodes }) => nodes);
}

/** Values by which stored items of nodes hold those above. */
async function heldTexts(
  { running }: Writing,
  { nodes, writable }: Group,
  changed: readonly number[],
  { on }: BroughtItems['relation'],
): Promise<readonly KeyTexts[]> {
  const keys = changed.map((node) => nodes[node]?.key ?? []);
  const columns = on.map(({ to }) => to);
  return keys.length === 0 ? [] : columnTexts(running, writable.collection, keys, columns);
}
