/** Groups → batches: the new and changed items of a tree, decoded against the caller's inputs. */
import type { Problems } from '../../../json/problems.ts';
import { type CollectionScope, keyFields } from '../../../sql/scope.ts';
import { type Granted, grantFor, type WritableField, type WriteGrant, type WriteScope } from '../../access/scope.ts';
import { isLate } from '../../checks/check.ts';
import { type Batch, type BatchBuilder, createBatch } from '../../decode/batch.ts';
import { decodeItem, hashBatch, requireFields } from '../../decode/decode.ts';
import type { WriteContext } from '../../write-plan.ts';
import type { Found } from '../resolve/references.ts';
import {
  type Before,
  type DecodedStep,
  type DecodedSteps,
  fieldsOf,
  type Group,
  groupsOf,
  type TreeNode,
} from './group.ts';

/** Decodes a tree as far as the caller may write it; errors go to `problems`. */
export function decodeTree(context: WriteContext, root: Group, found: Found, problems: Problems): DecodedSteps {
  return new Map(groupsOf(root).map((group) => [group, decodeGroup(context, group, found, problems)]));
}

export async function hashDecoded(context: WriteContext, decoded: DecodedSteps): Promise<DecodedSteps> {
  const hashed = new Map<Group, readonly DecodedStep[]>();
  for (const [group, steps] of decoded) {
    const done: DecodedStep[] = [];
    for (const step of steps) done.push({ ...step, batch: await hashBatch(context, step.granted, step.batch) });
    hashed.set(group, done);
  }
  return hashed;
}

function decodeGroup(context: WriteContext, group: Group, found: Found, problems: Problems): readonly DecodedStep[] {
  const places = [...group.nodes.keys()];
  const linked = linkedFields(group);
  const is = (action: 'create' | 'update') => (index: number) => {
    const node = group.nodes[index];
    return node !== undefined && actionOf(group, node, linked(index), found) === action;
  };
  return [
    ...decodeStep(context, group, 'create', places.filter(is('create')), linked, problems),
    ...decodeStep(context, group, 'update', places.filter(is('update')), linked, problems),
  ];
}

/** Names of the fields that a node gets from other items, by its position. */
export function linkedFields({ owned, before }: Group): (index: number) => readonly string[] {
  if (before.length === 0) return () => owned;
  const held = new Map<number, string[]>();
  for (const { fields, links } of before) {
    for (const { owner } of links) held.set(owner, [...(held.get(owner) ?? []), ...fields]);
  }
  return (index) => [...new Set([...owned, ...(held.get(index) ?? [])])];
}

function actionOf(
  { writable, path }: Group,
  node: TreeNode,
  linked: readonly string[],
  found: Found,
): 'create' | 'update' | null {
  if (node.form === 'create' || (node.form === 'either' && !found(node))) return 'create';
  // Items at the top of an update are always changed. Below them an object with nothing but its key is a link, and a
  // link changes the item that holds it.
  if (path === '' && node.form === 'update') return 'update';
  const { key } = writable.collection.descriptor;
  return !isBare(node, key) || linked.some((name) => !key.includes(name)) ? 'update' : null;
}

/** True if a payload says nothing of an item but its key. */
function isBare({ relations, own: fields }: TreeNode, key: readonly string[]): boolean {
  return relations.length === 0 && Object.keys(fields).every((name) => key.includes(name));
}

function decodeStep(
  context: WriteContext,
  group: Group,
  action: 'create' | 'update',
  nodes: readonly number[],
  linked: (index: number) => readonly string[],
  problems: Problems,
): readonly DecodedStep[] {
  if (nodes.length === 0) return [];
  const { writable } = group;
  const all = writable[action];
  const grant = grantFor(writable, all, context.caller);
  // A singleton is made by its own route only, which looks whether there is one.
  const another = action === 'create' && group.path !== '' && writable.collection.descriptor.singleton;
  if (all === undefined || grant === undefined || another) {
    problems.forbid();
    return [];
  }
  const input = { scope: context.scope, writable, grant, action };
  const builder = createBatch(writable.collection.descriptor);
  for (const [item, index] of nodes.entries()) {
    const node = group.nodes[index];
    if (node === undefined) continue;
    decodeItem(input, item, node.own, node.place, builder, problems);
    linkItem(group, grant, action, item, node, linked(index), builder, problems);
  }
  const batch = builder.finish(nodes.length);
  const { name } = writable.collection.descriptor;
  const placeOf = (item: number) => group.nodes[nodes[item] ?? -1]?.place ?? { collection: name, index: undefined };
  if (action === 'create') requireFields(input, batch, placeOf, problems);
  return [{ granted: { writable, grant, all }, action, nodes, batch, named: namedBy(group, grant, nodes, problems) }];
}

function linkItem(
  { writable, sort }: Group,
  grant: WriteGrant,
  action: 'create' | 'update',
  item: number,
  node: TreeNode,
  linked: readonly string[],
  builder: BatchBuilder,
  problems: Problems,
): void {
  const { key } = writable.collection.descriptor;
  for (const name of linked) {
    if (action === 'update' && key.includes(name)) continue;
    const field = grant.fields.get(name);
    if (field === undefined) problems.forbid();
    else builder.link(item, field);
  }
  const counted = sort === undefined || Object.hasOwn(node.own, sort) ? undefined : orderField(writable, grant, sort);
  if (counted !== undefined) builder.link(item, counted);
}

