/** Values of a project's own code: input of a request → values of the types that a route has, and results → JSON. */
import { isObject } from '../language/conditions/filter-syntax.ts';
import { isStorableText, type JsonValue, jsonDepth, type ObjectShape, type Shape } from '../language/index.ts';
import { asDouble, isList, withNumberTexts } from '../language/values/parse-text.ts';

/** A value of a shape, or what is wrong: each a sentence that begins with where it is. */
export type Fitted =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: Problems };

type Problems = readonly string[];

/** Fits JSON to a shape. Objects are closed; an integer with more digits than a number holds fits none. */
export function fitJson(shape: Shape, value: JsonValue, path: string): Fitted {
  switch (shape.kind) {
    case 'json':
      return nests(value, jsonDepth) ? refuse(path, 'nests too deep') : accept(withDoubles(value));
    case 'array':
      return isList(value) ? fitElements(shape.of, value, path) : refuse(path, 'must be an array');
    case 'object':
      return isObject(value) ? fitMembers(shape, value, path) : refuse(path, 'must be an object');
    case 'union':
      return fitOne(shape.of, path, (alternative) => fitJson(alternative, value, path));
    default:
      return fitScalar(shape, asDouble(value), path);
  }
}

/** Fits the texts of a query string or path, which have come under one name, to a shape: several fit an array only. */
export function fitTexts(shape: Shape, texts: readonly string[], path: string): Fitted {
  if (shape.kind === 'array') {
    return gather(texts.map((text) => fitTexts(shape.of, [text], path)));
  }
  const [text, ...more] = texts;
  if (text === undefined || more.length > 0) return refuse(path, 'must be one value');
  if (!isStorableText(text)) return refuse(path, 'holds a character that cannot be stored');
  if (shape.kind === 'union') return fitOne(shape.of, path, (alternative) => fitTexts(alternative, texts, path));
  if (shape.kind === 'string' || shape.kind === 'date') return fitScalar(shape, text, path);
  if (shape.kind === 'literal') {
    const value = shape.values.find((literal) => String(literal) === text);
    return value === undefined ? refuse(path, mustBe(shape)) : accept(value);
  }
  if (shape.kind === 'boolean') return fitScalar(shape, text === 'true' || (text !== 'false' && text), path);
  return fitScalar(shape, numberPattern.test(text) ? Number(text) : text, path);
}

const numberPattern = /^-?(\d+(\.\d+)?|\.\d+)(e[+-]?\d+)?$/i;

function fitScalar(shape: Shape, value: JsonValue, path: string): Fitted {
  if (shape.kind === 'date') {
    const date = typeof value === 'string' ? readDate(value) : undefined;
    return date === undefined ? refuse(path, mustBe(shape)) : accept(date);
  }
  return isScalar(shape, value) ? accept(value) : refuse(path, mustBe(shape));
}

function isScalar(shape: Shape, value: JsonValue): boolean {
  if (shape.kind === 'literal') return shape.values.some((literal) => literal === value);
  if (shape.kind === 'null') return value === null;
  if (shape.kind === 'number') return typeof value === 'number' && Number.isFinite(value);
  return typeof value === shape.kind;
}

function mustBe(shape: Shape): string {
  if (shape.kind === 'literal')
    return `must be one of ${shape.values.map((value) => JSON.stringify(value)).join(', ')}`;
  if (shape.kind === 'date') return 'must be a time as in 2020-12-31T23:59:59Z';
  return shape.kind === 'null' ? 'must be null' : `must be a ${shape.kind}`;
}

const datePattern = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;

/** A time with its zone (RFC 3339); days that a month has not are none. */
function readDate(text: string): Date | undefined {
  const day = datePattern.exec(text)?.[1];
  const date = new Date(text);
  if (day === undefined || Number.isNaN(date.getTime())) return undefined;
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? date : undefined;
}

function fitElements(shape: Shape, values: readonly JsonValue[], path: string): Fitted {
  return gather(values.map((value, index) => fitJson(shape, value, `${path}[${index}]`)));
}

function gather(fitted: readonly Fitted[]): Fitted {
  const problems = fitted.flatMap((result) => (result.ok ? [] : result.problems));
  if (problems.length > 0) return { ok: false, problems };
  return accept(fitted.map((result) => (result.ok ? result.value : undefined)));
}

function fitMembers(
  { members, rest }: ObjectShape,
  value: { readonly [name: string]: JsonValue },
  path: string,
): Fitted {
  const pathTo = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const byName = new Map(members.map((member) => [member.name, member]));
  const problems: string[] = [];
  const entries: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const shape = byName.get(name)?.shape ?? rest;
    const fitted = shape === undefined ? refuse(pathTo(name), 'is not known') : fitJson(shape, inner, pathTo(name));
    if (fitted.ok) entries.push([name, fitted.value]);
    else problems.push(...fitted.problems);
  }
  for (const { name, optional } of members) {
    if (!optional && !Object.hasOwn(value, name)) problems.push(`"${pathTo(name)}" is missing.`);
  }
  return problems.length > 0 ? { ok: false, problems } : accept(Object.fromEntries(entries));
}

/** The first that fits. If only one besides null was possible, its problems are reported. */
function fitOne(shapes: readonly Shape[], path: string, fit: (shape: Shape) => Fitted): Fitted {
  const all = shapes.map(fit);
  const fitting = all.find(({ ok }) => ok);
  if (fitting !== undefined) return fitting;
  const candidates = all.filter((_, index) => shapes[index]?.kind !== 'null');
  const [only] = candidates;
  return candidates.length === 1 && only !== undefined ? only : refuse(path, 'is none of the values that it may be');
}

