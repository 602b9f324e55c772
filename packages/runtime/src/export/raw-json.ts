/**
 * JSON text as a tree whose scalars keep their text, so that no digit of a number is lost on the way to another format.
 *
 * The text comes from the transcoder and from the database, so it is known to be JSON: nothing is judged here.
 */

/** A value: a scalar as its text (strings with their quotes), a list, or an object as its members in order. */
export type RawJson =
  | { readonly kind: 'scalar'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly RawJson[] }
  | { readonly kind: 'object'; readonly members: readonly RawMember[] };

export type RawMember = readonly [name: string, value: RawJson];

/** Values nested deeper stay text as a whole: stored JSON may nest as deep as it likes, the stack does not. */
const deepest = 64;

interface Cursor {
  readonly text: string;
  at: number;
}

export function readRawJson(text: string): RawJson {
  return readValue({ text, at: 0 }, 0);
}

export function isNull(value: RawJson): boolean {
  return value.kind === 'scalar' && value.text === 'null';
}

/** The characters that a scalar stands for: a string without quotes and escapes, any other as it is written. */
export function plainText(scalar: string): string {
  if (scalar.charCodeAt(0) !== quote) return scalar;
  if (!scalar.includes('\\')) return scalar.slice(1, -1);
  return String(JSON.parse(scalar));
}

export function compactJson(value: RawJson): string {
  if (value.kind === 'scalar') return value.text;
  if (value.kind === 'list') return `[${value.items.map(compactJson).join(',')}]`;
  return `{${value.members.map(([name, inner]) => `${JSON.stringify(name)}:${compactJson(inner)}`).join(',')}}`;
}

const quote = 34;
const [comma, openList, closeList, openObject, closeObject] = [44, 91, 93, 123, 125];

function readValue(cursor: Cursor, depth: number): RawJson {
  skipSpace(cursor);
  const code = cursor.text.charCodeAt(cursor.at);
  if (code === quote) return { kind: 'scalar', text: readString(cursor) };
  const nested = code === openList || code === openObject;
  if (nested && depth >= deepest) return { kind: 'scalar', text: readNested(cursor) };
  if (code === openList) return readList(cursor, depth);
  return code === openObject ? readObject(cursor, depth) : { kind: 'scalar', text: readWord(cursor) };
}

function readList(cursor: Cursor, depth: number): RawJson {
  const items: RawJson[] = [];
  while (readOn(cursor, closeList)) items.push(readValue(cursor, depth + 1));
  return { kind: 'list', items };
}

function readObject(cursor: Cursor, depth: number): RawJson {
  const members: RawMember[] = [];
  while (readOn(cursor, closeObject)) {
    const name = plainText(readString(cursor));
    skipSpace(cursor);
    // The colon.
    cursor.at += 1;
    members.push([name, readValue(cursor, depth + 1)]);
  }
  return { kind: 'object', members };
}

/** Steps over the opening bracket or a comma; false when the closing bracket came, which is stepped over too. */
function readOn(cursor: Cursor, close: number): boolean {
  skipSpace(cursor);
  const code = cursor.text.charCodeAt(cursor.at);
  cursor.at += 1;
  if (code === close) return false;
  if (code === comma) {
    skipSpace(cursor);
    return true;
  }
  skipSpace(cursor);
  if (cursor.text.charCodeAt(cursor.at) !== close) return cursor.at < cursor.text.length;
  cursor.at += 1;
  return false;
}

function skipSpace(cursor: Cursor): void {
  while (cursor.at < cursor.text.length && cursor.text.charCodeAt(cursor.at) <= 32) cursor.at += 1;
}

function readString(cursor: Cursor): string {
  const start = cursor.at;
  let end = cursor.text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(cursor.text, end)) end = cursor.text.indexOf('"', end + 1);
  cursor.at = end < 0 ? cursor.text.length : end + 1;
  return cursor.text.slice(start, cursor.at);
}

/** True if an odd number of backslashes stands in front. */
function isEscaped(text: string, position: number): boolean {
  let from = position;
  while (text.charCodeAt(from - 1) === 92) from -= 1;
  return (position - from) % 2 === 1;
}

/** A number, `true`, `false` or `null`. */
function readWord(cursor: Cursor): string {
  const start = cursor.at;
  while (cursor.at < cursor.text.length && /[\w.+-]/.test(cursor.text.charAt(cursor.at))) cursor.at += 1;
  return cursor.text.slice(start, cursor.at);
}

/** The text of a list or object, found by counting brackets. */
function readNested(cursor: Cursor): string {
  const start = cursor.at;
  let open = 0;
  do {
    const code = cursor.text.charCodeAt(cursor.at);
    if (code === quote) readString(cursor);
    else cursor.at += 1;
    if (code === openList || code === openObject) open += 1;
    if (code === closeList || code === closeObject) open -= 1;
  } while (open > 0 && cursor.at < cursor.text.length);
  return cursor.text.slice(start, cursor.at);
}