/** The server may fill the sort field for a caller who may write the relation. */
function orderField({ collection }: Granted['writable'], grant: WriteGrant, sort: string): WritableField | undefined {
  const descriptor = collection.descriptor.fields.find(({ name }) => name === sort);
  return grant.fields.get(sort) ?? (descriptor && { descriptor, rules: grant.rules.map((_, index) => index) });
}

/** The rules that list each relation of the payloads. */
function namedBy(
  group: Group,
  grant: WriteGrant,
  nodes: readonly number[],
  problems: Problems,
): readonly (readonly number[])[] {
  const names = new Set(nodes.flatMap((index) => group.nodes[index]?.relations ?? []));
  return [...names].sort().map((name) => {
    const rules = grant.rules.flatMap((rule, index) => (rule.fields.includes(name) ? [index] : []));
    if (rules.length === 0) problems.forbid();
    return rules;
  });
}

/** Values of fields that hold keys, by field and then by the node that holds them. */
type KeyLinks = ReadonlyMap<string, ReadonlyMap<number, string>>;

/**
 * The keys that items at the top hold, where payloads name stored items by nothing but these. The statement that writes
 * the items checks the links then: that they lead somewhere, and that the caller may read what is there.
 * Undefined where a tree says more, or where that does not check it.
 */
export function keyLinks(
  scope: WriteScope,
  { before, children, targets, nodes, writable }: Group,
): KeyLinks | undefined {
  const { descriptor } = writable.collection;
  // System hooks look at what is written, and triggers may make what is linked.
  const isWatched = descriptor.system === true || descriptor.amended === true;
  if (before.length === 0 || children.length + targets.length > 0 || isWatched) return undefined;
  if (!before.every((edge) => isKeyed(edge) && isGuaranteed(scope, writable.collection, edge))) return undefined;
  const links = before.flatMap(valuesOfEdge);
  const isSet = ([name, values]: (typeof links)[number]): boolean =>
    nodes.some(({ form, own: fields }, owner) => {
      const isKey = form !== 'create' && descriptor.key.includes(name);
      return values.has(owner) && (isKey || Object.hasOwn(fields, name));
    });
  const byField = new Map(links);
  return byField.size < links.length || links.some(isSet) ? undefined : byField;
}

/** The batch with the keys, as if payloads had named them. */
export function linkBatch({ batch, nodes }: DecodedStep, links: KeyLinks): Batch {
  const columns = batch.columns.map((column) => {
    const keys = links.get(column.field.descriptor.name);
    if (keys === undefined) return column;
    return {
      ...column,
      values: nodes.map((owner, item) => keys.get(owner) ?? column.values[item] ?? null),
      linked: false,
    };
  });
  return { ...batch, columns };
}

/** True if payloads say nothing but the keys of items. */
function isKeyed({ group: { writable, nodes, before, children, targets }, on, fields }: Before): boolean {
  const { key } = writable.collection.descriptor;
  const isKey = (node: TreeNode): boolean => node.key !== null && node.form !== 'create' && isBare(node, key);
  const isWhole =
    isSame(
      on.map(({ to }) => to),
      keyColumnsOf(writable),
    ) && fields.length === on.length;
  return isWhole && before.length + children.length + targets.length === 0 && nodes.every(isKey);
}

/** True if the database refuses a key that leads nowhere, at once: nothing may make, or show, its item meanwhile. */
function isGuaranteed({ read, open }: WriteScope, collection: CollectionScope, { group }: Before): boolean {
  const relation = collection.relations.get(group.path)?.descriptor;
  const { name, constraints = [] } = collection.descriptor;
  const target = read.collections.get(group.writable.collection.descriptor.name);
  if (relation?.kind !== 'm2o' || target?.copies !== undefined || relation.target === name) return false;
  const written = new Set([name]);
  if (target === undefined || target.rows.some((rule) => isLate(open, target, rule, written))) return false;
  const columns = relation.on.map(({ from }) => from);
  const holders = fieldsOf(collection, columns);
  return constraints.some((constraint) => {
    const isChecked = constraint.unchecked !== true && constraint.deferrable !== true;
    const isOfLink = constraint.type === 'foreign_key' && constraint.target === relation.target && isChecked;
    return isOfLink && holders.length === columns.length && isSame(constraint.fields, holders);
  });
}

function valuesOfEdge({
  group,
  on,
  fields,
  links,
}: Before): readonly (readonly [string, ReadonlyMap<number, string>])[] {
  const columns = keyColumnsOf(group.writable);
  return fields.map((field, part) => {
    const index = columns.indexOf(on[part]?.to ?? '');
    return [field, new Map(links.map(({ owner, node }) => [owner, group.nodes[node]?.key?.[index] ?? '']))];
  });
}

function keyColumnsOf({ collection }: Group['writable']): readonly string[] {
  return keyFields(collection.descriptor).map(({ column }) => column);
}

/** True if both have the same names, in any order. */
export function isSame(names: readonly string[], others: readonly string[]): boolean {
  return names.length === others.length && names.every((name) => others.includes(name));
}
