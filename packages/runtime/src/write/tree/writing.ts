/** State that the parts of a tree share while it is written. */

import type { PlatformError } from '../../errors.ts';
import type { Place } from '../../json/problems.ts';
import type { Condition, ManyToOne, Truth } from '../../language/index.ts';
import { not, some } from '../../language/operators/definition.ts';
import { derivedOnce } from '../../language/values/once.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import type { WritableCollection } from '../access/scope.ts';
import { countsWritten, isApart, isEmptyAtFirst, meetsCount, reachTest, tablesOf } from '../checks/ahead.ts';
import { changedNames } from '../checks/check.ts';
import { brokenRules, holds, isSent, linkedKey } from '../checks/known-values.ts';
import type { Batch } from '../decode/batch.ts';
import type { Running, StepItem } from '../execute/running.ts';
import type { StepDone } from '../execute/step.ts';
import { namesOf, type WriteContext } from '../write-plan.ts';
import {
  type Children,
  type DecodedStep,
  type DecodedSteps,
  type Group,
  itemId,
  type KeyTexts,
  type Members,
  type Targets,
  type TreeNode,
} from './parse/group.ts';
import { keyOfNode } from './resolve/references.ts';

/** A tree while it is written. */
export interface Writing {
  readonly running: Running;
  readonly context: WriteContext;
  readonly drafts: DecodedSteps;
  readonly collections: ReadonlySet<string>;
  /** Steps whose permission check has to wait. */
  readonly done: StepDone[];
  /** Drafts whose steps have begun. */
  readonly begun: Set<DecodedStep>;
  /** Relations whose items are written, with their links. */
  readonly ended: Set<Children | Targets>;
  /** Items that the request has made so far, as `itemId` names them. */
  readonly made: Set<string>;
  /** Latest steps that have written items whose links wait, by the items. */
  readonly linking: Map<string, StepDone>;
  /** Steps of which a later one has written an item again. */
  readonly replaced: Set<StepDone>;
  /** Links that wait until everything is written. */
  readonly later: LaterLink[];
  /** Writes a group with all below it; gives the key of every node. */
  write(group: Group, above: LinkValues): Promise<readonly KeyTexts[]>;
}

/** Values of fields that other items decide, by the field's name and the positions of nodes. */
export type LinkValues = ReadonlyMap<string, ReadonlyMap<number, string | null>>;

/** Items of a group that has been written. */
export interface Owners {
  readonly group: Group;
  readonly keys: readonly KeyTexts[];
  /** True if the request made a node's item. */
  isNew(node: number): boolean;
}

export interface LaterLink {
  readonly group: Group;
  readonly key: KeyTexts;
  readonly field: string;
  readonly value: string;
}

/** Notes items of a step whose links wait, and earlier steps of the same items, whose links it may replace. */
export function noteLinks({ linking, replaced }: Writing, step: StepDone, itemsOf: () => readonly string[]): void {
  if (linking.size === 0 && !step.waitsForLinks) return;
  for (const item of itemsOf()) {
    const earlier = linking.get(item);
    if (earlier !== undefined) replaced.add(earlier);
    if (step.waitsForLinks) linking.set(item, step);
  }
}

/** Collects rules that a draft which is not written breaks by the values of the payload. Throws FORBIDDEN. */
export function collectKnown(
  writing: Writing,
  group: Group,
  draft: DecodedStep,
  collect: (violation: PlatformError) => void,
): void {
  const { batch, granted } = draft;
  const names = namesOf(batch, [...group.owned, group.sort]);
  const others = (condition: Condition, item: number) =>
    truthLinked(writing, group, draft, condition, item) ?? truthBelow(writing, group, draft, condition, item);
  const payload = { batch, placeOf: placesOf(group, draft), names, others };
  const broken = writing.begun.has(draft) ? undefined : brokenRules(granted.grant, payload, undefined);
  if (broken?.code === 'FORBIDDEN') throw broken;
  if (broken !== undefined) collect(broken);
}

/** Truth of a condition on the item that a link leads to, where the payload writes both items once. */
function truthLinked(
  { context, drafts }: Writing,
  group: Group,
  draft: DecodedStep,
  condition: Condition,
  item: number,
): Truth {
  const { collection } = group.writable;
  const link = condition.kind === 'related' ? collection.relations.get(condition.relation)?.descriptor : undefined;
  const target = link && context.scope.open.collections.get(link.target)?.descriptor;
  if (condition.kind !== 'related' || condition.quantifier !== 'one' || link?.kind !== 'm2o') return undefined;
  const node = group.nodes[draft.nodes[item] ?? -1];
  const itemKey = (node && keyOfNode(group, node)) ?? [];
  const writes = writesOf(drafts, collection.descriptor.name, itemKey);
  if (writes.some((written) => written.draft.nodes !== draft.nodes)) return undefined;
  if (isUnlinked(collection, draft, link, item)) return false;
  const key = target && linkedKey(draft.batch, item, link, target);
  if (key === undefined) return undefined;
  const [only, ...others] = writesOf(drafts, link.target, key);
  return others.length > 0 ? undefined : truthOf(only, condition.where);
}

