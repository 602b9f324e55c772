/**
 * New items that a payload names in several places. One of them creates the item, with all its values, and the others
 * link it. It is the place that is written first, unless only another one gives what the item cannot be without.
 * Source: `docs/decisions/writes.md`.
 */
import type { PlatformError } from '../../../errors.ts';
import { decodeValue, type JsonValue } from '../../../language/index.ts';
import { operandType } from '../../../sql/operand.ts';
import { keyFields } from '../../../sql/scope.ts';
import type { Before, Group, KeyTexts, TreeNode } from '../parse/group.ts';
import { isEmptied } from '../removal.ts';
import type { Found } from './find-existing.ts';

/** One place of a payload that names an item which is not there. */
interface Reference {
  readonly group: Group;
  readonly node: TreeNode;
  readonly key: KeyTexts;
}

/** True if a node's item will be made. */
export function isMade(node: TreeNode, found: Found): boolean {
  return node.form === 'create' || (node.form === 'either' && !found(node));
}

/** The key of a new item as far as the payload says it; undefined where the database or the relation decide. */
export function keyOfNode({ writable }: Group, { key, own: fields }: TreeNode): KeyTexts | undefined {
  if (key !== null) return key;
  if (!writable.collection.descriptor.key.every((name) => Object.hasOwn(fields, name))) return undefined;
  const parts = keyFields(writable.collection.descriptor).map((field) => {
    const decoded = decodeValue(operandType(field), fields[field.name] ?? null);
    return decoded.ok ? decoded.value : null;
  });
  return parts.length > 0 && parts.every((part) => part !== null) ? parts : undefined;
}

/** Names an item among those of all collections. */
export function itemId(collection: string, key: KeyTexts): string {
  return JSON.stringify([collection, ...key]);
}

/**
 * Leaves one place that makes each new item. Throws what `missing` gives for an item that is neither there nor created.
 * An item that is to be created in two places is left to the database, which takes one.
 */
export function resolveReferences(
  root: Group,
  found: Found,
  missing: (group: Group, node: TreeNode) => PlatformError,
): Group {
  const replaced = new Map<TreeNode, TreeNode>();
  for (const references of Map.groupBy(referencesIn(root, found), ({ group, key }) =>
    itemId(group.writable.collection.descriptor.name, key),
  ).values()) {
    const [first, ...others] = references;
    if (first === undefined) continue;
    const makers = references.filter(({ node }) => isMade(node, found));
    if (makers.length === 0) throw missing(first.group, first.node);
    if (others.length === 0 || makers.filter(({ node }) => node.form === 'create').length > 1) continue;
    const creator = references.find((reference) => completes(reference, references)) ?? first;
    replaced.set(creator.node, creatorOf(creator, references));
    for (const other of references) if (other !== creator) replaced.set(other.node, linkOf(creator, other));
  }
  if (replaced.size === 0) return root;
  return replaceGroups(root, (_, group) => {
    return { ...group, nodes: group.nodes.map((node) => replaced.get(node) ?? node) };
  });
}

/** Places that name items which are not there, in the order in which they are written. */
function referencesIn(root: Group, found: Found): readonly Reference[] {
  return inOrder(root).flatMap(({ group }) =>
    group.nodes.flatMap((node): readonly Reference[] => {
      const stored = found(node) || (group === root && node.form === 'update');
      const key = stored ? undefined : keyOfNode(group, node);
      return key === undefined ? [] : [{ group, node, key }];
    }),
  );
}

function creatorOf({ group, node, key }: Reference, references: readonly Reference[]): TreeNode {
  const names = keyFields(group.writable.collection.descriptor).map(({ name }) => name);
  const nodes = references.map((reference) => reference.node);
  const fields: Record<string, JsonValue> = {};
  for (const [part, name] of names.entries()) fields[name] = key[part] ?? null;
  for (const other of nodes) Object.assign(fields, other.own);
  for (const name of group.owned) delete fields[name];
  const fullest = nodes.reduce((largest, other) => (sizeOf(other) > sizeOf(largest) ? other : largest));
  const sources = nodes.flatMap((other) => other.sources);
  return { ...node, form: 'create', key, own: { ...fields }, place: fullest.place, sources };
}

function sizeOf({ own: fields }: TreeNode): number {
  return Object.keys(fields).length;
}

/** True if the relation of a mention sets a field that the new item requires and that no payload sets. */
function completes({ group }: Reference, references: readonly Reference[]): boolean {
  return group.owned.some((name) => {
    return !isEmptied(group.writable, name) && !references.some(({ node }) => Object.hasOwn(node.own, name));
  });
}

/** Turns a mention into a link. It keeps its values for fields that the relation of the creating mention sets. */
function linkOf(creator: Reference, { node, key }: Reference): TreeNode {
  const fields = Object.fromEntries(Object.entries(node.own).filter(([name]) => creator.group.owned.includes(name)));
  return { ...node, form: 'link', key, own: fields, sources: [] };
}

/** A group with the way to it. */
export interface Placed {
  readonly group: Group;
  /** Edges to what is written first, from the top to the group, each with the group that it starts from. */
  readonly way: readonly { readonly from: Group; readonly edge: Before }[];
}

/** Groups in the order in which their items are written. */
export function inOrder(group: Group, way: Placed['way'] = []): readonly Placed[] {
  const { before, children, targets } = group;
  const through = (edge: Before) => inOrder(edge.group, [...way, { from: group, edge }]);
  return [
    ...before.filter(({ behind }) => behind === undefined).flatMap(through),
    { group, way },
    ...[...children, ...targets].flatMap((edge) => inOrder(edge.group, way)),
    ...before.filter(({ behind }) => behind !== undefined).flatMap(through),
  ];
}

/** The same tree with groups replaced, from the leaves up; their edges may be replaced, too. */
export function replaceGroups(group: Group, replace: (group: Group, replaced: Group) => Group): Group {
  const below = <E extends { readonly group: Group }>(edges: readonly E[]): readonly E[] =>
    edges.map((edge) => ({ ...edge, group: replaceGroups(edge.group, replace) }));
  const { before, children, targets } = group;
  return replace(group, { ...group, before: below(before), children: below(children), targets: below(targets) });
}
