/** Shows recorded requests and responses as examples, where both match the document of an access class. */
import type { JsonValue } from '@tablewright/runtime/language';
import type { Example, OperationExamples } from '../../api.ts';
import { isText } from '../../print/json.ts';
import { isJsonObject, type JsonObject, objectOf } from '../json.ts';

/** The document with its examples, by `operationId`. Those that do not fit it any more are left out. */
export function withExamples(document: JsonObject, examples: OperationExamples): JsonObject {
  return Object.keys(examples).length === 0 ? document : insert(document, examples, () => true);
}

/** The same for examples of what no collection has: paths of collections may be known by their texts only. */
export function withFixedExamples(document: JsonObject, examples: OperationExamples): JsonObject {
  return insert(document, examples, (item) => !isJsonObject(item) || !isText(item));
}

function insert(
  document: JsonObject,
  examples: OperationExamples,
  isLookedAt: (item: JsonValue) => boolean,
): JsonObject {
  const fits = createFits(document);
  const paths = mapMembers(document.paths, (item) =>
    isLookedAt(item)
      ? mapMembers(item, (part, method) => {
          const operation = method === 'x-platform-search' ? withAnswer(part, item) : part;
          const id = isJsonObject(operation) ? operation.operationId : undefined;
          const recorded = typeof id === 'string' && Object.hasOwn(examples, id) ? (examples[id] ?? []) : [];
          return isJsonObject(operation) && recorded.length > 0 ? exemplify(document, operation, recorded, fits) : part;
        })
      : item,
  );
  return { ...document, paths };
}

/** SEARCH with the answer that it has in common with GET. */
function withAnswer(search: JsonValue, item: JsonValue): JsonValue {
  const get = isJsonObject(item) ? item.get : undefined;
  if (!isJsonObject(search) || !isJsonObject(get) || search.tags !== undefined) return search;
  return { ...search, responses: Object.assign({}, get.responses, search.responses) };
}

/** An operation with those of its examples that fit. Components get none, because other operations share them. */
function exemplify(document: JsonObject, shared: JsonObject, examples: readonly Example[], fits: Fits): JsonObject {
  const operation = {
    ...shared,
    ...(shared.requestBody !== undefined && { requestBody: whole(document, shared.requestBody) }),
    responses: mapMembers(shared.responses, (response) => whole(document, response)),
  };
  const fitting = examples.filter((example) => isFitting(operation, example, fits));
  if (fitting.length === 0) return shared;
  const { requestBody: body, responses } = operation;
  const sent = fitting.flatMap((example) =>
    example.body === undefined ? [] : [{ summary: example.request, value: example.body }],
  );
  const plain = isJsonObject(shared.responses) ? shared.responses : {};
  return {
    ...shared,
    ...(isJsonObject(body) && sent.length > 0 && { requestBody: show(body, sent) }),
    responses: mapMembers(responses, (response, status) => {
      const answered = fitting.filter((example) => String(example.status) === status);
      const shown = answered.flatMap(({ request, answer: result }) =>
        result === undefined ? [] : [{ summary: request, value: result }],
      );
      return isJsonObject(response) && shown.length > 0 ? show(response, shown) : (plain[status] ?? null);
    }),
  };
}

/** The part itself, or what it refers to. */
function whole(document: JsonObject, part: JsonValue): JsonValue {
  return isJsonObject(part) && typeof part.$ref === 'string' ? follow(document, part.$ref) : part;
}

function isFitting({ requestBody, responses }: JsonObject, example: Example, fits: Fits): boolean {
  const response = isJsonObject(responses) ? responses[String(example.status)] : undefined;
  if (response === undefined) return false;
  return isDescribed(requestBody, example.body, fits) && isDescribed(response, example.answer, fits);
}

/** True if the described body allows the JSON, or its absence. */
function isDescribed(described: JsonValue | undefined, value: JsonValue | undefined, fits: Fits): boolean {
  const schema = mediaOf(described)?.[1].schema;
  return value === undefined ? true : schema !== undefined && fits(schema, value);
}

/** The JSON among the media types of a body, with its description. */
function mediaOf(described: JsonValue | undefined): readonly [string, JsonObject] | undefined {
  const content = isJsonObject(described) ? described.content : undefined;
  const media = isJsonObject(content) ? Object.entries(content) : [];
  const found = media.find(([type]) => /[/+]json$/.test(type));
  return found !== undefined && isJsonObject(found[1]) ? [found[0], found[1]] : undefined;
}

function show(described: JsonObject, examples: readonly JsonObject[]): JsonObject {
  const media = mediaOf(described);
  if (media === undefined || examples.length === 0) return described;
  const [type, schema] = media;
  const named = objectOf(examples.map((example, index) => [`example${index + 1}`, example]));
  const content = isJsonObject(described.content) ? described.content : {};
  return { ...described, content: { ...content, [type]: { ...schema, examples: named } } };
}

