/**
 * New items that a payload names in several places. One of them creates the item, with all its values, and the others
 * link it. It is the place that is written first, unless only another one gives what the item cannot be without.
 * Source: `docs/decisions/writes.md`.
 */

import { anyOf, keyColumn, sqlTrue } from '../../../dialects/fragment.ts';
import { PlatformError } from '../../../errors.ts';
import { failedValidation } from '../../../json/problems.ts';
import { decodeValue, type JsonValue } from '../../../language/index.ts';
import { readPlaces } from '../../../sql/array-text.ts';
import { listedForm, operandType } from '../../../sql/operand.ts';
import { readable } from '../../../sql/readable.ts';
import { tableRow } from '../../../sql/row.ts';
import { type CollectionScope, keyFields } from '../../../sql/scope.ts';
import type { WriteScope } from '../../access/scope.ts';
import { isEveryRow } from '../../checks/check.ts';
import type { Batch } from '../../decode/batch.ts';
import type { Running } from '../../execute/running.ts';
import { selectLocked } from '../../plan/plan-update.ts';
import {
  type Before,
  type Group,
  groupsOf,
  holdersOf,
  isEmptied,
  itemId,
  type KeyTexts,
  type TreeNode,
} from '../parse/group.ts';
import { ask, inputRows, keyEqual, type Question, startQuestion } from './stored.ts';

/** One place of a payload that names an item which is not there. */
interface Reference {
  readonly group: Group;
  readonly node: TreeNode;
  readonly key: KeyTexts;
}

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

/** The fields of a batch by which all its items hold keys of items that the request has made. */
export function madeLinks(
  { open }: WriteScope,
  made: ReadonlySet<string>,
  collection: CollectionScope,
  { count, columns }: Batch,
): ReadonlySet<string> {
  const links = [...collection.relations.values()].flatMap(({ descriptor }): readonly string[] => {
    const target = open.collections.get(descriptor.target);
    if (descriptor.kind !== 'm2o' || target === undefined) return [];
    const fields = holdersOf(collection, descriptor.on, 'from');
    const parts = keyFields(target.descriptor).map(({ column }) => descriptor.on.findIndex(({ to }) => to === column));
    const held = parts.map((part) => columns.find(({ field }) => field.descriptor.name === fields[part])?.values);
    const isMadeItem = (item: number): boolean => {
      const key = held.map((values) => values?.[item] ?? null);
      return key.every((text) => text !== null) && made.has(itemId(descriptor.target, key));
    };
    const isWhole =
      fields.length === parts.length && Array.from({ length: count }, (_, item) => item).every(isMadeItem);
    return fields.length > 0 && isWhole ? fields : [];
  });
  return new Set(links);
}

/** Leaves one place that makes each new item. Throws what `missing` gives for one that is neither there nor made. */
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

export interface Placed {
  readonly group: Group;
  /** Edges to what is written first, from the top to the group, each with the group that it starts from. */
  readonly way: readonly { readonly from: Group; readonly edge: Before }[];
}

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

/** True if there is an item for a node. An object with a key that is not there is made. */
export type Found = (node: TreeNode) => boolean;

/** Nodes of a group whose items have to be looked for. */
interface ExistenceQuery {
  readonly group: Group;
  readonly nodes: readonly TreeNode[];
}

/** The groups of a tree in which items have to be looked for: all that have keys, but for those that the request is about. */
export function existenceQueries(root: Group): readonly ExistenceQuery[] {
  return groupsOf(root).flatMap((group) => {
    const nodes = group === root ? [] : group.nodes.filter(({ form }) => form !== 'create');
    return nodes.length === 0 ? [] : [{ group, nodes }];
  });
}

/** The same with its nodes in an order that all transactions have: their items are locked in it. */
function inOrderOfKeys({ group, nodes }: ExistenceQuery): ExistenceQuery {
  const named = nodes.map((node) => ({ node, text: JSON.stringify(node.key) }));
  named.sort((first, second) => (first.text < second.text ? -1 : 1));
  return { group, nodes: named.map(({ node }) => node) };
}

/** Looks for items. Throws FORBIDDEN for a hidden one. */
export async function findExisting(
  running: Running,
  scope: WriteScope,
  queries: readonly ExistenceQuery[],
): Promise<Found> {
  const { found, hidden } = await lookFor(running, scope, queries);
  if (hidden.size > 0) throw new PlatformError('FORBIDDEN');
  return (node) => found.has(node);
}

/** Items of a tree that are there. `isTaken` tells that hidden ones have keys by which the payload would make items. */
interface Named {
  readonly found: Found;
  readonly isTaken: boolean;
}

