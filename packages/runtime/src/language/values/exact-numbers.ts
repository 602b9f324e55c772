/**
 * Numbers of a request that a double cannot be trusted with: those with digits that it does not hold, and integers
 * beyond 2^53. They wait as their digits until their use is known. Fields with a type take the text of them, JSON is
 * compared and stored with the number as it was written.
 */
import type { JsonValue } from './json.ts';

declare global {
  interface JSON {
    /** Makes an object that `JSON.stringify` writes as the text that it holds. */
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** A number as it was written. */
interface RawNumber {
  readonly [key: string]: string;
  readonly rawJSON: string;
}

/** So many digits, points among them, or an exponent: no other number can lose a digit as a double. */
const longRun = 16;
const exponent = /\d[eE][+-]?\d/;

/** True if a text may hold a number whose digits a double cannot hold. */
export function mayLoseDigits(text: string): boolean {
  // A run that long covers one of the positions at that distance, so hardly any character of a body of words is looked
  // at.
  for (let position = longRun - 1; position < text.length; position += longRun) {
    if (isDigit(text, position) && isLongRun(text, position)) return true;
  }
  return exponent.test(text);
}

function isLongRun(text: string, position: number): boolean {
  let from = position;
  while (from > 0 && isDigit(text, from - 1)) from--;
  let to = position + 1;
  while (to < text.length && isDigit(text, to)) to++;
  return to - from >= longRun;
}

/** A digit, or the point among them. */
function isDigit(text: string, position: number): boolean {
  const code = text.charCodeAt(position);
  return (code >= 48 && code <= 57) || code === 46;
}

/**
 * A number of a text, or its digits where a double cannot be trusted with it. Integers beyond 2^53 are kept as digits
 * even where a double happens to hold them, because later they look the same as rounded ones.
 */
export function exactNumber(value: number, source: string): JsonValue {
  const trusted = Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value));
  return trusted && digitsOf(String(value)) === digitsOf(source) ? value : JSON.rawJSON(source);
}

/** The number a text writes, as its significant digits and exponent, so that 1.50, 15e-1 and 1.5 are one. */
function digitsOf(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (match === null) return text;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  const scale = Number(exponent) - fraction.length + (digits.length - significant.length);
  return significant === '' ? '0' : `${sign}${significant}e${scale}`;
}

/** A number that waits, where a double is exactly it; else it stays what it is. */
export function asDouble(value: JsonValue): JsonValue {
  if (!JSON.isRawJSON(value)) return value;
  const number = Number(value.rawJSON);
  return Number.isFinite(number) && digitsOf(String(number)) === digitsOf(value.rawJSON) ? number : value;
}

/** Nesting beyond which values are left alone: nothing but JSON nests so deep, and the stack ends somewhere. */
const deepest = 500;

/** The value with the text of each such number in its place. */
export function withNumberTexts(value: JsonValue, depth = 0): JsonValue {
  if (value === null || typeof value !== 'object' || depth > deepest) return value;
  if (JSON.isRawJSON(value)) return value.rawJSON;
  if (Array.isArray(value)) return value.map((inner: JsonValue) => withNumberTexts(inner, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withNumberTexts(inner, depth + 1)]));
}

/**
 * True if a value, which must not nest without bound, holds a number beyond the range of doubles. Few bytes can make
 * one as long as a book.
 */
export function holdsHugeNumber(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (!JSON.isRawJSON(value)) return Object.values(value).some(holdsHugeNumber);
  const number = Number(value.rawJSON);
  return !Number.isFinite(number) || (number === 0 && /[1-9]/.test(value.rawJSON.replace(/[eE].*$/, '')));
}