/** Maps members; gives the object itself where nothing changes, so that texts stay texts. */
function mapMembers(value: JsonValue | undefined, change: (inner: JsonValue, name: string) => JsonValue): JsonObject {
  if (!isJsonObject(value)) return {};
  const members = Object.entries(value).map(([name, inner]) => [name, change(inner, name)] as const);
  return members.every(([name, inner]) => inner === value[name]) ? value : objectOf(members);
}

type Fits = (schema: JsonValue, value: JsonValue) => boolean;

/**
 * Makes the judge of a document.
 *
 * True if a value matches a schema of the document and has no member beyond it. A member without a description does not
 * match, although documents leave objects open. So examples recorded before a field was hidden are no longer shown.
 * Reads the keywords that this compiler prints; bounds of numbers and texts are not checked.
 */
function createFits(document: JsonObject): Fits {
  /** The members of an object that are described, all of which fit; null when something does not. */
  function describedBy(schema: JsonValue, value: JsonValue): ReadonlySet<string> | null {
    if (schema === true) return new Set(isJsonObject(value) ? Object.keys(value) : []);
    if (!isJsonObject(schema) || !hasType(schema.type, value)) return null;
    if (schema.const !== undefined && !isSame(schema.const, value)) return null;
    if (Array.isArray(schema.enum) && !schema.enum.some((allowed: JsonValue) => isSame(allowed, value))) return null;
    if (Array.isArray(value)) return areItems(schema, value) ? describedByParts(schema, value, new Set()) : null;
    const names = isJsonObject(value) ? describedMembers(schema, value) : new Set<string>();
    return names && describedByParts(schema, value, names);
  }

  /** Adds what the schemas describe of which one is made. */
  function describedByParts(schema: JsonObject, value: JsonValue, names: ReadonlySet<string>) {
    const found = [names];
    if (typeof schema.$ref === 'string') found.push(describedBy(follow(document, schema.$ref), value) ?? none);
    for (const part of listOf(schema.allOf)) found.push(describedBy(part, value) ?? none);
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      const parts = listOf(schema[keyword]);
      if (parts.length > 0) found.push(firstOf(parts, value) ?? none);
    }
    return found.includes(none) ? null : new Set(found.flatMap((each) => [...each]));
  }

  /** The first alternative that describes the whole value, else the first that it fits at all. */
  function firstOf(parts: readonly JsonValue[], value: JsonValue): ReadonlySet<string> | null {
    const all = parts.map((part) => describedBy(part, value));
    const whole = all.find((names) => names !== null && isWhole(value, names));
    return whole ?? all.find((names) => names !== null) ?? null;
  }

  function describedMembers(schema: JsonObject, value: JsonObject): ReadonlySet<string> | null {
    const members = Object.entries(value);
    const { properties, patternProperties, additionalProperties: others } = schema;
    if (listOf(schema.required).some((name) => typeof name === 'string' && !Object.hasOwn(value, name))) return null;
    const patterns = isJsonObject(patternProperties) ? Object.entries(patternProperties) : [];
    const schemaOf = (name: string): JsonValue | undefined => {
      if (isJsonObject(properties) && Object.hasOwn(properties, name)) return properties[name];
      return patterns.find(([pattern]) => new RegExp(pattern, 'u').test(name))?.[1] ?? others;
    };
    const judged = members.map(([name, inner]) => ({ name, inner, schema: schemaOf(name) }));
    if (judged.some((member) => member.schema !== undefined && !fits(member.schema, member.inner))) return null;
    const isFree = memberKeywords.every((keyword) => schema[keyword] === undefined);
    return new Set(judged.filter((member) => isFree || member.schema !== undefined).map(({ name }) => name));
  }

  function areItems(schema: JsonObject, values: readonly JsonValue[]): boolean {
    const { items } = schema;
    return items === undefined || values.every((value) => fits(items, value));
  }

  function fits(schema: JsonValue, value: JsonValue): boolean {
    const names = describedBy(schema, value);
    return names !== null && isWhole(value, names);
  }

  return fits;
}

/** Keywords of a part that does not match. */
const none: ReadonlySet<string> = new Set();

/** A schema with none of these says nothing about the members of objects. */
const memberKeywords = [
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
] as const;

function isWhole(value: JsonValue, names: ReadonlySet<string>): boolean {
  return !isJsonObject(value) || Object.keys(value).every((name) => names.has(name));
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function isSame(left: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(left) === JSON.stringify(other);
}

function hasType(types: JsonValue | undefined, value: JsonValue): boolean {
  if (types === undefined) return true;
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const names = Array.isArray(types) ? types : [types];
  return names.includes(type) || (Number.isInteger(value) && names.includes('integer'));
}

/** The part of a document that a reference leads to; false where there is none, which nothing fits. */
function follow(document: JsonObject, reference: string): JsonValue {
  const names = reference
    .slice('#/'.length)
    .split('/')
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce<JsonValue>(
    (part, name) => (isJsonObject(part) && Object.hasOwn(part, name) ? (part[name] ?? false) : false),
    document,
  );
}
