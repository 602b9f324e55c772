/** The items that a step is about, as parameters: by the text forms of their keys. */
import { forbidden, type PlatformError } from '../../errors.ts';
import { invalidPayload } from '../../json/problems.ts';
import { type FilterObject, isObject } from '../../language/conditions/filter-syntax.ts';
import { arrayLiteral, decodeValue, type FieldDescriptor, type JsonValue } from '../../language/index.ts';
import { oneSpelling } from '../../language/values/values.ts';
import { decodeKey, parseKeys } from '../../query/parse/keys.ts';
import { readElements } from '../../sql/array-text.ts';
import { operandType } from '../../sql/operand.ts';
import { type CollectionScope, keyFields } from '../../sql/scope.ts';
import type { WritableCollection } from '../access/scope.ts';

/** Keys of items in their order: one text per key field when there is one item, one array literal per key field else. */
export interface Keys {
  readonly count: number;
  readonly many: boolean;
  readonly values: readonly string[];
}

export function oneKey(values: readonly string[]): Keys {
  return { count: 1, many: false, values };
}

/** The same key or keys as arrays. */
export function asMany(keys: Keys): Keys {
  return keys.many
    ? keys
    : { count: keys.count, many: true, values: keys.values.map((value) => arrayLiteral([value])) };
}

/** The key of the only item of arrays. */
export function asOne(keys: Keys): Keys {
  return { count: keys.count, many: false, values: keys.values.map((value) => readElements(value)[0] ?? '') };
}

/** Reads the keys of a body, each once. Throws FORBIDDEN for one that cannot be a key, or names what must not be named. */
export function namedKeys({ collection, namesKey }: WritableCollection, keys: readonly JsonValue[]): Keys {
  if (!namesKey && keys.some(isObject)) throw forbidden();
  return {
    ...parseKeys(collection, keys),
    many: true,
  };
}

interface Row {
  readonly parts: readonly string[];
  readonly item: FilterObject;
  readonly place: number;
}

/** Reads the keys of items. Throws INVALID_PAYLOAD where one is missing, FORBIDDEN where it misfits or is hidden. */
export function keyedItems({ collection, namesKey }: WritableCollection, items: readonly FilterObject[]) {
  if (!namesKey) throw forbidden();
  const { key } = collection.descriptor;
  const combined = new Map<string, Row>();
  for (const item of items) {
    if (key.some((name) => !Object.hasOwn(item, name))) throw invalidPayload('Every item needs its key.');
  }
  for (const [index, item] of items.entries()) {
    const parts = decodeKey(
      collection,
      key.map((name) => item[name] ?? null),
    );
    const id = JSON.stringify(parts);
    combined.set(id, { parts, item: { ...combined.get(id)?.item, ...item }, place: index });
  }
  const rows = [...combined.values()];
  const values = key.map((_, index) => arrayLiteral(rows.map(({ parts }) => parts[index] ?? null)));
  const keys: Keys = { count: rows.length, many: true, values };
  return {
    keys,
    items: rows.map(({ item }) => item),
    /** Position of each item in the body; the last position of an item that comes twice. */
    places: rows.map(({ place: index }) => index),
  };
}

/** A key in a payload must be that of its item. Throws INVALID_PAYLOAD for another, and for any of several items. */
export function checkOwnKey(collection: CollectionScope, payload: FilterObject, keys: Keys | null): void {
  for (const [index, field] of keyFields(collection.descriptor).entries()) {
    if (!Object.hasOwn(payload, field.name)) continue;
    const value = keyText(field, payload);
    const payloadKey = value === null || keys?.count !== 1 ? null : keys.many ? arrayLiteral([value]) : value;
    if (payloadKey === null || payloadKey !== keys?.values[index]) throw keyChanged();
  }
}

/** The value that a payload gives a field of the key, in the one spelling of keys; null where it cannot be one. */
function keyText(field: FieldDescriptor, payload: FilterObject): string | null {
  const type = operandType(field);
  const decoded = decodeValue(type, payload[field.name] ?? null);
  return decoded.ok && decoded.value !== null ? oneSpelling(type, decoded.value) : null;
}

/** Reads the fields of the key that a payload names, null where it names none; the values are null where one cannot be a key. */
export function keyNamedIn({ descriptor }: CollectionScope, payload: FilterObject) {
  const fields = keyFields(descriptor).filter(({ name }) => Object.hasOwn(payload, name));
  const texts = fields.map((field) => keyText(field, payload));
  const values = texts.filter((text) => text !== null);
  return fields.length === 0 ? null : { fields, values: values.length < texts.length ? null : values };
}

/** Says that a payload names another item than the one it is for. */
export function keyChanged(): PlatformError {
  return invalidPayload('The key of an item cannot be changed.');
}
