/** A payload with related items, as groups, each of which one statement writes. */
import type { Place } from '../../../json/problems.ts';
import type { FilterObject } from '../../../language/conditions/filter-syntax.ts';
import {
  type ColumnPair,
  type FieldDescriptor,
  isWhole,
  type ManyToAny,
  type ManyToMany,
  type OneToMany,
  pairsBesideTenant,
} from '../../../language/index.ts';
import { fieldOfColumn } from '../../../sql/cell.ts';
import type { CollectionScope } from '../../../sql/scope.ts';
import type { Granted, WritableCollection } from '../../access/scope.ts';
import type { Batch } from '../../decode/batch.ts';

/** The text form of a key, one part per key field. */
export type KeyTexts = readonly string[];

/** Names an item among those of all collections. */
export function itemId(collection: string, key: KeyTexts): string {
  return JSON.stringify([collection, ...key]);
}

/** Action that a payload asks of an item. `either` creates or updates, as an existing key decides; `link` needs it. */
export type Form = 'create' | 'update' | 'either' | 'link';

/** One item of a payload. */
export interface TreeNode {
  readonly form: Form;
  /** The key that the payload names; null when it names none. */
  readonly key: KeyTexts | null;
  /** The payload without what leads to other items. */
  readonly own: FilterObject;
  /** Values of the payload for fields that the relation sets: they may only repeat them. */
  readonly claimed: FilterObject;
  /** Relations of the payload that are no columns. */
  readonly relations: readonly string[];
  readonly place: Place;
  /** The objects of the payload that say something of it, the last of which wins; none for a mere key. */
  readonly sources: readonly FilterObject[];
  /** Fields that hold keys of items which the request makes after this one: null until then. */
  readonly later?: readonly string[];
}

/** Items of one collection that stand under the same relations of the payload. */
export interface Group {
  readonly writable: WritableCollection;
  /** Names of relations that lead here, joined by dots; empty at the top. */
  readonly path: string;
  readonly nodes: readonly TreeNode[];
  /** Fields that hold the key of the item above. */
  readonly owned: readonly string[];
  /** The field by which the items above order these ones, when the server can fill it. */
  readonly sort?: string;
  /** True if a caller who reads everything learns that a link of an item, not of a list, leads nowhere. */
  readonly loose: boolean;
  readonly before: readonly Before[];
  readonly children: readonly Children[];
  readonly targets: readonly Targets[];
}

/** Items that are written first, because the items above hold their keys, unless they need these to be there. */
export interface Before {
  /** Columns of the items above, with those of these items that they hold. */
  readonly on: readonly ColumnPair[];
  /** Names of these columns' fields. */
  readonly fields: readonly string[];
  readonly group: Group;
  readonly links: readonly Link[];
  /** Set when they are written last: the items above then hold their keys at once, where these are `known`, or later. */
  readonly behind?: 'known' | 'later';
}

/** Node above, and the node that it holds. */
export interface Link {
  readonly owner: number;
  readonly node: number;
}

/** Members of a to-many relation in one payload. */
export interface Members {
  readonly owner: number;
  /** True if it lists all: others are removed. */
  readonly complete: boolean;
  /** Nodes, in the order of the payload. */
  readonly nodes: readonly number[];
  readonly removed: readonly KeyTexts[];
  readonly place: Place;
}

/** Items that hold the keys of those above. */
export interface Children {
  readonly relation: OneToMany | ManyToAny;
  readonly group: Group;
  readonly members: readonly Members[];
}

/** Items that a junction joins with those above. */
export interface Targets {
  readonly relation: ManyToMany;
  readonly group: Group;
  readonly members: readonly Members[];
}

export function groupsOf(group: Group): readonly Group[] {
  const below = [...group.before, ...group.children, ...group.targets];
  return [group, ...below.flatMap((edge) => groupsOf(edge.group))];
}

/** The collections that a tree writes, junctions included. */
export function collectionsOf(root: Group): ReadonlySet<string> {
  return new Set(
    groupsOf(root).flatMap(({ writable, targets }) => [
      writable.collection.descriptor.name,
      ...targets.map(({ relation }) => relation.junction),
    ]),
  );
}

/** Create or update of some nodes of a group. */
export interface DecodedStep {
  readonly granted: Granted;
  readonly action: 'create' | 'update';
  readonly nodes: readonly number[];
  /** Keys of other items in it are not known yet. */
  readonly batch: Batch;
  /** As `Written.named`. */
  readonly named: readonly (readonly number[])[];
}

export type DecodedSteps = ReadonlyMap<Group, readonly DecodedStep[]>;

/** Nodes of a group whose items are made. */
export function madeNodes(drafts: DecodedSteps, group: Group): ReadonlySet<number> {
  const made = drafts.get(group)?.filter(({ action }) => action === 'create');
  return new Set(made?.flatMap(({ nodes }) => nodes));
}

/** A tree whose links can be written. */
export interface DeferredLinks {
  readonly root: Group;
  /** True if constraints have to wait for COMMIT, where they can. */
  readonly deferred: boolean;
}

/** A tree that is ready to be written. */
export interface DecodedTree {
  readonly settled: DeferredLinks;
  readonly drafts: DecodedSteps;
}

/** Names of the fields behind columns; a column that is no field has none. */
export function fieldsOf({ descriptor }: CollectionScope, columns: readonly string[]): readonly string[] {
  return columns.flatMap((column) => fieldOfColumn(descriptor.fields, column)?.name ?? []);
}

/** Names of the fields by which a collection holds the key of another one. */
export function holdersOf(
  collection: CollectionScope,
  on: readonly ColumnPair[],
  side: 'from' | 'to',
): readonly string[] {
  return fieldsOf(
    collection,
    on.map((pair) => pair[side]),
  );
}

/** Pairs of a relation that its links write: that of the tenant only for callers whose payloads may name it. */
export function pairsToWrite(
  { collection, create, update }: WritableCollection,
  on: readonly ColumnPair[],
  side: 'from' | 'to',
): readonly ColumnPair[] {
  const { tenant } = collection.descriptor;
  const isNamed = tenant?.kind === 'compare' && [create, update].some((grant) => grant?.fields.has(tenant.field));
  return isNamed ? on : pairsBesideTenant(collection.descriptor, on, side);
}

/** True if a stored item can be without a value of a field. */
export function isEmptied({ collection }: WritableCollection, name: string): boolean {
  const { fields, key } = collection.descriptor;
  const field = fields.find((candidate) => candidate.name === name);
  return field?.nullable === true && field.required !== true && !key.includes(name);
}

/** The sort field of a relation where it is a number that the server can count on: anything else only orders reads. */
export function sortField({ descriptor }: CollectionScope, sort: string | undefined): FieldDescriptor | undefined {
  const field = descriptor.fields.find(({ name }) => name === sort);
  if (field === undefined || !field.writable || descriptor.key.includes(field.name)) return undefined;
  return isWhole(field.type) ? field : undefined;
}
