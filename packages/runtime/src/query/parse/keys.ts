import { forbidden, PlatformError } from '../../errors.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import { arrayLiteral, decodeValue, type FieldDescriptor, type JsonValue } from '../../language/index.ts';
import { oneSpelling } from '../../language/values/values.ts';
import { type OperandType, operandType } from '../../sql/operand.ts';
import { type CollectionScope, keyFields } from '../../sql/scope.ts';

/**
 * Reads the key of a path: one value per key field, percent-encoded and joined by commas (API specification, section 4).
 *
 * A malformed key is answered like a missing item: FORBIDDEN. An encoding that is none is no path: ROUTE_NOT_FOUND.
 */
export function parseKeySegment(collection: CollectionScope, segment: string): readonly string[] {
  return decodeKey(collection, segment.split(',').map(decodeSegment));
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new PlatformError('ROUTE_NOT_FOUND');
  }
}

/**
 * Reads the keys of a body: each a value, an object of the key fields, or text in the form of a path. Returns one array
 * literal per key field, and the number of different keys.
 */
export function parseKeys(
  collection: CollectionScope,
  keys: readonly JsonValue[],
): { readonly values: readonly string[]; readonly count: number } {
  const fields = keyFields(collection.descriptor);
  const distinct = new Map<string, readonly string[]>();
  for (const key of keys) {
    const values = decodeKey(collection, keyParts(fields, key));
    distinct.set(JSON.stringify(values), values);
  }
  const rows = [...distinct.values()];
  const values = fields.map((_, index) => arrayLiteral(rows.map((row) => row[index] ?? null)));
  return { values, count: rows.length };
}

/** The values of a key in one of its forms, one per key field. */
export function keyParts(fields: readonly FieldDescriptor[], key: JsonValue): readonly JsonValue[] {
  if (isObject(key)) {
    if (Object.keys(key).length !== fields.length) throw forbidden();
    return fields.map((field) => (Object.hasOwn(key, field.name) ? (key[field.name] ?? null) : null));
  }
  return fields.length > 1 && typeof key === 'string' ? key.split(',').map(decodePart) : [key];
}

/** In a body an encoding that is none is no key. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw forbidden();
  }
}

/** Decodes the values of a key, one per key field. Throws FORBIDDEN for what cannot be a key. */
export function decodeKey(collection: CollectionScope, parts: readonly JsonValue[]): readonly string[] {
  const types = keyTypes(collection.descriptor);
  if (types.length === 0 || types.length !== parts.length) throw forbidden();
  return types.map((type, index) => {
    const decoded = decodeValue(type, parts[index] ?? null);
    if (!decoded.ok || decoded.value === null) throw forbidden();
    return oneSpelling(type, decoded.value);
  });
}

const keyTypesOf = new WeakMap<CollectionScope['descriptor'], readonly OperandType[]>();

/** The types of a collection's key, worked out once. */
function keyTypes(descriptor: CollectionScope['descriptor']): readonly OperandType[] {
  const cached = keyTypesOf.get(descriptor);
  if (cached !== undefined) return cached;
  const types = keyFields(descriptor).map((field) => operandType(field));
  keyTypesOf.set(descriptor, types);
  return types;
}
