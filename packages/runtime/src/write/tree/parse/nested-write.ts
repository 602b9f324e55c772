/** One payload, split into what is its item's own and what leads to other items. Source: API specification, 7.2–7.4. */
import { invalidPayload, type Place, type Problems } from '../../../json/problems.ts';
import { type FilterObject, isObject } from '../../../language/conditions/filter-syntax.ts';
import {
  type FieldDescriptor,
  type JsonValue,
  type ManyToAny,
  type ManyToOne,
  pairsBesideTenant,
  type RelationDescriptor,
} from '../../../language/index.ts';
import { isList } from '../../../language/values/parse-text.ts';
import { decodeKey, keyParts } from '../../../query/parse/keys.ts';
import { type CollectionScope, keyFields } from '../../../sql/scope.ts';
import type { WritableCollection, WriteScope } from '../../access/scope.ts';
import { type Form, fieldsOf, holdersOf, type KeyTexts, type Members, pairsToWrite } from './group.ts';

/** An item on its way into a group. */
export interface Entry {
  readonly form: Form;
  readonly key: KeyTexts | null;
  readonly payload: FilterObject;
  readonly place: Place;
  /** Set where the payload was put together from several objects. */
  readonly sources?: readonly FilterObject[];
  /** True for a new item whose unique key a hidden one has: it is refused, after all that is wrong with a new item. */
  readonly isTaken?: boolean;
}

/** A relation in a payload, with the related items. */
export type NestedWrite =
  | { readonly kind: 'one'; readonly relation: ManyToOne; readonly entry: Entry }
  | { readonly kind: 'item'; readonly relation: ManyToAny; readonly collection: string; readonly entry: Entry }
  | {
      readonly kind: 'many';
      readonly relation: Exclude<RelationDescriptor, ManyToOne>;
      readonly entries: readonly Entry[];
      readonly members: Omit<Members, 'owner' | 'nodes'>;
    };

/** A payload in its parts. */
export type Split = ReturnType<typeof splitPayload>;

/** Context in which payloads are split. */
interface Splitting {
  readonly scope: WriteScope;
  readonly problems: Problems;
  readonly writable: WritableCollection;
  /** Fields that hold the key of the item above, which the relation sets. */
  readonly owned: readonly string[];
  /** Set where the items are links of a many-to-any. */
  readonly any: ManyToAny | undefined;
}

/** Splits a payload. Errors in it go to `problems`; an invalid key throws FORBIDDEN at once. */
export function splitPayload(splitting: Splitting, entry: Entry) {
  const fields: Record<string, JsonValue> = {};
  const claimed: Record<string, JsonValue> = {};
  const relations: string[] = [];
  const nestedWrites: NestedWrite[] = [];
  const { collection } = splitting.writable;
  const { any } = splitting;
  const payload = any === undefined ? entry.payload : namedAsFields(any, entry.payload);
  for (const [name, value] of Object.entries(payload)) {
    const relation = collection.relations.get(name)?.descriptor;
    if (any !== undefined && name === any.itemField) nestedWrites.push(...itemWrites(splitting, any, payload, entry));
    else if (relation === undefined || isPlainLink(relation, value))
      (splitting.owned.includes(name) ? claimed : fields)[name] = value;
    else if (isOwned(splitting, relation)) splitting.problems.refuse(entry.place, name, 'is set by the relation');
    else {
      const nested = nestedWriteOf(splitting, entry, relation, value);
      if (relation.kind !== 'm2o' || relation.field === undefined) relations.push(name);
      if (nested === null && relation.kind === 'm2o') {
        const emptied = pairsBesideTenant(collection.descriptor, relation.on, 'from');
        const holders = holdersOf(collection, emptied, 'from');
        // A key of which a part is null leads nowhere either, and its other parts are told.
        const isEmptied =
          holders.every((holder) => Object.hasOwn(payload, holder)) &&
          holders.some((holder) => payload[holder] === null);
        if (!isEmptied) for (const field of holders) fields[field] = null;
      }
      nestedWrites.push(...(nested ?? []));
    }
  }
  if (any !== undefined) checkLink(splitting, any, payload, entry);
  return {
    own: fields,
    claimed,
    /** Relations of the payload that are no columns. */
    relations,
    nestedWrites,
  };
}

/** The key of an item as a value, which is its foreign-key field's. */
function isPlainLink(relation: RelationDescriptor, value: JsonValue): boolean {
  return relation.kind === 'm2o' && relation.field !== undefined && !isObject(value);
}

