/**
 * JSON texts from outside. `JSON.parse` is not enough: it silently keeps the last value of a repeated key, and numbers
 * lose digits. V8 12 to 13 also reads a key with an escape as another where an earlier text had one with a backslash.
 */

export interface ParsedText {
  readonly value: JsonValue;
  /** The first key that stands twice in one object; the value has what came last. */
  readonly repeated: RepeatedKey | null;
}

/** A key that stands twice in one object. */
interface RepeatedKey {
  readonly key: string;
  /** The place of the second one as a JSONPath (RFC 9535): `$.items[3].name`. */
  readonly path: string;
}

/** Parses a text; numbers that a double cannot be trusted with become `RawNumber`s. Throws for what is no JSON. */
export function parseText(text: string): ParsedText {
  const value = parseNative(text);
  // Each colon outside strings belongs to one key: where there are more of them than members, one was lost.
  const keys = countKeys(text);
  return keys !== null && keys === countMembers(value) ? { value, repeated: null } : parseByMembers(text);
}

/** Words for the place of a fault that `parseText` threw; empty where the engine tells none. */
export function faultPlace(error: unknown): string {
  const [, line, column] = (error instanceof SyntaxError && /\(line (\d+) column (\d+)\)$/.exec(error.message)) || [];
  return line === undefined ? '' : ` at line ${line}, column ${column}`;
}

/** The value alone, for texts whose writer has no key twice. */
export function parseExactly(text: string): JsonValue {
  return parseText(text).value;
}

function parseNative(text: string): JsonValue {
  if (!mayLoseDigits(text)) return JSON.parse(text);
  return JSON.parse(text, (_key: string, value: JsonValue, context?: { source?: string }): JsonValue => {
    return typeof value === 'number' && context?.source !== undefined ? exactNumber(value, context.source) : value;
  });
}

const quote = 34;
const comma = 44;
const colon = 58;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

/** Number of keys that a text has; null where one of them has an escape. */
function countKeys(text: string): number | null {
  let count = 0;
  let latest = 0;
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === quote) {
      latest = position;
      position = endOfString(text, position);
    } else if (code === colon) {
      count++;
      if (hasEscape(text, latest, position)) return null;
    }
  }
  return count;
}

/** Looks at the characters itself: for `includes` V8 would prepare the whole text again for each key. */
function hasEscape(text: string, start: number, end: number): boolean {
  for (let position = start; position < end; position++) if (text.charCodeAt(position) === backslash) return true;
  return false;
}

/** A string that goes on for longer is looked through by the engine, which takes many characters at once. */
const shortString = 24;

/** The position of the quotation mark that ends the string that begins at a position. */
function endOfString(text: string, start: number): number {
  const near = Math.min(start + shortString, text.length);
  let position = start + 1;
  while (position < near) {
    const code = text.charCodeAt(position);
    if (code === quote) return position;
    position += code === backslash ? 2 : 1;
  }
  let end = text.indexOf('"', position);
  while (end !== -1 && isEscaped(text, position, end)) {
    position = end + 1;
    end = text.indexOf('"', position);
  }
  return end === -1 ? text.length : end;
}

/** True if an odd number of backslashes, none of them before `start`, stands in front of a position. */
function isEscaped(text: string, start: number, end: number): boolean {
  let from = end;
  while (from > start && text.charCodeAt(from - 1) === backslash) from--;
  return (end - from) % 2 === 1;
}

/** Members of all objects. Walks without recursion, because a body may nest as deep as it is long. */
function countMembers(root: JsonValue): number {
  let count = 0;
  const pending: JsonValue[] = [root];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (isList(value)) {
      for (const element of value) if (typeof element === 'object' && element !== null) pending.push(element);
    } else if (typeof value === 'object' && value !== null) {
      for (const key in value) {
        // A number that is kept as its digits is an object with one member.
        if (key === 'rawJSON' && JSON.isRawJSON(value)) continue;
        count++;
        const member = value[key];
        if (typeof member === 'object' && member !== null) pending.push(member);
      }
    }
  }
  return count;
}

