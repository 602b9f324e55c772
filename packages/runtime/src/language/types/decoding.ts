/** Steps that decoders of several types share. */
import type { JsonValue } from '../values/parse-text.ts';
import type { BrokenLimit, Decoded, Schema, TypeDefinition, ValueFacts } from './definition.ts';

/** Patterns of numbers in payloads. */
export const digitsPattern = '^-?[0-9]{1,40}$';
export const numberPattern = '-?[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]{1,3})?';

/** A number as text. */
export const writtenNumber: RegExp = /^-?\d{1,400}(?:\.\d{0,400})?(?:[eE][+-]?\d{1,3})?$/;

/** Day and time as the server writes them. */
export const dayPattern = '[0-9]{4,}-[0-9]{2}-[0-9]{2}';
export const timePattern = '[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?';

export function accept(value: string): Decoded {
  return { ok: true, value };
}

export function refuse(message: string): Decoded {
  return { ok: false, message };
}

/** Refuses a value of the type that is beyond what a column takes. */
export function beyond(limit: 'range' | 'enum', message: string): Decoded {
  return { ok: false, message, limit };
}

/** Values that are not finite, as text. */
export const infinite: readonly string[] = ['NaN', 'Infinity', '-Infinity'];

/** True if values arrive in the binary form of their types: such servers have numbers that are not finite. */
export function hasInfinite({ wire }: ValueFacts): boolean {
  return wire !== undefined && !isCast(wire);
}

/** True if values are selected through a function, as the text of another server. */
export function isCast(wire: NonNullable<ValueFacts['wire']>): boolean {
  return wire.cast?.includes('{}') === true;
}

/** Wraps a reader of text: other JSON types and texts it does not know are refused. */
export function fromText(
  read: (text: string, facts: ValueFacts) => string | undefined,
  noun: string,
): TypeDefinition['decode'] {
  const refused = refuse(`must be ${noun}`);
  return (value, facts) => {
    const result = typeof value === 'string' ? read(value, facts) : undefined;
    return result === undefined ? refused : accept(result);
  };
}

/** Reads dates as a server takes them: those that are texts have the years 1 to 9999 alone, and no infinity. */
export function withinYears(
  read: (text: string) => string | undefined,
): (text: string, facts: ValueFacts) => string | undefined {
  return (text, { wire }) => {
    const result = read(text);
    const isNarrow = wire !== undefined && isCast(wire);
    return isNarrow && result !== undefined && !/^\d{4}-.*(?<! BC)$/.test(result) ? undefined : result;
  };
}

/** Numbers that no double holds wait as their digits; a coordinate is never that exact. */
export function numberOf(value: JsonValue): number | undefined {
  const number = JSON.isRawJSON(value) ? Number(value.rawJSON) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

const integerText = /^-?\d{1,40}$/;

export function decodeInteger(value: JsonValue, low: bigint, high: bigint): Decoded {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text === 'string' && isSmall(text)) return accept(text);
  if (typeof text !== 'string' || !integerText.test(text)) return refuse('must be an integer');
  const number = BigInt(text);
  return number < low || number > high ? beyond('range', 'is out of range') : accept(number.toString());
}

/** True for a positive integer in its usual spelling with so few digits that it is in the range of every type. */
function isSmall(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > surelySmall || text.charCodeAt(0) === 48) return false;
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

const surelySmall = 9;

/** True for text that UTF-8 and every database can hold: no U+0000, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Problem of a number, say, where text belongs. */
export const mustBeText = 'must be text';

/** A text without zeros at the end of the fraction of its seconds. */
export function withoutZeros(text: string): string {
  return text.replace(/\.0+$|(\.\d*[1-9])0+$/, '$1');
}

export function decodeText(value: JsonValue): Decoded {
  if (typeof value !== 'string') return refuse(mustBeText);
  return isStorableText(value) ? accept(value) : refuse('holds a character that cannot be stored');
}

export function textSchema(pattern: string): Schema {
  return { type: 'string', pattern: `^${pattern}$` };
}

/** Finds a text that is longer than its column. */
export function tooLong({ maxLength }: ValueFacts, text: string): BrokenLimit | undefined {
  // A text has at least half as many characters as UTF-16 units, so most are not counted.
  if (maxLength === undefined || text.length <= maxLength || characters(text) <= maxLength) return undefined;
  return { type: 'max_length', message: `must not have more than ${maxLength} characters` };
}

function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Finds a value that is not in the list; values of `char(n)` are padded, so they are left to the database. */
export function outOfList({ values, native }: ValueFacts, text: string): BrokenLimit | undefined {
  if (values === undefined || native === 'bpchar' || values.includes(text)) return undefined;
  return { type: 'enum', message: 'is not one of the allowed values' };
}

export function orderOf<Value>(left: Value, right: Value): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Rounding keeps the order of numbers but makes some of them equal. */
export function orderOfRounded(left: number, right: number): number | undefined {
  return left === right || Number.isNaN(left) || Number.isNaN(right) ? undefined : orderOf(left, right);
}

/** Orders texts of moments. Milliseconds are the truth rounded down, so what differs by one differs. */
export function orderOfMoments(form: RegExp, zone: string): (left: string, right: string) => number | undefined {
  return (left, right) => {
    if (!form.test(left) || !form.test(right)) return undefined;
    const [leftTime, rightTime] = [left, right].map((text) => Date.parse(text.replace(' ', 'T') + zone));
    return leftTime === undefined || rightTime === undefined ? undefined : orderOfRounded(leftTime, rightTime);
  };
}

/** Tells objects from lists and scalars; a number that waits as its digits is a scalar. */
export function isObject(value: JsonValue | undefined): value is { readonly [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}
