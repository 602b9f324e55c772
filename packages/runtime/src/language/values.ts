import { readDate, readDateTime, readDuration, readTime, readTimestamp } from './dates.ts';
import { elementOf } from './elements.ts';
import type { JsonValue, PortableType } from './types.ts';

/** Type that decides how a value is written: a field's type, and its restrictions. */
export interface ValueType {
  readonly type: PortableType;
  /** As `FieldDescriptor.native`; absent: the widest native type of `type`. */
  readonly native?: string;
  /** Labels, for `type` `enum`. */
  readonly values?: readonly string[];
  /** Element type, for `type` `array`. */
  readonly element?: PortableType;
  /** Name of the range type, for `type` `unknown` where the column is a range. */
  readonly range?: string;
}

/**
 * The text form of a parameter (null for SQL's null), or why the value is none. Messages follow a field's name; `limit`
 * tells that the value is one of the type, but beyond what a column of it takes.
 */
export type Decoded =
  | { readonly ok: true; readonly value: string | null }
  | { readonly ok: false; readonly message: string; readonly limit?: 'range' | 'enum' };

/** `FieldDescriptor.native` of the integers of MySQL that need 32 bits without a sign. */
export const unsignedInteger = 'uint4';

const integerPattern = /^-?\d{1,40}$/;
const numberPattern = /^-?\d{1,400}(?:\.\d{0,400})?(?:[eE][+-]?\d{1,3})?$/;
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Levels to which a JSON value may nest (API specification, section 6). */
export const jsonDepth = 64;

function accept(value: string): Decoded {
  return { ok: true, value };
}

function refuse(message: string): Decoded {
  return { ok: false, message };
}

function beyond(limit: 'range' | 'enum', message: string): Decoded {
  return { ok: false, message, limit };
}

/** Wraps a reader of text: other JSON types and texts it does not know are refused. */
function fromText(value: JsonValue, read: (text: string) => string | undefined, what: string): Decoded {
  const result = typeof value === 'string' ? read(value) : undefined;
  return result === undefined ? refuse(`must be ${what}`) : accept(result);
}

/** Integers of so few characters are in the range of every type. */
const surelySmall = 9;
const smallest = { integer: -(2n ** 31n), bigInteger: -(2n ** 63n) };
const largest = {
  integer: 2n ** 31n - 1n,
  unsigned: 2n ** 32n - 1n,
  bigInteger: 2n ** 63n - 1n,
  uint8: 2n ** 64n - 1n,
};

function decodeInteger(value: JsonValue, low: bigint, high: bigint): Decoded {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || !integerPattern.test(text)) return refuse('must be an integer');
  if (text.length <= surelySmall) return accept(String(Number(text)));
  const number = BigInt(text);
  return number < low || number > high ? beyond('range', 'is out of range') : accept(number.toString());
}

function decodeDecimal(value: JsonValue): Decoded {
  if (typeof value === 'string' && numberPattern.test(value)) return accept(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return refuse('must be a decimal number');
  const text = String(value);
  const digits = text.replace(/e.*$/, '').replace(/^-?0*\.?0*|\.|0+$/g, '').length;
  // Beyond 2^53 and 15 digits the number that was written may have been another one.
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER && digits > 15)
    return refuse('must be written as text to keep its digits');
  return accept(text);
}

function decodeFloat(value: JsonValue, native: string | undefined): Decoded {
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return accept(value);
  const written = typeof value === 'number' || (typeof value === 'string' && numberPattern.test(value));
  const number = written ? Number(value) : Number.NaN;
  if (!Number.isFinite(number)) return refuse('must be a number');
  const real = native === 'float4' || native === 'pg_catalog.float4' || native === 'real';
  // PostgreSQL prints the largest and the smallest real rounded, so what decides is what they are rounded to.
  const fits = Number.isFinite(Math.fround(number)) && (number === 0 || Math.fround(number) !== 0);
  if (real && !fits) return beyond('range', 'is out of range');
  return accept(String(number));
}

function decodeBoolean(value: JsonValue): Decoded {
  if (value === true || value === 1 || value === 'true' || value === '1') return accept('true');
  if (value === false || value === 0 || value === 'false' || value === '0') return accept('false');
  return refuse('must be true or false');
}

/** True for text that UTF-8 and PostgreSQL can hold: no U+0000, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Problem of a number, say, where text belongs. */
export const mustBeText = 'must be text';

function decodeText(value: JsonValue): Decoded {
  if (typeof value !== 'string') return refuse(mustBeText);
  return isStorableText(value) ? accept(value) : refuse('holds a character that cannot be stored');
}

function decodeEnum(value: JsonValue, labels: readonly string[] | undefined): Decoded {
  if (typeof value !== 'string') return refuse(mustBeText);
  if (labels !== undefined && !labels.includes(value)) return beyond('enum', 'is not one of the allowed values');
  return decodeText(value);
}

