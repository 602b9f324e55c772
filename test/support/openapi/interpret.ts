/**
 * Compares values with schemas of JSON Schema 2020 as it walks through both. Most schemas of a document are asked once or
 * twice: a validator that compiles them takes longer for that than the rest of the test. Knows the keywords that documents
 * have, and refuses others, as it does values of keywords that are of another type. A unit test compares it with ajv, which
 * compiles every schema of the documents of the compiler's tests in its strict mode.
 */
import { isDeepStrictEqual } from 'node:util';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { elements, isObject, type Json, type JsonObject, member, memberOrElement, members } from './json.ts';

/** A fault, and members of an object that a schema has something to say about. */
interface Found {
  readonly faults: string[];
  readonly evaluated: Set<string>;
}

/** Says what is wrong with a value by the schema at a place of a document; nothing where all is right. */
export type Interpret = (place: readonly string[], value: Json) => readonly string[];

/** How schemas and values are taken, where they are not taken as they are. */
export interface Taking {
  readonly schema?: (schema: JsonObject) => JsonObject;
  /** Gives the value that one is for a schema of a type, or of one of several. */
  readonly value?: (value: Json, types: readonly Json[]) => Json;
}

/** Makes the interpreter of a document. */
export function createInterpreter(document: JsonObject, taking: Taking = {}): Interpret {
  const context: Context = { document, taking, patterns: new Map(), rules: new WeakMap(), schemas: new Map() };
  return (place, value) => {
    const schema = place.reduce<Json>(memberOrElement, document);
    if (!isObject(schema)) throw new Error(`There is no schema at ${place.join('/')}.`);
    return judge(context, schema, value, '').faults;
  };
}

interface Context {
  readonly document: JsonObject;
  readonly taking: Taking;
  readonly patterns: Map<string, RegExp>;
  /** Rules of schemas, found once: values of a list are judged by the same ones. */
  readonly rules: WeakMap<JsonObject, readonly KeywordRule[]>;
  /** Schemas by references. */
  readonly schemas: Map<string, Json>;
}

/** Keywords that judge no value. */
const annotations = new Set(
  ['title', 'description', 'default', 'deprecated', 'readOnly', 'writeOnly', 'examples'].concat(
    ['$comment', 'contentMediaType', 'contentEncoding', 'contentSchema'],
    // Judged together with others.
    ['additionalProperties', 'unevaluatedProperties'],
  ),
);

function judge(context: Context, written: Json, given: Json, at: string): Found {
  const found: Found = { faults: [], evaluated: new Set() };
  if (written === true) return found;
  if (!isObject(written)) return { ...found, faults: [`${at || '/'} boolean schema is false`] };
  const { taking } = context;
  const schema = taking.schema?.(written) ?? written;
  const value = taking.value === undefined ? given : taking.value(given, typesOf(schema.type));
  const known = context.rules.get(schema) ?? rulesOf(schema);
  context.rules.set(schema, known);
  for (const { rule, said } of known) rule({ context, said, schema, value, at, found });
  if (isObject(value)) judgeOthers(context, schema, value, at, found);
  return found;
}

/** A keyword that judges values, and what a schema says by it. */
interface KeywordRule {
  readonly rule: Rule;
  readonly said: Json;
}

function rulesOf(schema: JsonObject): readonly KeywordRule[] {
  return members(schema)
    .filter(([keyword]) => !annotations.has(keyword))
    .map(([keyword, said]) => {
      const rule = Object.hasOwn(rules, keyword) ? rules[keyword] : undefined;
      if (rule === undefined) throw new Error(`The keyword "${keyword}" is not known to the tests.`);
      if (!isOfKind(keyword, said)) throw new Error(`The keyword "${keyword}" cannot be ${JSON.stringify(said)}.`);
      return { rule, said };
    });
}

interface Case {
  readonly context: Context;
  readonly said: Json;
  readonly schema: JsonObject;
  readonly value: Json;
  readonly at: string;
  readonly found: Found;
}

type Rule = (one: Case) => void;

const fail = ({ at, found }: Case, message: string): void => void found.faults.push(`${at || '/'} ${message}`);

/** Takes over what a schema has found about the same value. */
function merge(into: Found, { faults, evaluated }: Found): void {
  into.faults.push(...faults);
  for (const name of evaluated) into.evaluated.add(name);
}

/** A rule about values of one type, which says nothing of others. */
const ofText = (holds: (text: string, said: Json, context: Context) => boolean, message: string): Rule =>
  ruleOf((value): value is string => typeof value === 'string', holds, message);
