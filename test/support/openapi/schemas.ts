/**
 * The schemas of one document, which values are compared with.
 *
 * Three ways to read them: as they are; for answers also closed, so that a member that nobody described is found; and for
 * texts of an address, whose types are those of the schema.
 */
import { createInterpreter, type Interpret, isOfType } from './interpret.ts';
import { elements, isObject, type Json, type JsonObject, member, members } from './json.ts';

/** How a value is compared with a schema. */
export type Reading = 'open' | 'closed' | 'text';

/** Judges values by the schema at a place of the document, such as `['components', 'schemas', 'Meta']`. */
export type Judge = (reading: Reading, place: readonly string[], value: Json) => readonly string[];

/** Makes the judge of a document. */
export function createJudge(document: JsonObject): Judge {
  const interpreters: Readonly<Record<Reading, () => Interpret>> = {
    open: once(() => createInterpreter(document)),
    closed: once(() => createInterpreter(document, { schema: closing(document) })),
    text: once(() => createInterpreter(document, { value: typed })),
  };
  return (reading, place, value) => interpreters[reading]()(place, value).slice(0, most);
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

/** A text of an address as the value of a type that a schema has, as ajv coerces it: a number, a boolean, a list of its own. */
function typed(value: Json, types: readonly Json[]): Json {
  if (types.length === 0 || types.some((type) => isOfType(value, type))) return value;
  const only: Json = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (types.length === 1 && isOfType(only, types[0])) return only;
  if (typeof only !== 'string') return value;
  for (const type of types) {
    if (type === 'array') return [only];
    if (type === 'boolean' && /^(true|false)$/.test(only)) return only === 'true';
    if (/^(number|integer)$/.test(String(type)) && only.trim() !== '' && isOfType(Number(only), type))
      return Number(only);
    if (type === 'null' && only === '') return null;
  }
  return value;
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
 * `unevaluatedProperties` nests as deeply as there are members. The parts stay open themselves. Each schema is closed when a
 * value is compared with it: few of a document ever are.
 */
function closing(document: JsonObject): (schema: JsonObject) => JsonObject {
  const parts = partsIn(document);
  const known = new WeakMap<JsonObject, JsonObject>();
  return (schema) => {
    const found = known.get(schema) ?? closed(schema, document, parts);
    known.set(schema, found);
    return found;
  };
}

/** Properties of a part and of the parts that it is made of itself. */
function propertiesIn(document: Json, part: Json): readonly Json[] {
  const schema = follow(document, part);
  const inner = elements(member(schema, 'allOf')).flatMap((each) => propertiesIn(document, each));
  const own = member(schema, 'properties');
  return own === undefined && inner.length > 0 ? inner : [own, ...inner];
}

function closed(value: JsonObject, document: Json, parts: ReadonlySet<Json>): JsonObject {
  const { type, properties } = value;
  const others = elements(value.allOf).flatMap((part) => propertiesIn(document, part));
  const all = [...(properties === undefined ? [] : [properties]), ...others];
  const odd = all.some((each) => !isObject(each));
  const open = type !== 'object' || all.length === 0 || odd || parts.has(value);
  if (open || 'additionalProperties' in value || 'unevaluatedProperties' in value) return value;
  const named = others.flatMap((each) => members(each).map(([name]) => [name, true] as const));
  const own = members(properties);
  return { ...value, properties: Object.fromEntries([...named, ...own]), additionalProperties: false };
}
