/** How a request names one item. Source: API specification, section 4. */

import { scalarInput } from './components/values.ts';
import { anyOf, type JsonObject, objectOf } from './json.ts';
import type { AddressedKeyField } from './paths/addressed.ts';

/** The path parameter `key`. Several fields are an array, which style `simple` joins by commas, each value encoded. */
export function keyParameter(key: readonly AddressedKeyField[]): JsonObject {
  const schemas = key.map(inPath);
  const [only = {}] = schemas;
  const names = key.map(({ name }) => `"${name}"`).join(', ');
  const multiple = key.length > 1;
  return {
    name: 'key',
    in: 'path',
    required: true,
    description: multiple
      ? `The values of ${names}, percent-encoded and joined by a comma in this order. A comma within a value is %2C.`
      : `The value of ${names}, percent-encoded.`,
    ...(multiple && { style: 'simple', explode: false }),
    schema: multiple ? tuple(schemas) : only,
  };
}

/** The path parameter `key` for those who may write items whose key they may not read. */
export const hiddenKey: JsonObject = {
  name: 'key',
  in: 'path',
  required: true,
  description: 'The key, percent-encoded; several values are joined by a comma.',
  schema: { type: 'string' },
};

/** A key in a request body: a value, or an object of the key fields. */
export function keyInput(key: readonly AddressedKeyField[]): JsonObject {
  const [only] = key;
  return only !== undefined && key.length === 1 ? inBody(only) : keyObject(key);
}

/**
 * A key in a list of keys: its value, which is in path form where there are several, or an object of the key fields. Its
 * value alone where they are hidden.
 */
export function listedKey(key: readonly AddressedKeyField[]): JsonObject {
  const [only] = key;
  if (only === undefined) return { type: ['string', 'number', 'boolean'] };
  const value: JsonObject = key.length === 1 ? inBody(only) : { type: 'string' };
  return { anyOf: [value, keyObject(key)] };
}

/** A key as an object of its fields. */
export function keyObject(key: readonly AddressedKeyField[]): JsonObject {
  return {
    type: 'object',
    properties: objectOf(key.map((field) => [field.name, inBody(field)])),
    required: key.map(({ name }) => name),
    additionalProperties: false,
  };
}

/** Without `prefixItems`: generators and linters want `items`, and with both they make an element too many. */
function tuple(schemas: readonly JsonObject[]): JsonObject {
  return { type: 'array', items: anyOf(...distinct(schemas)), minItems: schemas.length, maxItems: schemas.length };
}

function distinct(schemas: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}

/** Values that are not whole numbers are written as text in a path, in any form that a body takes. */
function inPath({ descriptor, values }: AddressedKeyField): JsonObject {
  const { type, pattern, ...schema } = scalarInput(descriptor, values);
  if (descriptor.type === 'integer') return { ...schema, type: 'integer' };
  if (type === 'string') return { ...schema, type, ...(pattern !== undefined && { pattern }) };
  return { type: 'string', ...(pattern !== undefined && { pattern }) };
}

function inBody({ descriptor, values }: AddressedKeyField): JsonObject {
  return scalarInput(descriptor, values);
}
