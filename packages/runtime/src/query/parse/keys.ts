import { hasParts } from '../../dialects/fragment.ts';
import { forbidden, PlatformError } from '../../errors.ts';
import { type FilterObject, isObject } from '../../language/conditions/filter-syntax.ts';
import {
  arrayLiteral,
  decodeValue,
  type FieldDescriptor,
  type JsonValue,
  type PortableType,
} from '../../language/index.ts';
import { derivedOnce } from '../../language/values/once.ts';
import { parseExactly } from '../../language/values/parse-text.ts';
import { oneSpelling } from '../../language/values/values.ts';
import { isCut, operandType } from '../../sql/operand.ts';
import { type CollectionScope, keyFields } from '../../sql/scope.ts';

/**
 * Reads the key of a path: one value per key field, percent-encoded and joined by commas (API specification, section 4).
 *
 * A malformed key is answered like a missing item: FORBIDDEN. An encoding that is none is no path: ROUTE_NOT_FOUND.
 */
export function parseKeySegment(collection: CollectionScope, segment: string): readonly string[] {
  return decodePathKey(collection, segment.split(',').map(decodeSegment));
}

/** Decodes the values of a key in the form of a path; values that are no texts stand there as JSON. */
export function decodePathKey(collection: CollectionScope, parts: readonly string[]): readonly string[] {
  const types = keyTypes(collection.descriptor);
  return decodeKey(
    collection,
    parts.map((part, index) => readPathPart(types[index]?.type, part)),
  );
}

function readPathPart(type: PortableType | undefined, part: string): JsonValue {
  if (type === 'json') return readJson(part);
  const list = type === 'csv' ? readJson(part) : null;
  return Array.isArray(list) ? list : part;
}

export function printPathValue({ type }: FieldDescriptor, value: JsonValue): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return type === 'json' && readJson(value) !== value ? JSON.stringify(value) : value;
}

/** A key in the form of a path, percent-encoded and joined by commas. */
export function printPath(fields: readonly FieldDescriptor[], values: readonly JsonValue[]): string {
  return fields.map((field, index) => encodeURIComponent(printPathValue(field, values[index] ?? null))).join(',');
}

/** The key of a body in the form of a path. Throws FORBIDDEN for what cannot be a key. */
export function pathKey(collection: CollectionScope, key: JsonValue): string {
  const fields = keyFields(collection.descriptor);
  const parts = keyParts(fields, key);
  decodeKey(collection, parts);
  return printPath(fields, parts);
}

/** A key in the form of a path as a body has it. */
export function bodyKey({ descriptor }: CollectionScope, key: string): JsonValue {
  const [field, ...more] = keyFields(descriptor);
  return more.length === 0 && field?.type === 'json' ? readJson(key) : key;
}

/** The JSON that a text is, else the text itself. */
export function readJson(text: string): JsonValue {
  try {
    return parseExactly(text);
  } catch {
    return text;
  }
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new PlatformError('ROUTE_NOT_FOUND');
  }
}

/** Reads the keys of a body: one array literal per key field, and the number of different keys. */
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
  if (isObject(key) && !isValue(fields, key)) {
    if (Object.keys(key).length !== fields.length) throw forbidden();
    return fields.map((field) => (Object.hasOwn(key, field.name) ? (key[field.name] ?? null) : null));
  }
  return fields.length > 1 && typeof key === 'string' ? key.split(',').map(decodePart) : [key];
}

/** True if an object is the value of the only field, and no object of the key fields. */
function isValue([field, ...more]: readonly FieldDescriptor[], key: FilterObject): boolean {
  if (field === undefined || more.length > 0 || !(field.type === 'json' || field.type === 'composite')) return false;
  return Object.keys(key).length !== 1 || !Object.hasOwn(key, field.name);
}

/** In a body an encoding that is none is no key. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw forbidden();
  }
}

/**
 * Decodes the values of a key, one per key field; `decodedParts` has texts of those that are decoded already, by their positions.
 * Throws FORBIDDEN for what cannot be a key.
 */
export function decodeKey(
  collection: CollectionScope,
  parts: readonly JsonValue[],
  decodedParts: readonly (string | undefined)[] = [],
): readonly string[] {
  const types = keyTypes(collection.descriptor);
  if (types.length === 0 || types.length !== parts.length) throw forbidden();
  return types.map((type, index) => {
    const text = decodedParts[index];
    if (text !== undefined) return text;
    const part = parts[index] ?? null;
    const decoded = decodeValue(type, hasParts(type) && typeof part === 'string' ? readJson(part) : part);
    if (!decoded.ok || decoded.value === null || isCut(type, decoded.value)) throw forbidden();
    return oneSpelling(type, decoded.value);
  });
}

/** The types of a collection's key. */
const keyTypes = derivedOnce((descriptor: CollectionScope['descriptor']) =>
  keyFields(descriptor).map((field) => operandType(field)),
);