/** True if an item has no link, as the payload says, or leaves it to a column without a default. */
function isUnlinked(
  { descriptor }: CollectionScope,
  { action, batch, granted }: DecodedStep,
  { on }: ManyToOne,
  item: number,
): boolean {
  const presets = granted.grant.rules.flatMap((rule) => rule.presets.map(({ field }) => field));
  return descriptor.fields.some(({ name, column, fallback }) => {
    if (!on.some(({ from }) => from === column)) return false;
    const sent = batch.columns.find(({ field }) => field.descriptor.name === name);
    if (sent !== undefined && (sent.present?.[item] ?? true)) return isSent(sent, item) && sent.values[item] === null;
    return action === 'create' && fallback === undefined && !presets.includes(name);
  });
}

/** True if a step that has not begun writes what a link leads to. It may, where the key is the stored one or a preset. */
export function awaits({ context, drafts, begun }: Writing, link: ManyToOne, batch: Batch, item: number): boolean {
  const target = context.scope.open.collections.get(link.target)?.descriptor;
  // The same data for all items stands in the batch once.
  const position = batch.count === 1 ? 0 : item;
  const holders = batch.columns.filter(({ field }) => link.on.some(({ from }) => from === field.descriptor.column));
  if (holders.some((column) => isSent(column, position) && column.values[position] === null)) return false;
  const key = target && linkedKey(batch, item, link, target);
  const isAhead = (draft: DecodedStep): boolean => !begun.has(draft);
  if (key !== undefined) return writesOf(drafts, link.target, key).some(({ draft }) => isAhead(draft));
  return [...drafts].some(
    ([{ writable }, steps]) => writable.collection.descriptor.name === link.target && steps.some(isAhead),
  );
}

/** True if other steps decide which rules let the items of a draft be changed. */
export function isDecided(writing: Writing, { writable, nodes: all }: Group, { granted, nodes }: DecodedStep): boolean {
  const { drafts } = writing;
  const { name } = writable.collection.descriptor;
  if (areDecided(writing, writable, granted.grant.rules)) return true;
  return nodes.some((index) => writesOf(drafts, name, all[index]?.key ?? []).length > 1);
}

/** True if steps decide which rows rules let be changed. */
export function areDecided(
  { context, drafts, collections }: Writing,
  { collection }: WritableCollection,
  rules: readonly { readonly where: Condition }[],
): boolean {
  const changed = changedBy(drafts);
  return !rules.every(({ where }) => isApart(context.scope.open, collection, where, collections, changed));
}

interface DraftItem {
  readonly group: Group;
  readonly draft: DecodedStep;
  readonly item: number;
}

/** Items of drafts by their nodes, and by their keys as `itemId` names them. */
const draftItems = derivedOnce((drafts: DecodedSteps) => {
  const items = [...drafts].flatMap(([group, steps]) =>
    steps.flatMap((draft) => draft.nodes.map((index, item) => ({ draft, item, group, node: group.nodes[index] }))),
  );
  const byKey = Map.groupBy(items, ({ group, node }) => {
    const key = node && keyOfNode(group, node);
    return key && itemId(group.writable.collection.descriptor.name, key);
  });
  return { byNode: new Map(items.map((written) => [written.node, written])), byKey };
});

/** Collections of which drafts change stored rows: they write them, or take them from items above. */
const changedBy = derivedOnce((drafts: DecodedSteps) => writtenBy(drafts, ({ action }) => action === 'update'));

/** Collections that some drafts write, or of which they take items from those above, and junctions whose links they change. */
export function writtenBy(
  drafts: DecodedSteps,
  isCounted: (step: DecodedStep) => boolean = () => true,
): ReadonlySet<string> {
  const nameOf = ({ writable }: Group): string => writable.collection.descriptor.name;
  return new Set(
    [...drafts].flatMap(([group, steps]) => [
      ...(steps.some(isCounted) ? [nameOf(group)] : []),
      ...group.children.flatMap((edge) => (edge.members.some(isTaking) ? [nameOf(edge.group)] : [])),
      ...group.targets.flatMap((edge) => (edge.members.some(isLinking) ? [edge.relation.junction] : [])),
    ]),
  );
}

/** Items of a step, by their positions in a list, below which the request may change others. */
export interface Above {
  readonly all: readonly number[];
  /** Finds the item of a node. */
  positionOf(node: TreeNode | undefined): number | undefined;
  /** Finds items whose keys have all these values. */
  positionsOf(texts: KeyTexts): readonly number[];
}

