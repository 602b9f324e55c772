/**
 * The schemas of one document. Bodies are compared with them as they stand; texts of an address, whose types are those of the
 * schema, by ajv.
 *
 * Three ways to read them: as they are; for answers also closed, so that a member that nobody described is found; and for
 * texts of an address, whose types are those of the schema.
 */
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { createInterpreter } from './interpret.ts';
import { elements, isObject, type Json, type JsonObject, member, members } from './json.ts';

/** How a value is compared with a schema. */
export type Reading = 'open' | 'closed' | 'text';

/** Judges values by the schema at a place of the document, such as `['components', 'schemas', 'Meta']`. */
export type Judge = (reading: Reading, place: readonly string[], value: Json) => readonly string[];

/** Makes the judge of a document. */
export function createJudge(document: JsonObject): Judge {
  const validators = new Map<string, ValidateFunction>();
  const open = once(() => createInterpreter(document));
  const closedly = once(() => createInterpreter({ ...document, ...closed(document, document, partsIn(document)) }));
  const texts = once(() => reader(document, { coerceTypes: 'array' }));
  return function judge(reading, place, value) {
    if (reading !== 'text') return (reading === 'open' ? open : closedly)()(place, value).slice(0, most);
    const pointer = `document#/${place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
    const validate = validators.get(pointer) ?? texts().compile({ $ref: pointer });
    validators.set(pointer, validate);
    // What is coerced is written where it was found.
    if (validate(structuredClone(value))) return [];
    return (validate.errors ?? []).slice(0, most).map((error) => {
      return `${error.instancePath || '/'} ${error.message ?? error.keyword} (${error.schemaPath})`;
    });
  };
}

/** Of more mistakes than these nobody reads. */
const most = 5;

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function reader(document: JsonObject, options: Options): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    // Nullable values have two types, and what a form needs is said beside what it has.
    allowUnionTypes: true,
    strictRequired: false,
    validateSchema: false,
    // Otherwise the code of what has thousands of members nests as deeply.
    allErrors: true,
    // Fields may have the names of what every object inherits.
    ownProperties: true,
    logger: false,
    code: { optimize: false },
    ...options,
  });
  formats.default(ajv);
  ajv.addVocabulary(['openapi', 'info', 'servers', 'security', 'tags', 'paths', 'components']);
  ajv.addSchema({ ...document, $id: 'document' });
  return ajv;
}

/** Components of which others are put together. */
function partsIn(document: Json): ReadonlySet<Json> {
  const parts = new Set<Json>();
  const collect = (inner: Json): void => {
    for (const part of elements(member(inner, 'allOf'))) parts.add(follow(document, part));
    for (const each of Array.isArray(inner) ? inner : isObject(inner) ? Object.values(inner) : []) collect(each);
  };
  collect(document);
  return parts;
}

/** The schema itself, or the component that it refers to. */
function follow(document: Json, schema: Json): Json {
  const reference = member(schema, '$ref');
  return typeof reference === 'string' ? reference.slice(2).split('/').reduce<Json>(member, document) : schema;
}

/**
 * Every object that lists its members has no others. Those of its parts are named beside its own, because the code for
 * `unevaluatedProperties` nests as deeply as there are members. The parts stay open themselves.
 */
function closed(value: JsonObject, document: Json, parts: ReadonlySet<Json>): JsonObject {
  const entries = Object.entries(value).map(([name, inner]) => [name, closedValue(inner, document, parts)] as const);
  const { type, properties } = value;
  const others = elements(value.allOf).map((part) => member(follow(document, part), 'properties'));
  const all = [...(properties === undefined ? [] : [properties]), ...others];
  // ajv leaves a member of the name `__proto__` out.
  const odd = all.some((each) => !isObject(each) || Object.hasOwn(each, '__proto__'));
  const open = type !== 'object' || all.length === 0 || odd || parts.has(value);
  const said = 'additionalProperties' in value || 'unevaluatedProperties' in value;
  const plain = Object.fromEntries(entries);
  if (open || said) return plain;
  const named = others.flatMap((each) => members(each).map(([name]) => [name, true] as const));
  const own = members(plain.properties);
  return { ...plain, properties: Object.fromEntries([...named, ...own]), additionalProperties: false };
}

function closedValue(value: Json, document: Json, parts: ReadonlySet<Json>): Json {
  if (Array.isArray(value)) return value.map((one) => closedValue(one, document, parts));
  return isObject(value) ? closed(value, document, parts) : value;
}
