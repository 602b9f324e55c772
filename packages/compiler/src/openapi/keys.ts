/** Keys by which a request names items. Source: API specification, section 4. */
import type { FieldDescriptor } from '@tablewright/runtime/language';
import { sha256 } from '../print/json.ts';
import { briefSchema, nameTyped, scalarInput } from './components/values.ts';
import { anyOf, type JsonObject, listOf, objectOf, type Parts, reference } from './json.ts';
import type { Addressed, AddressedKeyField } from './paths/addressed.ts';

/** The path parameter `key`. Several fields are an array, which style `simple` joins by commas, each value encoded. */
function keyParameter(key: readonly AddressedKeyField[]): JsonObject {
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
const hiddenKey: JsonObject = {
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

/** Components of a key, which all collections with such a key share: the key in lists, and bodies that name items. */
export function keySchemas(collection: Addressed): Parts {
  const naming = namingOf(collection);
  const { key, writes, operations } = collection;
  const keys = [
    ...(operations.includes('search') && key.length > 0 ? [key] : []),
    ...(writes !== null && isKeyed(collection) ? [writes.key] : []),
  ];
  return [
    ...keys.map((listed) => [nameKey(listed), listedKey(listed)] as const),
    ...(naming === null ? [] : [[naming.name, { oneOf: naming.forms }] as const]),
  ];
}

/** The body of a request that names items and says nothing else of them. */
export function namingBodies(collection: Addressed): Parts {
  const naming = namingOf(collection);
  if (naming === null || collection.writes?.delete !== true) return [];
  const named: JsonObject = {
    type: 'object',
    allOf: [reference('schemas', naming.name)],
    unevaluatedProperties: false,
  };
  const keys = isKeyed(collection) ? [listOf(listedKeyReference(collection.writes.key))] : [];
  const schema = anyOf(named, ...keys);
  return [[naming.name, { required: true, content: { 'application/json': { schema } } }]];
}

export function listedKeyReference(key: readonly AddressedKeyField[]): JsonObject {
  return reference('schemas', nameKey(key));
}

export function keyParameters({ key }: Addressed): Parts {
  return [[nameKey(key), key.length > 0 ? keyParameter(key) : hiddenKey]];
}

export function useKey({ key }: Addressed): JsonObject {
  return reference('parameters', nameKey(key));
}

/** The component for members that name items: by `keys`, or by a `query` for those who may read something. */
export function nameNaming(collection: Addressed): string | null {
  return namingOf(collection)?.name ?? null;
}

/** Null where nothing can be named. */
function namingOf(collection: Addressed) {
  const { readable, writes } = collection;
  if (writes === null || (!readable && !isKeyed(collection))) return null;
  const byKeys = isKeyed(collection) ? [named('keys', listOf(listedKeyReference(writes.key)))] : [];
  const byQuery = readable ? [named('query', reference('schemas', 'WriteQuery'))] : [];
  const name = byKeys.length === 0 ? 'NamedByQuery' : `${readable ? 'NamedBy' : 'ListedBy'}${nameKey(writes.key)}`;
  return { name, forms: [...byKeys, ...byQuery] };
}

function named(name: string, schema: JsonObject): JsonObject {
  return { type: 'object', properties: { [name]: schema }, required: [name] };
}

/** True if items have keys, though their fields may be hidden. */
export function isKeyed({ operations }: Addressed): boolean {
  return operations.includes('update') || operations.includes('delete');
}

/** `KeyIdInteger`; with a hash where more is known of values than their type. */
function nameKey(key: readonly AddressedKeyField[]): string {
  const fields = key.map((field) => {
    const schema = JSON.stringify(inBody(field));
    const isPlain = plainKeys.some((plain) => plain.type === field.descriptor.type && plain.schema === schema);
    return `${nameTyped(field)}${isPlain ? '' : `__${sha256(schema).slice(0, 10)}`}`;
  });
  return `Key${fields.length === 0 ? 'Hidden' : fields.join('_')}`;
}

/** The keys that most tables have. */
const plainKeys = (
  [
    { type: 'integer', native: 'int4', wire: { kind: 'i4' } },
    { type: 'bigInteger', native: 'int8', wire: { kind: 'i8' } },
    { type: 'uuid', native: 'uuid', wire: { kind: 'uuid' } },
  ] as const satisfies readonly Partial<FieldDescriptor>[]
).map((facts) => ({ type: facts.type, schema: JSON.stringify(scalarInput(facts, null)) }));

/** A key in a list: its value, in path form where there are several, or an object; its value alone where hidden. */
function listedKey(key: readonly AddressedKeyField[]): JsonObject {
  const [only] = key;
  if (only === undefined) return { type: ['string', 'number', 'boolean'] };
  const value: JsonObject = key.length === 1 ? inBody(only) : { type: 'string' };
  return { anyOf: [value, keyObject(key)] };
}

export function keyObject(key: readonly AddressedKeyField[]): JsonObject {
  return {
    type: 'object',
    properties: objectOf(key.map((field) => [field.name, briefSchema(inBody(field))])),
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
