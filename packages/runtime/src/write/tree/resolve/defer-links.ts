/** Links to items that the same request makes only afterwards, as in circles. Source: `docs/decisions/writes.md`. */
import { decodeValue } from '../../../language/index.ts';
import { operandType } from '../../../sql/operand.ts';
import { keyFields } from '../../../sql/scope.ts';
import type { WriteScope } from '../../access/scope.ts';
import {
  type Before,
  type DeferredLinks,
  type Group,
  groupsOf,
  holdersOf,
  isEmptied,
  itemId,
  type TreeNode,
} from '../parse/group.ts';
import {
  type Found,
  inOrder,
  isMade,
  keyOfNode,
  missing,
  type Placed,
  replaceGroups,
  resolveReferences,
} from './references.ts';

/** Settles a tree. Throws for an item that is neither there nor made. */
export function resolveTree(scope: WriteScope, root: Group, found: Found): DeferredLinks {
  const settled = resolveReferences(root, found, (group, node) => missing(scope, group, node));
  return deferLinks(scope, settled, found);
}

/** Fields that hold the key of an item which is made later; none where the item stands in their place. */
interface Ahead {
  readonly placed: Placed;
  readonly node: TreeNode;
  readonly fields: readonly string[];
  /** The group that makes the item. */
  readonly creator: Group;
}

/** Puts off links where they lead ahead: the link alone where it can be null, else what holds it. */
function deferLinks(scope: WriteScope, root: Group, found: Found): DeferredLinks {
  const ahead = linksAhead(scope, root, found);
  const rigid = ahead.filter(({ placed, fields }) => !canBeNull(placed.group, fields));
  const moved = rigid.flatMap((link) => movable(link, found) ?? []);
  const [first] = moved;
  if (first !== undefined) {
    const next = deferLinks(scope, moveBehind(root, first), found);
    return { ...next, deferred: next.deferred || first.behind === 'known' };
  }
  const later = new Map<TreeNode, string[]>();
  for (const { placed, node, fields } of ahead) {
    if (canBeNull(placed.group, fields)) later.set(node, [...(later.get(node) ?? []), ...fields]);
  }
  if (later.size === 0) return { root, deferred: rigid.length > 0 };
  const settled = replaceGroups(root, (_, group) => ({
    ...group,
    nodes: group.nodes.map((node) => withLater(node, later, found)),
  }));
  return { root: settled, deferred: rigid.length > 0 };
}

function withLater(node: TreeNode, later: ReadonlyMap<TreeNode, readonly string[]>, found: Found): TreeNode {
  const fields = later.get(node);
  if (fields === undefined) return node;
  // The copy is another object, for which `found` has no result, so its form says that it is there.
  return { ...node, later: fields, form: found(node) ? 'update' : node.form };
}

function linksAhead(scope: WriteScope, root: Group, found: Found): readonly Ahead[] {
  const order = inOrder(root);
  const makers = new Map<string, number>();
  for (const [position, { group }] of order.entries()) {
    for (const node of group.nodes) {
      const key = isMade(node, found) ? keyOfNode(group, node) : undefined;
      if (key !== undefined) makers.set(itemId(group.writable.collection.descriptor.name, key), position);
    }
  }
  if (makers.size === 0) return [];
  return order.flatMap((placed, position) =>
    [...plainLinks(scope, placed.group), ...nodeLinks(placed, found)].flatMap(
      ({ node, fields, item }): readonly Ahead[] => {
        const creator = makers.get(item) ?? -1;
        const group = order[creator]?.group;
        return creator <= position || group === undefined ? [] : [{ placed, node, fields, creator: group }];
      },
    ),
  );
}

/** Items in the place of a key that are made elsewhere: the items that hold them have to wait. */
function nodeLinks({ group, way }: Placed, found: Found): readonly PlainLink[] {
  if (way.at(-1)?.edge.group !== group) return [];
  const { name } = group.writable.collection.descriptor;
  return group.nodes.flatMap((node): readonly PlainLink[] => {
    const there = isMade(node, found) || found(node) || node.key === null;
    return there ? [] : [{ node, fields: [], item: itemId(name, node.key) }];
  });
}

