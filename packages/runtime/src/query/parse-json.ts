import { isStorableText, type JsonValue } from '../contract/index.ts';
import { invalidQuery } from './invalid.ts';

/**
 * Reads JSON text of a query parameter (API specification, 1.3).
 *
 * A number whose digits a double cannot hold becomes text with the digits as written, which every numeric field takes.
 * Object keys that could reach a prototype, and text that cannot be stored, are refused.
 */
export function parseJson(text: string, name: string): JsonValue {
  let value: JsonValue;
  try {
    value = parseKeepingDigits(text);
  } catch {
    // SyntaxError, or RangeError where the text nests beyond the stack.
    throw invalidQuery(`"${name}" is not valid JSON.`);
  }
  checkJson(value, name, 0);
  return value;
}

/** Nesting beyond which no parameter is read; far above every limit that has a meaning, and below the stack's. */
const deepest = 500;

/** Refuses keys and text that no query may hold; for JSON that was parsed elsewhere. */
export function checkJson(value: JsonValue, name: string, depth = 0): void {
  if (typeof value === 'string' && !isStorableText(value)) throw invalidQuery(`"${name}" holds unusable text.`);
  if (value === null || typeof value !== 'object') return;
  if (depth > deepest) throw invalidQuery(`"${name}" nests too deep.`);
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__' || (key === 'constructor' && holdsPrototype(inner)) || !isStorableText(key)) {
      throw invalidQuery(`"${name}" holds a key that is not allowed.`);
    }
    checkJson(inner, name, depth + 1);
  }
}

function holdsPrototype(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

/** So many digits, points among them, or an exponent: no other number can lose a digit as a double. */
const longRun = 16;
const exponent = /\d[eE][+-]?\d/;

/** Whether a text may hold a number whose digits a double cannot hold. */
function mayLoseDigits(text: string): boolean {
  // A run that long covers one of the places at that distance: of a body of words hardly any character is looked at.
  for (let at = longRun - 1; at < text.length; at += longRun) {
    if (isDigit(text, at) && isLongRun(text, at)) return true;
  }
  return exponent.test(text);
}

function isLongRun(text: string, at: number): boolean {
  let from = at;
  while (from > 0 && isDigit(text, from - 1)) from--;
  let to = at + 1;
  while (to < text.length && isDigit(text, to)) to++;
  return to - from >= longRun;
}

/** A digit, or the point among them. */
function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 48 && code <= 57) || code === 46;
}

/**
 * `JSON.parse`, except that of a number whose digits a double cannot hold `keep` gets the digits as written. By default it
 * becomes that text: numeric fields take it, so no digit is lost on the way to the database.
 */
export function parseKeepingDigits(text: string, keep: (source: string) => JsonValue = (source) => source): JsonValue {
  if (!mayLoseDigits(text)) return JSON.parse(text);
  return JSON.parse(text, (_key: string, value: JsonValue, place?: { source?: string }): JsonValue => {
    if (typeof value !== 'number' || place?.source === undefined) return value;
    return Number.isFinite(value) && digitsOf(String(value)) === digitsOf(place.source) ? value : keep(place.source);
  });
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