/** True if a relation leads back to the item above. */
function isOwned({ writable, owned }: Splitting, relation: RelationDescriptor): boolean {
  if (relation.kind !== 'm2o') return false;
  const held = holdersOf(writable.collection, pairsToWrite(writable, relation.on, 'from'), 'from');
  return held.length > 0 && held.every((name) => owned.includes(name));
}

/** Null where the relation is to lead nowhere. */
function nestedWriteOf(
  { scope, problems, writable }: Splitting,
  { form, place: location, key: ownerKey }: Entry,
  relation: RelationDescriptor,
  value: JsonValue,
): readonly NestedWrite[] | null {
  const { name, target } = relation;
  const listed = [form === 'update' ? undefined : writable.create, form === 'create' ? undefined : writable.update];
  const below = scope.collections.get(target)?.collection;
  if (below === undefined || !listed.some((grant) => grant?.listed.has(name))) {
    problems.forbid(`${JSON.stringify(name)} of ${location.collection}`);
    return [];
  }
  const fieldLocation: Place = { ...location, path: location.path === undefined ? name : `${location.path}.${name}` };
  if (relation.kind === 'm2o') {
    if (value === null) return null;
    // A link that leads nowhere is told of the item that has it.
    const there = isObject(value) ? { ...fieldLocation, collection: target } : fieldLocation;
    return [{ kind: 'one', relation, entry: entryOf(below, value, there, noKeys) }];
  }
  const read = readMembers(value);
  if (read === undefined) {
    problems.refuse(
      location,
      name,
      'takes an array of items, or objects as "create", "update" and "upsert" and keys as "delete"',
    );
    return [];
  }
  const keys = relation.kind === 'o2m' ? ownedKeys(writable.collection, below, relation, ownerKey) : noKeys;
  const entries = read.members.flatMap((member) => {
    const there: Place = { ...fieldLocation, collection: target, path: `${fieldLocation.path}${member.at}` };
    return memberEntry(below, member, there, keys, problems);
  });
  const removed = read.removed.map((key) => keyOf(below, key));
  return [{ kind: 'many', relation, entries, members: { complete: read.complete, removed, place: fieldLocation } }];
}

const noKeys: ReadonlyMap<string, string> = new Map();

/** Parts of the children's keys that are the key of the item above, where that is known. */
function ownedKeys(
  { descriptor }: CollectionScope,
  below: CollectionScope,
  { on }: Exclude<RelationDescriptor, { kind: 'm2m' }>,
  ownerKey: KeyTexts | null,
): ReadonlyMap<string, string> {
  const above = keyFields(descriptor);
  const pairs = on.flatMap(({ from, to }): [string, string][] => {
    const value = ownerKey?.[above.findIndex(({ column }) => column === from)];
    const [name] = fieldsOf(below, [to]);
    return value === undefined || name === undefined || !below.descriptor.key.includes(name) ? [] : [[name, value]];
  });
  return new Map(pairs);
}

function keyOf(collection: CollectionScope, value: JsonValue): KeyTexts {
  return decodeKey(collection, keyParts(keyFields(collection.descriptor), value));
}

/** An item by its key, or by an object that may have one. */
function entryOf(
  collection: CollectionScope,
  value: JsonValue,
  location: Place,
  keys: ReadonlyMap<string, string>,
): Entry {
  if (!isObject(value)) return { form: 'link', key: keyOf(collection, value), payload: {}, place: location };
  const { key } = collection.descriptor;
  const complete = { ...Object.fromEntries(keys), ...value };
  // An object in the place of a part of the key is an item of its own, whose key is not known yet.
  const keyed = key.length > 0 && keyFields(collection.descriptor).every((field) => isPart(field, complete));
  if (!keyed) return { form: 'create', key: null, payload: value, place: location };
  const itemKey = decodeKey(
    collection,
    key.map((name) => complete[name] ?? null),
    key.map((name) => (Object.hasOwn(value, name) ? undefined : keys.get(name))),
  );
  return { form: 'either', key: itemKey, payload: value, place: location };
}

function isPart({ name, type }: FieldDescriptor, payload: FilterObject): boolean {
  const value = payload[name] ?? null;
  return value !== null && (!isObject(value) || type === 'composite' || type === 'json');
}

function memberEntry(
  collection: CollectionScope,
  { value, form }: ListElement,
  location: Place,
  keys: ReadonlyMap<string, string>,
  problems: Problems,
): readonly Entry[] {
  const entry = entryOf(collection, value, location, keys);
  if (form === 'create') return [{ ...entry, form, key: null }];
  if (form === 'update' && entry.form === 'create') {
    const { path = '', ...item } = location;
    problems.refuse(item, path, 'needs its key');
    return [];
  }
  return [form === 'update' ? { ...entry, form } : entry];
}