const ofNumber = (holds: (number: number, said: number) => boolean, message: string): Rule =>
  ruleOf(
    (value): value is number => typeof value === 'number',
    (number, said) => holds(number, Number(said)),
    message,
  );
const ofList = (holds: (list: readonly Json[], said: number) => boolean, message: string): Rule =>
  ruleOf(
    (value): value is readonly Json[] => Array.isArray(value),
    (list, said) => holds(list, Number(said)),
    message,
  );

function ruleOf<T>(
  isOf: (value: Json) => value is T,
  holds: (value: T, said: Json, context: Context) => boolean,
  message: string,
): Rule {
  return (one) => {
    if (isOf(one.value) && !holds(one.value, one.said, one.context)) fail(one, `${message} ${String(one.said)}`);
  };
}

const rules: Readonly<Record<string, Rule>> = {
  $ref: (one) => merge(one.found, judge(one.context, follow(one.context, String(one.said)), one.value, one.at)),
  type(one) {
    const types = typesOf(one.said);
    if (!types.some((type) => isOfType(one.value, type))) fail(one, `must be ${types.join(',')}`);
  },
  enum(one) {
    if (!elements(one.said).some((each) => isDeepStrictEqual(each, one.value))) {
      fail(one, `must be equal to one of the allowed values ${JSON.stringify(one.said)}`);
    }
  },
  const(one) {
    if (!isDeepStrictEqual(one.said, one.value)) fail(one, `must be equal to constant ${JSON.stringify(one.said)}`);
  },
  format: (one) => judgeFormat(one, String(one.said)),
  pattern: ofText((text, said, context) => patternOf(context, String(said)).test(text), 'must match pattern'),
  minLength: ofText((text, said) => [...text].length >= Number(said), 'must NOT have fewer characters than'),
  maxLength: ofText((text, said) => [...text].length <= Number(said), 'must NOT have more characters than'),
  minimum: ofNumber((number, said) => number >= said, 'must be >='),
  maximum: ofNumber((number, said) => number <= said, 'must be <='),
  exclusiveMinimum: ofNumber((number, said) => number > said, 'must be >'),
  exclusiveMaximum: ofNumber((number, said) => number < said, 'must be <'),
  multipleOf: ofNumber((number, said) => Number.isInteger(number / said), 'must be multiple of'),
  minItems: ofList((list, said) => list.length >= said, 'must NOT have fewer items than'),
  maxItems: ofList((list, said) => list.length <= said, 'must NOT have more items than'),
  uniqueItems: ofList(
    (list) => new Set(list.map((each) => JSON.stringify(each))).size === list.length,
    'must be unique',
  ),
  items(one) {
    for (const [index, each] of elements(one.value).entries()) {
      one.found.faults.push(...judge(one.context, one.said, each, `${one.at}/${index}`).faults);
    }
  },
  minProperties(one) {
    if (isObject(one.value) && Object.keys(one.value).length < Number(one.said)) fail(one, 'must have more properties');
  },
  maxProperties(one) {
    if (isObject(one.value) && Object.keys(one.value).length > Number(one.said))
      fail(one, 'must have fewer properties');
  },
  required(one) {
    if (!isObject(one.value)) return;
    for (const name of elements(one.said)) {
      if (!Object.hasOwn(one.value, String(name))) fail(one, `must have required property '${String(name)}'`);
    }
  },
  properties(one) {
    if (!isObject(one.value) || !isObject(one.said)) return;
    for (const name of Object.keys(one.said)) {
      if (Object.hasOwn(one.value, name)) judgeMember(one, name, one.said[name]);
    }
  },
  patternProperties(one) {
    for (const [pattern, schema] of members(one.said)) {
      const matching = members(one.value).filter(([name]) => patternOf(one.context, pattern).test(name));
      for (const [name] of matching) judgeMember(one, name, schema);
    }
  },
  propertyNames(one) {
    for (const [name] of members(one.value)) {
      const { faults } = judge(one.context, one.said, name, one.at);
      if (faults.length > 0) fail(one, `property name '${name}' must be valid`);
    }
  },
  allOf(one) {
    for (const schema of elements(one.said)) merge(one.found, judge(one.context, schema, one.value, one.at));
  },
  anyOf: (one) => judgeChoice(one, (right) => right.length > 0),
  oneOf: (one) => judgeChoice(one, (right) => right.length === 1),
  not(one) {
    if (judge(one.context, one.said, one.value, one.at).faults.length === 0) fail(one, 'must NOT be valid');
  },
};