/** Numbers as JavaScript has them, and as texts those that it has not. */
function withDoubles(value: JsonValue): JsonValue {
  if (isList(value)) return value.map(withDoubles);
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withDoubles(inner)]));
  return withNumberTexts(asDouble(value));
}

function nests(value: JsonValue, maxDepth: number): boolean {
  if (value === null || typeof value !== 'object') return false;
  return maxDepth === 0 || Object.values(value).some((inner) => nests(inner, maxDepth - 1));
}

function accept(value: unknown): Fitted {
  return { ok: true, value };
}

function refuse(path: string, message: string): Fitted {
  return { ok: false, problems: [`${path === '' ? 'The body' : `"${path}"`} ${message}.`] };
}

/**
 * The JSON of a value. Only the members that the type has are sent: an object with more members also meets the type,
 * and these may be confidential. Throws `TypeError` for a value that is none of the shape.
 */
export function encodeShape(shape: Shape, value: unknown): JsonValue {
  const encoded = encode(shape, value, '');
  if ('misfit' in encoded) throw new TypeError(`The answer is not of its type: ${encoded.misfit}`);
  return encoded.json;
}

/** `lost` counts the members that are not sent. */
type Encoded = { readonly json: JsonValue; readonly lost: number } | { readonly misfit: string };

function encode(shape: Shape, value: unknown, path: string): Encoded {
  switch (shape.kind) {
    case 'json':
      return encodeAny(value, path);
    case 'array':
      return Array.isArray(value) ? encodeElements(shape.of, value, path) : misfit(path, 'is no array');
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
        ? encodeMembers(shape, new Map(Object.entries(value)), path)
        : misfit(path, 'is no object');
    case 'union': {
      // If several types fit, the value is taken for the one that has most of its members.
      const all = shape.of
        .map((alternative) => encode(alternative, value, path))
        .flatMap((encoded) => ('json' in encoded ? [encoded] : []));
      const least = Math.min(...all.map(({ lost }) => lost));
      return all.find(({ lost }) => lost === least) ?? misfit(path, 'is none of its types');
    }
    case 'literal': {
      const found = shape.values.find((literal) => literal === value);
      return found === undefined ? misfit(path, 'is none of its values') : whole(found);
    }
    case 'date':
      return value instanceof Date && !Number.isNaN(value.getTime())
        ? whole(value.toISOString())
        : misfit(path, 'is no time');
    case 'null':
      return value === null ? whole(null) : misfit(path, 'is not null');
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? whole(value) : misfit(path, 'is no number');
    case 'string':
      return typeof value === 'string' ? whole(value) : misfit(path, 'is no text');
    case 'boolean':
      return typeof value === 'boolean' ? whole(value) : misfit(path, 'is neither true nor false');
  }
}

function encodeAny(value: unknown, path: string): Encoded {
  try {
    return whole(toJson(value, path === '' ? 'it' : path));
  } catch (error) {
    if (error instanceof TypeError) return { misfit: error.message };
    throw error;
  }
}

function encodeElements(shape: Shape, values: readonly unknown[], path: string): Encoded {
  const list: JsonValue[] = [];
  let lost = 0;
  for (const [index, value] of values.entries()) {
    const encoded = encode(shape, value, `${path}[${index}]`);
    if ('misfit' in encoded) return encoded;
    list.push(encoded.json);
    lost += encoded.lost;
  }
  return { json: list, lost };
}

function encodeMembers({ members, rest }: ObjectShape, values: ReadonlyMap<string, unknown>, path: string): Encoded {
  const entries: [string, JsonValue][] = [];
  const names = new Set(members.map(({ name }) => name));
  const others = rest === undefined ? [] : [...values.keys()].filter((name) => !names.has(name));
  let lost = rest === undefined ? [...values.keys()].filter((name) => !names.has(name)).length : 0;
  const all = [
    ...members,
    ...others.map((name) => ({ name, optional: true as const, shape: rest ?? { kind: 'json' as const } })),
  ];
  for (const { name, optional, shape } of all) {
    const value = values.get(name);
    if (value === undefined && optional) continue;
    const encoded = encode(shape, value, path === '' ? name : `${path}.${name}`);
    if ('misfit' in encoded) return encoded;
    entries.push([name, encoded.json]);
    lost += encoded.lost;
  }
  return { json: Object.fromEntries(entries), lost };
}

function whole(json: JsonValue): Encoded {
  return { json, lost: 0 };
}

function misfit(path: string, message: string): Encoded {
  return { misfit: `${path === '' ? 'it' : path} ${message}.` };
}

/** Nesting beyond which nothing is sensible data any more; a value that contains itself ends here. */
const deepest = 500;

/**
 * A copy as JSON: times as ISO 8601, big integers as their digits. Undefined members are left out, and numbers keep
 * their digits as they are. Throws `TypeError` for functions, symbols and numbers that JSON has not, with the path.
 */
export function toJson(value: unknown, path = 'value', depth = 0): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || depth > deepest) {
    throw new TypeError(`"${path.slice(0, 100)}" is no JSON, but of the type ${typeof value}.`);
  }
  if (JSON.isRawJSON(value)) return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value))
    return value.map((element: unknown, index) => toJson(element, `${path}[${index}]`, depth + 1));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, toJson(member, `${path}.${name}`, depth + 1)]));
}