function decodeCsv(value: JsonValue): Decoded {
  if (!Array.isArray(value)) return decodeText(value);
  const parts = value.map((part) => (typeof part === 'string' && !part.includes(',') ? part : undefined));
  return parts.includes(undefined) ? refuse('must be a list of texts without commas') : decodeText(parts.join(','));
}

function decodeBinary(value: JsonValue): Decoded {
  if (typeof value !== 'string' || !base64Pattern.test(value)) return refuse('must be base64');
  return accept(`\\x${Buffer.from(value, 'base64').toString('hex')}`);
}

/** How deep a JSON value nests; a scalar is 0. Stops counting behind `limit`. */
export function depthOf(value: JsonValue, limit: number): number {
  if (value === null || typeof value !== 'object') return 0;
  if (limit === 0) return 1;
  let deepest = 0;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depthOf(inner, limit - 1));
  return deepest + 1;
}

function decodeJson(value: JsonValue): Decoded {
  if (depthOf(value, jsonDepth) > jsonDepth) return refuse(`must not nest more than ${jsonDepth} levels`);
  return isStorable(value) ? accept(JSON.stringify(value)) : refuse('holds a character that cannot be stored');
}

/** True if every text in a JSON value, keys included, can be stored; the value must not nest without bound. */
function isStorable(value: JsonValue): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (value === null || typeof value !== 'object') return true;
  return Object.entries(value).every(([key, inner]) => isStorableText(key) && isStorable(inner));
}

function decodeArray(value: JsonValue, type: ValueType): Decoded {
  if (!Array.isArray(value)) return refuse('must be an array');
  const element = elementOf(type) ?? { type: 'text' };
  const parts: (string | null)[] = [];
  for (const item of value) {
    const decoded = item === null ? { ok: true as const, value: null } : decodeValue(element, item);
    if (!decoded.ok) return decoded;
    parts.push(decoded.value);
  }
  return accept(arrayLiteral(parts));
}

/** The array literal of values in text form: `{1,NULL,"a b"}`. Every value is quoted, so none is read as syntax. */
export function arrayLiteral(values: readonly (string | null)[]): string {
  const parts = values.map((value) => (value === null ? 'NULL' : `"${escapeQuoted(value)}"`));
  return `{${parts.join(',')}}`;
}

/** Most texts hold nothing to escape, which is sooner found out by looking for either. */
function escapeQuoted(text: string): string {
  return text.includes('"') || text.includes('\\') ? text.replace(/["\\]/g, '\\$&') : text;
}

/** Types whose values numbers write; they take the digits of a number that is no double. */
const numeric: ReadonlySet<PortableType> = new Set(['integer', 'bigInteger', 'decimal', 'float']);

/**
 * Turns a JSON value into the text form of a parameter of a field's type, without losing a digit.
 *
 * Accepts the output form of every type and what the API specification (section 6, "Input") adds. Text of a query
 * string is accepted as it stands: every form has one as text.
 */
export function decodeValue(type: ValueType, input: JsonValue): Decoded {
  const value = numeric.has(type.type) && JSON.isRawJSON(input) ? input.rawJSON : input;
  if (value === null && type.type !== 'json') return { ok: true, value: null };
  switch (type.type) {
    case 'integer':
      return decodeInteger(
        value,
        smallest.integer,
        type.native === unsignedInteger ? largest.unsigned : largest.integer,
      );
    case 'bigInteger':
      return decodeInteger(value, smallest.bigInteger, type.native === 'uint8' ? largest.uint8 : largest.bigInteger);
    case 'decimal':
      return decodeDecimal(value);
    case 'float':
      return decodeFloat(value, type.native);
    case 'boolean':
      return decodeBoolean(value);
    case 'date':
      return fromText(value, readDate, 'a date (YYYY-MM-DD)');
    case 'time':
      return fromText(value, (text) => readTime(text, type.native?.endsWith('timetz') === true), 'a time (HH:MM:SS)');
    case 'dateTime':
      return fromText(value, readDateTime, 'a date and time without a zone');
    case 'timestamp':
      return fromText(value, readTimestamp, 'a date, or a date and time');
    case 'interval':
      return fromText(value, readDuration, 'an ISO 8601 duration');
    case 'uuid':
      return fromText(value, (text) => (uuidPattern.test(text) ? text.toLowerCase() : undefined), 'a uuid');
    case 'enum':
      return decodeEnum(value, type.values);
    case 'csv':
      return decodeCsv(value);
    case 'binary':
      return decodeBinary(value);
    case 'json':
      return decodeJson(value);
    case 'array':
      return decodeArray(value, type);
    case 'string':
    case 'text':
    case 'hash':
    case 'secret':
    case 'token':
    case 'unknown':
      return decodeText(value);
  }
}