/** An object or array around a position. */
interface Level {
  /** Members so far; null in an array. */
  readonly members: Map<string, JsonValue> | null;
  readonly elements: JsonValue[];
  key: string;
}

const scalar = /[^\s,\]}]+/y;

/** Parses valid JSON member by member, which tells repeated keys. */
function parseByMembers(text: string): ParsedText {
  const root: Level = { members: null, elements: [], key: '' };
  const levels: Level[] = [root];
  let level = root;
  let repeated: RepeatedKey | null = null;

  function put(value: JsonValue): void {
    if (level.members === null) level.elements.push(value);
    else level.members.set(level.key, value);
  }

  function open(members: Level['members']): void {
    level = { members, elements: [], key: '' };
    levels.push(level);
  }

  function close(): void {
    const { members, elements } = level;
    levels.pop();
    level = levels.at(-1) ?? root;
    put(members === null ? elements : Object.fromEntries(members));
  }

  /** The string from one position to another, which is a key where a colon follows. */
  function string(start: number, end: number): void {
    const written: string = JSON.parse(text.slice(start, end + 1));
    if (level.members === null || !isKey(text, end)) {
      put(written);
      return;
    }
    level.key = written;
    if (level.members.has(written)) repeated ??= { key: shortened(written), path: pathOf(levels.slice(1)) };
  }

  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === quote) {
      const end = endOfString(text, position);
      string(position, end);
      position = end;
    } else if (code === openBrace) open(new Map());
    else if (code === openBracket) open(null);
    else if (code === closeBrace || code === closeBracket) close();
    else if (code !== comma && code !== colon && !isSpace(code)) {
      scalar.lastIndex = position;
      const [source = ''] = scalar.exec(text) ?? [];
      const value: JsonValue = JSON.parse(source);
      put(typeof value === 'number' ? exactNumber(value, source) : value);
      position += source.length - 1;
    }
  }
  return { value: root.elements[0] ?? null, repeated };
}

/** True if the string that ends at a position is followed by a colon. */
function isKey(text: string, end: number): boolean {
  let position = end + 1;
  while (isSpace(text.charCodeAt(position))) position++;
  return text.charCodeAt(position) === colon;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

/** Steps of a path that are told; deeper ones say no more. */
const maxSteps = 32;
const longestKey = 64;

function pathOf(levels: readonly Level[]): string {
  const steps = levels.slice(0, maxSteps).map(({ members, elements, key }) => {
    if (members === null) return `[${elements.length}]`;
    return /^[A-Za-z_]\w*$/.test(key) ? `.${shortened(key)}` : `[${JSON.stringify(shortened(key))}]`;
  });
  return `$${steps.join('')}${levels.length > maxSteps ? '…' : ''}`;
}

function shortened(key: string): string {
  return (key.length <= longestKey ? key : `${key.slice(0, longestKey)}…`).toWellFormed();
}

/** `Array.isArray` does not narrow readonly arrays. */
export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

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
function mayLoseDigits(text: string): boolean {
  // A run that long covers one of the positions at that distance, so hardly any character of a body of words is read.
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
 *
 * Numbers of a request that a double cannot be trusted with: those with digits that it does not hold, and integers
 * beyond 2^53. They wait as their digits until their use is known. Fields with a type take the text of them, JSON is
 * compared and stored with the number as it was written.
 */
function exactNumber(value: number, source: string): JsonValue {
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

/** True if a value of bounded depth holds a number beyond doubles: few bytes can make one as long as a book. */
export function holdsHugeNumber(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (!JSON.isRawJSON(value)) return Object.values(value).some(holdsHugeNumber);
  const number = Number(value.rawJSON);
  return !Number.isFinite(number) || (number === 0 && /[1-9]/.test(value.rawJSON.replace(/[eE].*$/, '')));
}

/** Any value JSON can express. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