/** Looks for the items of a tree. Throws FORBIDDEN for a hidden one, unless the payload would make it if it were missing. */
export async function findNamed(running: Running, scope: WriteScope, root: Group): Promise<Named> {
  const { found, hidden } = await lookFor(running, scope, existenceQueries(root));
  if (hidden.size > 0) {
    const making = groupsOf(root).flatMap((group) =>
      group.nodes.flatMap((node) => (isMade(node, () => false) ? (idOf(group, node) ?? []) : [])),
    );
    const made = new Set(making);
    for (const [node, group] of hidden) if (!made.has(idOf(group, node) ?? '')) throw new PlatformError('FORBIDDEN');
  }
  return { found: (node) => found.has(node), isTaken: hidden.size > 0 };
}

function idOf(group: Group, node: TreeNode): string | undefined {
  const key = keyOfNode(group, node);
  return key && itemId(group.writable.collection.descriptor.name, key);
}

/** Items that are there: those that the caller may read, and hidden ones. */
interface LookedFor {
  readonly found: ReadonlySet<TreeNode>;
  readonly hidden: ReadonlyMap<TreeNode, Group>;
}

async function lookFor(running: Running, scope: WriteScope, queries: readonly ExistenceQuery[]): Promise<LookedFor> {
  if (queries.length === 0) return { found: new Set(), hidden: new Map() };
  const question = startQuestion(running.dialect);
  const { collectedArray: arrayOf, locksSorted } = running.dialect.input;
  const requested = locksSorted ? queries : queries.map(inOrderOfKeys);
  // A table of the project without its schema may have any shorter name.
  const nameOf = (index: number): string => `platform_group_${index}`;
  const parts = requested.map((entry, index) => printQuery(question, scope, entry, nameOf(index)));
  const answers = requested.flatMap((_, index) => [
    `(SELECT ${arrayOf({ value: 'n' })} FROM ${nameOf(index)})`,
    `(SELECT ${arrayOf({ value: 'n', only: 'r' })} FROM ${nameOf(index)})`,
  ]);
  const row = await ask(running, question, `WITH ${parts.join(', ')} SELECT ${answers.join(', ')}`);
  const found = new Set<TreeNode>();
  const hidden = new Map<TreeNode, Group>();
  for (const [index, { group, nodes }] of requested.entries()) {
    const there = new Set(readPlaces(row[index * 2]));
    const visible = new Set(readPlaces(row[index * 2 + 1]));
    for (const [position, node] of nodes.entries()) {
      if (visible.has(position)) found.add(node);
      else if (there.has(position)) hidden.set(node, group);
    }
  }
  return { found, hidden };
}

/** Returns the error for a missing item: FORBIDDEN, or more for a caller who may read everything. */
export function missing(
  { read }: WriteScope,
  { writable, loose }: Group,
  { place: location }: TreeNode,
): PlatformError {
  const rows = read.collections.get(writable.collection.descriptor.name)?.rows ?? [];
  if (!loose || !rows.some(isEveryRow)) return new PlatformError('FORBIDDEN');
  return failedValidation(location, null, 'foreign_key', 'is not there');
}

function printQuery(question: Question, scope: WriteScope, { group, nodes }: ExistenceQuery, name: string): string {
  const { collection } = group.writable;
  const { descriptor } = collection;
  const { statement } = question;
  const { dialect } = statement;
  const alias = statement.alias();
  const fields = keyFields(descriptor);
  const columns = fields.map((field, part) => {
    const values = nodes.map(({ key }) => key?.[part] ?? null);
    return { name: `k${part}`, ...listedForm(field), values };
  });
  const input = inputRows(question, columns, 'i');
  const keys = fields.map((field) => keyColumn(`${alias}.${field.column}`, field));
  const equal = keyEqual(dialect, collection, alias, 'i');
  const readScope = scope.read.collections.get(descriptor.name);
  const visible = readScope === undefined ? anyOf([]) : readable(tableRow(statement, scope.read, readScope, alias));
  // Links to targets only keep them from being deleted; all others are going to be changed.
  const lock = nodes.every(({ form }) => form === 'link') && group.owned.length === 0 ? 'KEY SHARE' : 'NO KEY UPDATE';
  const from = `${input}${dialect.input.join}${statement.table(descriptor.table)} AS ${alias} ON ${equal}`;
  const selected = `i.n, (${visible}) IS TRUE AS r`;
  return `${name} AS (${selectLocked(dialect, { descriptor, selected, from, rows: sqlTrue, alias, keys, lock })})`;
}
