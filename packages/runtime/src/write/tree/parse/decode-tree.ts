/** Groups → batches: the new and changed items of a tree, decoded against the caller's inputs. */
import type { Problems } from '../../../json/problems.ts';
import type { ManyToOne } from '../../../language/index.ts';
import { keyFields } from '../../../sql/scope.ts';
import { type Granted, grantFor, type WritableField, type WriteGrant, type WriteScope } from '../../access/scope.ts';
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

/** Hashes what is stored hashed. */
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
function linkedFields({ owned, before }: Group): (index: number) => readonly string[] {
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
 * The keys that items at the top hold, where payloads name stored items by nothing but these. The statement that writes the items
 * checks them then: a foreign key that they exist, and the check of links that the caller may read them. Undefined where a tree
 * says more of other items, or where that does not check them.
 */
export function keyLinks(scope: WriteScope, root: Group): KeyLinks | undefined {
  const { before, children, targets, nodes, writable } = root;
  const { descriptor } = writable.collection;
  if (before.length === 0 || children.length + targets.length > 0) return undefined;
  // System hooks look at what is written, and triggers may make what is linked.
  if (descriptor.system === true || descriptor.amended === true) return undefined;
  if (!before.every((edge) => isKeyed(edge) && isGuaranteed(scope, root, edge))) return undefined;
  const links = before.flatMap(valuesOfEdge);
  const isSet = (name: string): boolean =>
    nodes.some(({ form, own }, owner) => {
      const isKey = form !== 'create' && descriptor.key.includes(name);
      return (
        isKey || (Object.hasOwn(own, name) && links.some(([field, values]) => field === name && values.has(owner)))
      );
    });
  const byField = new Map(links);
  return byField.size < links.length || links.some(([name]) => isSet(name)) ? undefined : byField;
}

/** The batch with the keys, as if payloads had named them. */
export function linkBatch({ batch, nodes }: DecodedStep, links: KeyLinks): Batch {
  const columns = batch.columns.map((column) => {
    const keys = links.get(column.field.descriptor.name);
    if (keys === undefined) return column;
    const values = nodes.map((owner, item) => keys.get(owner) ?? column.values[item] ?? null);
    return { ...column, values, linked: false };
  });
  return { ...batch, columns };
}

/** True if payloads say nothing but the keys of items. */
function isKeyed({ group, on, fields }: Before): boolean {
  const { key } = group.writable.collection.descriptor;
  const columns = keyFields(group.writable.collection.descriptor).map(({ column }) => column);
  const isKey = (node: TreeNode): boolean => node.key !== null && node.form !== 'create' && isBare(node, key);
  const isPlain = group.before.length + group.children.length + group.targets.length === 0;
  const held = on.map(({ to }) => to);
  return isPlain && group.nodes.every(isKey) && isSame(held, columns) && fields.length === on.length;
}

/**
 * True if the database refuses a key that leads nowhere, at once. Items of the same collection are excepted: what the
 * statement writes itself would do for them.
 */
function isGuaranteed({ read }: WriteScope, { writable }: Group, { group, fields }: Before): boolean {
  const { relations, descriptor } = writable.collection;
  const relation = relations.get(group.path)?.descriptor;
  const target = group.writable.collection.descriptor.name;
  if (relation?.kind !== 'm2o' || target === descriptor.name || !read.collections.has(target)) return false;
  const holders = holdersOfAll(writable, relation);
  return (descriptor.constraints ?? []).some((constraint) => {
    const isChecked = constraint.unchecked !== true && constraint.deferrable !== true;
    const isOfLink = constraint.type === 'foreign_key' && constraint.target === target && isChecked;
    return isOfLink && isSame(constraint.fields, holders) && fields.every((name) => holders.includes(name));
  });
}

/** Fields that hold the key; none where some column is no field. */
function holdersOfAll({ collection }: Group['writable'], { on }: ManyToOne): readonly string[] {
  const fields = fieldsOf(
    collection,
    on.map(({ from }) => from),
  );
  return fields.length === on.length ? fields : [];
}

function isSame(names: readonly string[], others: readonly string[]): boolean {
  return names.length === others.length && names.every((name) => others.includes(name));
}

function valuesOfEdge({
  group,
  on,
  fields,
  links,
}: Before): readonly (readonly [string, ReadonlyMap<number, string>])[] {
  const columns = keyFields(group.writable.collection.descriptor).map(({ column }) => column);
  return fields.map((field, part) => {
    const index = columns.indexOf(on[part]?.to ?? '');
    const values = links.map(({ owner, node }) => [owner, group.nodes[node]?.key?.[index] ?? ''] as const);
    return [field, new Map(values)];
  });
}
