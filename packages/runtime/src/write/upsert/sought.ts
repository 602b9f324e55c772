/** Values that items have for the fields of a unique key. */

import { type Place, type Problems, placesIn } from '../../json/problems.ts';
import { type FilterObject, isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import { decodeInput } from '../decode/value.ts';
import type { Conflict, ConflictField } from './conflict.ts';

/** An item with the values by which it is looked for. */
export interface Sought {
  readonly item: FilterObject;
  /** Position in the body; the last one for an item that comes twice. */
  readonly place: Place;
  /** Text forms, one per field of the key: null never matches. */
  readonly values: readonly (string | null)[];
  /** Which of the fields the item has. */
  readonly provided: readonly boolean[];
}

/**
 * Reads what items say. An item that comes twice by its key is one, whose later fields win. A value that is none of its
 * field's matches nothing: making the item tells what is wrong with it.
 */
export function readSought(
  collection: CollectionScope,
  { fields }: Conflict,
  items: readonly FilterObject[],
  many: boolean,
  problems: Problems,
): readonly Sought[] {
  const placeOf = placesIn(collection.descriptor.name, many ? [...items.keys()] : null);
  const combined = new Map<string, Sought>();
  for (const [index, item] of items.entries()) {
    const location = placeOf(index);
    const values = fields.map((field) => textOf(collection, field, item, location, problems));
    const present = fields.map(({ field }) => Object.hasOwn(item, field.descriptor.name));
    const keyed = fields.every(({ preset }, part) => (present[part] ? values[part] !== null : preset !== undefined));
    const id = keyed ? JSON.stringify([values, present]) : `${index}`;
    combined.set(id, { item: { ...combined.get(id)?.item, ...item }, place: location, values, provided: present });
  }
  return [...combined.values()];
}

function textOf(
  { relations }: CollectionScope,
  { field: { descriptor }, writable }: ConflictField,
  item: FilterObject,
  location: Place,
  problems: Problems,
): string | null {
  const { name } = descriptor;
  if (!Object.hasOwn(item, name)) return null;
  const sent: JsonValue = item[name] ?? null;
  if (!writable) problems.forbid();
  if (relations.has(name) && isObject(sent)) {
    problems.refuse(location, name, 'takes the key of an item');
    return null;
  }
  const decoded = sent === null ? undefined : decodeInput(descriptor, sent, true);
  return decoded?.ok && 'value' in decoded ? decoded.value : null;
}