/** Payloads of many-to-any links call their two fields `collection` and `item`, regardless of their names. */
function namedAsFields({ collectionField, itemField }: ManyToAny, payload: FilterObject): FilterObject {
  const { collection, item, ...others } = payload;
  return {
    ...others,
    ...(collection !== undefined && { [collectionField]: collection }),
    ...(item !== undefined && { [itemField]: item }),
  };
}

/** The item of a link, in the collection that the link names. */
function itemWrites(
  { scope, problems }: Splitting,
  relation: ManyToAny,
  payload: FilterObject,
  { place: location }: Entry,
): readonly NestedWrite[] {
  const name = payload[relation.collectionField];
  if (typeof name !== 'string' || !relation.allowed.includes(name)) return [];
  const below = scope.collections.get(name)?.collection;
  const item = payload[relation.itemField] ?? null;
  if (below === undefined) problems.forbid();
  else if (item === null) problems.refuse(location, 'item', 'must be an item or its key');
  else {
    const itemLocation: Place = { ...location, collection: name, path: `${location.path ?? ''}.item` };
    return [{ kind: 'item', relation, collection: name, entry: entryOf(below, item, itemLocation, noKeys) }];
  }
  return [];
}

/** A link names a collection of the relation, and has one as soon as it has an item. */
function checkLink(
  { problems }: Splitting,
  any: ManyToAny,
  payload: FilterObject,
  { form, key, place: location }: Entry,
): void {
  const name = payload[any.collectionField];
  const needed = key === null || Object.hasOwn(payload, any.itemField);
  if (form === 'link' || (name === undefined && !needed)) return;
  if (typeof name !== 'string' || !any.allowed.includes(name)) {
    problems.refuse(location, 'collection', 'must be one that the relation allows');
  } else if (!Object.hasOwn(payload, any.itemField)) {
    problems.refuse(location, 'item', 'must be an item or its key');
  }
}

/** Throws INVALID_PAYLOAD for more relations below each other than a request may have. */
export function checkDepth(depth: number, maxDepth: number): void {
  if (depth > maxDepth) throw invalidPayload(`The body nests more than ${maxDepth} relations.`);
}

/** True if a payload's value for a relation is more than a key. */
export function isTreeValue(relation: RelationDescriptor, value: JsonValue): boolean {
  return relation.kind !== 'm2o' || relation.field === undefined || isObject(value);
}

/** One element: its value, and the action that its position demands; `upsert` and arrays demand none. */
interface ListElement {
  readonly value: JsonValue;
  readonly form: 'any' | 'create' | 'update';
  /** The way to it from the relation: `[2]`, `.create[0]`. */
  readonly at: string;
}

/** The parts of a value. */
interface ParsedElements {
  readonly complete: boolean;
  readonly members: readonly ListElement[];
  readonly removed: readonly JsonValue[];
}

/** Reads the value under a to-many relation; undefined for one of another form. Source: API specification, 7.3 and 7.4. */
function readMembers(value: JsonValue): ParsedElements | undefined {
  if (value === null) return { complete: true, members: [], removed: [] };
  if (isList(value)) {
    const members = value.map((element, index): ListElement => ({ value: element, form: 'any', at: `[${index}]` }));
    return members.every((member) => isMember(member)) ? { complete: true, members, removed: [] } : undefined;
  }
  return isObject(value) ? readChanges(value) : undefined;
}

function readChanges(value: FilterObject): ParsedElements | undefined {
  const { create = [], update = [], upsert = [], delete: removed = [], ...others } = value;
  if (Object.keys(others).length > 0 || !isList(create) || !isList(update) || !isList(upsert) || !isList(removed)) {
    return undefined;
  }
  const members = [
    ...membersOf(create, 'create', 'create'),
    ...membersOf(update, 'update', 'update'),
    ...membersOf(upsert, 'any', 'upsert'),
  ];
  const objects = members.every((member) => isObject(member.value));
  return objects && removed.every((key) => key !== null) ? { complete: false, members, removed } : undefined;
}

function membersOf(values: readonly JsonValue[], form: ListElement['form'], under: string): readonly ListElement[] {
  return values.map((value, index) => ({ value, form, at: `.${under}[${index}]` }));
}

function isMember({ value }: ListElement): boolean {
  return value !== null && !isList(value);
}