export function createAbove(items: readonly StepItem[]): Above {
  const keys = items.map(({ key, node }) => key ?? node?.key ?? []);
  const byNode = new Map(items.map(({ node }, position) => [node, position]));
  const byKey = new Map(keys.map((key, position) => [JSON.stringify(key), position]));
  const parts = keys.flatMap((key, position) => key.map((part) => ({ part, key, position })));
  const byPart = Map.groupBy(parts, ({ part }) => part);
  return {
    all: [...items.keys()],
    positionOf(node) {
      if (node === undefined) return undefined;
      return byNode.get(node) ?? (node.key === null ? undefined : byKey.get(JSON.stringify(node.key)));
    },
    positionsOf([first = '', ...others]) {
      const holding = byPart.get(first)?.filter(({ key }) => others.every((text) => key.includes(text)));
      return holding?.map(({ position }) => position) ?? [];
    },
  };
}

/** Steps that make items, or change one of these fields. Default: any field counts. */
export function stepsOn(steps: readonly DecodedStep[], fields?: readonly string[]): readonly DecodedStep[] {
  return steps.filter(({ action, batch: { columns }, granted: { grant } }) => {
    const isChanging = (name: string): boolean => fields?.includes(name) !== false;
    return action === 'create' || changedNames({ columns, grant }).some(isChanging);
  });
}

/** True if a payload may take items from those above. */
export function isTaking({ complete, removed }: Members): boolean {
  return complete || removed.length > 0;
}

/** True if a payload may change what links of an item lead to. */
export function isLinking(member: Members): boolean {
  return member.nodes.length > 0 || isTaking(member);
}

/** Members of a relation by the nodes above. */
const membersByOwner = derivedOnce((members: readonly Members[]) => Map.groupBy(members, ({ owner }) => owner));

/** Items of drafts of a collection that have a key. */
export function writesOf(drafts: DecodedSteps, collection: string, key: KeyTexts): readonly DraftItem[] {
  return draftItems(drafts).byKey.get(itemId(collection, key)) ?? [];
}

/** Truth of a condition on items below a new one: what the payload makes, and stored ones, which may be anything. */
function truthBelow(
  { context, drafts }: Writing,
  group: Group,
  { action, nodes }: DecodedStep,
  condition: Condition,
  item: number,
): Truth {
  if (action !== 'create' || condition.kind === 'and' || condition.kind === 'or') return undefined;
  const { open } = context.scope;
  const { collection } = group.writable;
  const name = condition.kind === 'related' ? condition.relation : condition.field;
  const edge = [...group.children, ...group.targets].find(({ relation }) => relation.name === name);
  if (edge === undefined || !isEmptyAtFirst(open, collection, edge.relation)) return undefined;
  const { relation, members } = edge;
  const reached = tablesOf(relation);
  const others = [...drafts.keys()].filter((other) => other !== edge.group);
  if (others.some(({ writable }) => reached.includes(writable.collection.descriptor.name))) return undefined;
  const { softDelete, tenant } = edge.group.writable.collection.descriptor;
  const isHiding = softDelete !== undefined || tenant !== undefined;
  const below = (membersByOwner(members).get(nodes[item] ?? -1) ?? []).flatMap((member) => member.nodes);
  if (condition.kind === 'compare')
    return isHiding || (relation.kind === 'm2m' && below.length > 0) ? undefined : meetsCount(condition, below.length);
  const written = below.map((node) => draftItems(drafts).byNode.get(edge.group.nodes[node]));
  const found = some(
    written.map((made) => (made?.draft.action === 'create' ? truthOf(made, condition.where) : undefined)),
  );
  if (condition.quantifier === 'none') return isHiding ? undefined : not(found);
  return found === true ? undefined : found;
}

/** Truth of a condition on an item, as far as its draft tells. */
function truthOf(written: DraftItem | undefined, condition: Condition): Truth {
  return written && holds(condition, written.draft.batch, written.item);
}

/** The batch with the values of links that are known, by the nodes of its items. */
export function fillBatch(batch: Batch, nodes: readonly number[], linkValues: LinkValues): Batch {
  const columns = batch.columns.map((column) => {
    const completed = linkValues.get(column.field.descriptor.name);
    if (completed === undefined) return column;
    return {
      ...column,
      values: nodes.map((index, item) =>
        completed.has(index) ? (completed.get(index) ?? null) : (column.values[item] ?? null),
      ),
    };
  });
  return { ...batch, columns };
}

/** Places of the items of a draft in the body. */
export function placesOf({ nodes: all, writable }: Group, { nodes }: DecodedStep): (item: number) => Place {
  const { name } = writable.collection.descriptor;
  return (item) => all[nodes[item] ?? -1]?.place ?? { collection: name, index: undefined };
}

/** Judges earlier steps before one that depends on them. Else two steps could grant each other. */
export async function checkEarlierSteps(
  { context, collections, done }: Writing,
  { collection }: WritableCollection,
  rules: readonly { readonly where: Condition }[],
): Promise<void> {
  const { open } = context.scope;
  const counts = reachTest(new Set(done.map((step) => step.collection)));
  if (!rules.some(({ where }) => countsWritten(open, collection, where, collections, counts))) return;
  for (const step of done) await step.checkEarly();
}