interface PlainLink {
  readonly node: TreeNode;
  readonly fields: readonly string[];
  /** As `itemId` of what it leads to. */
  readonly item: string;
}

/** Links by key: values of foreign keys. */
function plainLinks(scope: WriteScope, group: Group): readonly PlainLink[] {
  const { collection } = group.writable;
  if (isWatched(group)) return [];
  return [...collection.relations.values()].flatMap(({ descriptor }): readonly PlainLink[] => {
    if (descriptor.kind !== 'm2o') return [];
    const fields = holdersOf(collection, descriptor.on, 'from');
    const target = scope.open.collections.get(descriptor.target);
    const parts =
      target && keyFields(target.descriptor).map(({ column }) => descriptor.on.findIndex(({ to }) => to === column));
    // A key that is not the one items are known by is left to the database.
    if (parts === undefined || parts.length !== fields.length || parts.includes(-1)) return [];
    return group.nodes.flatMap((node) => {
      const texts = fields.map((name) => textOf(group, node, name));
      const key = parts.map((part) => texts[part]);
      return key.every((text) => typeof text === 'string')
        ? [{ node, fields, item: itemId(descriptor.target, key) }]
        : [];
    });
  });
}

/** The value of a field of a payload; undefined where it has none. */
export function textOf({ writable }: Group, { own: fields }: TreeNode, name: string): string | undefined {
  const field = writable.collection.descriptor.fields.find((candidate) => candidate.name === name);
  const decoded =
    field && Object.hasOwn(fields, name) ? decodeValue(operandType(field), fields[name] ?? null) : undefined;
  return decoded?.ok ? (decoded.value ?? undefined) : undefined;
}

interface Moved {
  readonly from: Group;
  readonly edge: Before;
  readonly behind: NonNullable<Before['behind']>;
}

/** The edge after which the link does not lead ahead any more: where the ways to the link and to the maker part. */
function movable({ placed, creator }: Ahead, found: Found): Moved | undefined {
  const parting = placed.way.find(({ from, edge }) => contains(from, creator) && !contains(edge.group, creator));
  if (parting === undefined || parting.edge.behind !== undefined) return undefined;
  const { from, edge } = parting;
  if (isWatched(from)) return undefined;
  const owners = edge.links.map(({ owner }) => from.nodes[owner]);
  if (!owners.every((owner) => owner !== undefined && isMade(owner, found))) return undefined;
  if (canBeNull(from, edge.fields)) return { from, edge, behind: 'later' };
  return hasKnownKeys(edge) ? { from, edge, behind: 'known' } : undefined;
}

/** Rows of the platform's own collections are judged by systemHooks as they are made, so none of their links waits. */
function isWatched({ writable }: Group): boolean {
  return writable.collection.descriptor.system === true;
}

function contains(group: Group, other: Group): boolean {
  return groupsOf(group).includes(other);
}

function hasKnownKeys({ on, group }: Before): boolean {
  const columns = keyFields(group.writable.collection.descriptor).map(({ column }) => column);
  return (
    on.every(({ to }) => columns.includes(to)) && group.nodes.every((node) => keyOfNode(group, node) !== undefined)
  );
}

function moveBehind(root: Group, { from, edge, behind }: Moved): Group {
  return replaceGroups(root, (group, replaced) => {
    if (group !== from) return replaced;
    const position = group.before.indexOf(edge);
    return {
      ...replaced,
      before: replaced.before.map((other, index) => (index === position ? { ...other, behind } : other)),
    };
  });
}

function canBeNull({ writable }: Group, fields: readonly string[]): boolean {
  return fields.length > 0 && fields.every((name) => isEmptied(writable, name));
}
