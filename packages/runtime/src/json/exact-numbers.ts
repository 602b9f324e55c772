/**
 * Numbers of a body that a double cannot hold. They wait as their digits until it is known what they are for: fields with
 * a type take the text of them, JSON is stored with the number as it was written.
 */
import { isObject } from '../contract/filter-syntax.ts';
import type { JsonValue } from '../contract/index.ts';
import { parseKeepingDigits } from '../query/parse-json.ts';

declare global {
  interface JSON {
    /** Makes an object that `JSON.stringify` writes as the text that it holds. */
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** A number as it was written. */
export interface RawNumber {
  readonly [key: string]: string;
  readonly rawJSON: string;
}

/** `JSON.parse`, except that a number whose digits a double cannot hold becomes a `RawNumber`. */
export function parseExactly(text: string): JsonValue {
  return parseKeepingDigits(text, (source) => JSON.rawJSON(source));
}

/** Nesting beyond which values are left alone: nothing but JSON nests so deep, and the stack ends somewhere. */
const deepest = 500;

/** The value with the text of each such number in its place. */
export function withNumberTexts(value: JsonValue, depth = 0): JsonValue {
  if (value === null || typeof value !== 'object' || depth > deepest) return value;
  if (JSON.isRawJSON(value)) return value.rawJSON;
  if (!isObject(value)) return value.map((inner) => withNumberTexts(inner, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withNumberTexts(inner, depth + 1)]));
}

/**
 * Whether a value, which must not nest without bound, holds a number beyond the range of doubles: few bytes can make one
 * as long as a book.
 */
export function holdsHugeNumber(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (!JSON.isRawJSON(value)) return Object.values(value).some(holdsHugeNumber);
  const number = Number(value.rawJSON);
  return !Number.isFinite(number) || (number === 0 && /[1-9]/.test(value.rawJSON.replace(/[eE].*$/, '')));
}
