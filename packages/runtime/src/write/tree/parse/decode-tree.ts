/** Groups → batches: the new and changed items of a tree, decoded against the caller's inputs. */
import type { Problems } from '../../../json/problems.ts';
import { type Granted, grantFor, type WritableField, type WriteGrant } from '../../access/scope.ts';
import { type BatchBuilder, createBatch } from '../../decode/batch.ts';
import { decodeItem, hashBatch, requireFields } from '../../decode/decode.ts';
import type { WriteContext } from '../../write-plan.ts';
import type { Found } from '../resolve/references.ts';
import { type DecodedStep, type DecodedSteps, type Group, groupsOf, type TreeNode } from './group.ts';

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
  const hasContent = node.relations.length > 0 || Object.keys(node.own).some((name) => !key.includes(name));
  return hasContent || linked.some((name) => !key.includes(name)) ? 'update' : null;
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
