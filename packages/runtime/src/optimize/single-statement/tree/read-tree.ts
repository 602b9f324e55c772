/** Reading a tree in the statement that writes it: from the rows that it returns, where the tables do not show them yet. */
import type { ColumnPair, Condition, RelationDescriptor } from '../../../language/index.ts';
import type { Selected, Selection } from '../../../query/authorise/selection.ts';
import type { SelectedItems } from '../../../query/plan/plan.ts';
import type { NestedLists } from '../../../query/plan/plan-nested-list.ts';
import type { CollectionScope, RelationScope, Scope } from '../../../sql/scope.ts';
import type { WriteScope } from '../../../write/access/scope.ts';
import { isEveryRow, isLate } from '../../../write/checks/check.ts';
import { type Before, type Children, type Group, pairsToWrite, type Targets } from '../../../write/tree/parse/group.ts';

/** Sources of the rows, by the collections that a tree writes; for a junction all rows that are reached. */
type NewRows = ReadonlyMap<string, string>;

/** The read of a tree over its new rows; undefined where it or its rules look at other rows. */
export function readOfTree(
  { open }: Pick<WriteScope, 'open'>,
  { scope, selection, nested }: SelectedItems,
  root: Group,
  rows: NewRows,
): SelectedItems | undefined {
  const reading: Reading = { open, nested, made: new Set(rows.keys()) };
  if (!follows(reading, selection, root)) return undefined;
  const moved = moveScope(scope, rows);
  return { scope: moved, selection: moveSelection(moved, rows, selection), nested };
}

interface Reading {
  readonly open: Scope;
  readonly nested: NestedLists;
  /** Names of the collections that the tree makes. */
  readonly made: ReadonlySet<string>;
}

/** True if a selection reads what the tree makes: items of a group, or items that were there before. */
function follows(reading: Reading, { collection, parts }: Selection, group: Group | undefined): boolean {
  return (
    collection.rows.every((rule) => isSettled(reading, collection, rule)) &&
    followParts(reading, collection, parts, group)
  );
}

function followParts(
  reading: Reading,
  collection: CollectionScope,
  parts: readonly Selected[],
  group: Group | undefined,
): boolean {
  return parts.every((part) => {
    switch (part.kind) {
      case 'constant':
        return true;
      case 'field':
        return areSettled(reading, collection, part.field.grant);
      case 'call':
        return part.call.kind === 'field' && areSettled(reading, collection, part.call.field.grant);
      case 'group':
        return followParts(reading, collection, part.parts, group);
      case 'keys':
        return areSettled(reading, collection, part.relation.grant) && followKeys(reading, part, group);
      case 'nested':
        return areSettled(reading, collection, part.relation.grant) && followRelation(reading, part, group);
      default:
        return false;
    }
  });
}

/** The key that an item holds stands in its row; the keys of targets are reached by links. */
function followKeys(
  reading: Reading,
  { relation: { descriptor }, read }: Extract<Selected, { kind: 'keys' }>,
  group: Group | undefined,
): boolean {
  if (descriptor.kind === 'm2o') return true;
  return descriptor.kind === 'm2m' && isPlain(reading, read) && edgeOf(descriptor, group) !== undefined;
}

function followRelation(
  reading: Reading,
  { relation: { descriptor }, of: selection, read }: Extract<Selected, { kind: 'nested' }>,
  group: Group | undefined,
): boolean {
  const edge = edgeOf(descriptor, group);
  if (!isPlain(reading, read) || (edge === undefined && pointsTo(descriptor, reading.made))) return false;
  return follows(reading, selection, edge?.group);
}

/** True if a list has no filter, and its order uses only fields of its items. */
function isPlain({ nested }: Reading, read: Extract<Selected, { kind: 'nested' }>['read']): boolean {
  if (read === undefined) return true;
  const terms = nested.orders.get(read) ?? [];
  return isEveryRow(read.condition) && terms.every(({ through, by }) => through.length === 0 && by.kind === 'plain');
}

function edgeOf(relation: RelationDescriptor, group: Group | undefined): Before | Children | Targets | undefined {
  if (relation.kind === 'm2o')
    return group?.before.find(({ on }) => isSame(on, pairsToWrite(group.writable, relation.on, 'from')));
  const edges = relation.kind === 'm2m' ? group?.targets : group?.children;
  return edges?.find((edge) => edge.relation.name === relation.name);
}

function isSame(on: readonly ColumnPair[], others: readonly ColumnPair[]): boolean {
  return (
    on.length === others.length &&
    on.every(({ from, to }, part) => from === others[part]?.from && to === others[part]?.to)
  );
}

function pointsTo(relation: RelationDescriptor, made: ReadonlySet<string>): boolean {
  return made.has(relation.target) || (relation.kind === 'm2m' && made.has(relation.junction));
}

function areSettled(reading: Reading, collection: CollectionScope, grant: readonly Condition[] | null): boolean {
  return grant === null || grant.every((condition) => isSettled(reading, collection, condition));
}

function isSettled({ open, made }: Reading, { descriptor }: CollectionScope, condition: Condition): boolean {
  const collection = open.collections.get(descriptor.name);
  return collection !== undefined && !isLate(open, collection, condition, made);
}

function moveScope(scope: Scope, rows: NewRows): Scope {
  const moved = [...rows].flatMap(([name, table]): [string, CollectionScope][] => {
    const collection = scope.collections.get(name);
    if (collection === undefined) return [];
    return [[name, { ...collection, descriptor: { ...collection.descriptor, table, opaque: true } }]];
  });
  return { ...scope, collections: new Map([...scope.collections, ...moved]) };
}

function moveSelection(scope: Scope, rows: NewRows, { collection, parts }: Selection): Selection {
  const moved = scope.collections.get(collection.descriptor.name) ?? collection;
  return { collection: moved, parts: parts.map((part) => movePart(scope, rows, part)) };
}

function movePart(scope: Scope, rows: NewRows, part: Selected): Selected {
  switch (part.kind) {
    case 'nested': {
      const relation = moveRelation(rows, part.relation);
      return { ...part, relation, of: moveSelection(scope, rows, part.of) };
    }
    case 'keys':
      return { ...part, relation: moveRelation(rows, part.relation) };
    case 'group':
      return { ...part, parts: part.parts.map((child) => movePart(scope, rows, child)) };
    default:
      return part;
  }
}

function moveRelation(rows: NewRows, relation: RelationScope): RelationScope {
  const { descriptor } = relation;
  const junctionTable = descriptor.kind === 'm2m' ? rows.get(descriptor.junction) : undefined;
  if (descriptor.kind !== 'm2m' || junctionTable === undefined) return relation;
  return { ...relation, descriptor: { ...descriptor, junctionTable } };
}