const kinds: readonly (readonly [keywords: RegExp, isOf: (said: Json) => boolean])[] = [
  [/^(?:\$ref|format|pattern)$/, (said) => typeof said === 'string'],
  [/^(?:min|max|exclusive|multipleOf)/, (said) => typeof said === 'number'],
  [/^(?:required|enum|allOf|anyOf|oneOf)$/, Array.isArray],
  [/^(?:properties|patternProperties)$/, isObject],
];

/** True if a keyword may say that: a wrong type would let every value pass. */
function isOfKind(keyword: string, said: Json): boolean {
  return kinds.every(([keywords, isOf]) => !keywords.test(keyword) || isOf(said));
}

function judgeMember({ context, value, at, found }: Case, name: string, schema: Json): void {
  found.evaluated.add(name);
  found.faults.push(...judge(context, schema, member(value, name), `${at}/${name}`).faults);
}

function judgeChoice(one: Case, isRight: (right: readonly Found[]) => boolean): void {
  const found = elements(one.said).map((schema) => judge(one.context, schema, one.value, one.at));
  const right = found.filter(({ faults }) => faults.length === 0);
  for (const each of right) merge(one.found, each);
  if (isRight(right)) return;
  if (right.length === 0) for (const { faults } of found) one.found.faults.push(...faults);
  fail(one, `must match ${'oneOf' in one.schema ? 'exactly one schema in oneOf' : 'a schema in anyOf'}`);
}

/** Members that no other keyword has named: what is said of them comes last. */
function judgeOthers(context: Context, schema: JsonObject, value: JsonObject, at: string, found: Found): void {
  const { additionalProperties, unevaluatedProperties } = schema;
  if (additionalProperties === undefined && unevaluatedProperties === undefined) return;
  const patterns = members(schema.patternProperties).map(([pattern]) => patternOf(context, pattern));
  const isNamed = (name: string): boolean =>
    member(schema.properties, name) !== undefined || patterns.some((pattern) => pattern.test(name));
  const judgeEach = (said: Json, names: readonly string[], kind: string): void => {
    for (const name of names) {
      found.evaluated.add(name);
      if (said === false) {
        found.faults.push(
          `${at || '/'} must NOT have ${kind} properties ${JSON.stringify({ [`${kind}Property`]: name })}`,
        );
      } else found.faults.push(...judge(context, said, value[name], `${at}/${name}`).faults);
    }
  };
  if (additionalProperties !== undefined) {
    const others = Object.keys(value).filter((name) => !isNamed(name));
    judgeEach(additionalProperties, others, 'additional');
  }
  if (unevaluatedProperties !== undefined) {
    const others = Object.keys(value).filter((name) => !found.evaluated.has(name));
    judgeEach(unevaluatedProperties, others, 'unevaluated');
  }
}

function typesOf(said: Json): readonly Json[] {
  return Array.isArray(said) ? said : said === undefined ? [] : [said];
}

/** True if a value has a type of JSON Schema. */
export function isOfType(value: Json, type: Json): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'string':
    case 'boolean':
      return typeof value === type;
    default:
      throw new Error(`There is no type ${JSON.stringify(type)}.`);
  }
}

const formats: Readonly<Record<string, unknown>> = fullFormats;

function judgeFormat(one: Case, name: string): void {
  const format = formats[name];
  if (format === undefined) throw new Error(`The format "${name}" is not known to the tests.`);
  const validate: unknown = isObject(format) && !(format instanceof RegExp) ? format.validate : format;
  const isOfNumbers = isObject(format) && member(format, 'type') === 'number';
  if (validate === true || (isOfNumbers ? typeof one.value !== 'number' : typeof one.value !== 'string')) return;
  const isRight =
    validate instanceof RegExp ? validate.test(String(one.value)) : isFunction(validate) && validate(one.value);
  if (!isRight) fail(one, `must match format "${name}"`);
}

function isFunction(value: unknown): value is (value: Json) => boolean {
  return typeof value === 'function';
}

function patternOf({ patterns }: Context, text: string): RegExp {
  const pattern = patterns.get(text) ?? new RegExp(text, 'u');
  patterns.set(text, pattern);
  return pattern;
}

function follow({ document, schemas }: Context, reference: string): Json {
  const known = schemas.get(reference);
  if (known !== undefined) return known;
  const parts = decodeURIComponent(reference.replace(/^#\/?/, '')).split('/');
  const names = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const schema = names.reduce<Json>(memberOrElement, document);
  if (schema === undefined) throw new Error(`${reference} refers to nothing.`);
  schemas.set(reference, schema);
  return schema;
}
