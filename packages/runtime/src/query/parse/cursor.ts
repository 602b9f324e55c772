/**
 * Keyset paging: a cursor is the position after one row, as the values of that row's order.
 *
 * Its text is a version, a checksum and the values as JSON, all of them URL-safe. The checksum covers the order too, so
 * a cursor that was damaged, or that belongs to another list, is refused. It is no signature: a caller who makes up a
 * cursor compares readable cells with values of their choice, which a filter does as well.
 */
import { createHash } from 'node:crypto';
import { invalidQuery } from '../../errors.ts';
import { decodeValue, isStorableText, types, type ValueType } from '../../language/index.ts';
import type { QueryTree } from './parse-query-string.ts';

/** Start of a page: at the first row, or after the row that had these values, in the order of the terms. */
export type CursorStart = 'first' | readonly (string | null)[];

/** The `cursor` of a request, well formed. `checkCursor` checks that it belongs to the list. */
export interface Cursor {
  readonly text: string;
  readonly start: CursorStart;
  /** Set where the page ends before the row, or at the last one: it is read in the reversed order. */
  readonly back?: true;
}

export interface CursorPlan {
  /** Tells the lists apart whose cursors must not be mixed: collection and order. */
  readonly order: string;
  /** Types of the order's terms, which stand as text in front of the item's columns. */
  readonly types: readonly ValueType[];
  /** As in the cursor of the request, and true if it has no row. */
  readonly back?: true;
  readonly open: boolean;
}

/** First letter of a cursor that leads to the page before a row. */
const backwards = 'p';

/** Items of a page that is read in the reversed order at most: it is turned round in memory. */
const maxBackward = 1000;

const version = '1';

/** Characters of the checksum: 72 bits. */
const checkLength = 12;

/** Parameters that choose a page in another way, or give an answer that has no place for the next cursor. */
const rivals = ['offset', 'page', 'aggregate', 'groupBy', 'having', 'export'];

/**
 * The syntax stage of `cursor`; undefined when it is absent. The empty text starts at the first row.
 *
 * Throws INVALID_QUERY for what no server ever wrote, and for parameters that cannot stand beside it.
 */
export function parseCursor(tree: QueryTree, limit: number): Cursor | undefined {
  const text = tree.get('cursor')?.value;
  if (text === undefined) return undefined;
  if (typeof text !== 'string') throw invalidQuery('"cursor" must be one text.');
  for (const name of rivals) {
    const value = tree.get(name)?.value;
    if (value !== undefined && value !== '') throw invalidQuery(`"cursor" cannot stand beside "${name}".`);
  }
  if (limit === 0) throw invalidQuery('"cursor" needs a "limit" other than 0.');
  if (!text.startsWith(backwards)) return readPosition(text);
  if (limit === -1 || limit > maxBackward) {
    throw invalidQuery(`"cursor" of a page before needs a "limit" of at most ${maxBackward}.`);
  }
  return { ...readPosition(text.slice(backwards.length)), back: true };
}

/** Reads the position after a row; the empty text is the start. Throws INVALID_QUERY for what no server ever wrote. */
export function readPosition(text: string): Cursor {
  return { text, start: text === '' ? 'first' : readValues(text) };
}

function readValues(text: string): readonly (string | null)[] {
  if (!text.startsWith(version) || !/^[\w-]+$/.test(text)) throw unusableCursor();
  const values = parseArray(Buffer.from(text.slice(version.length + checkLength), 'base64url').toString());
  return values.map((value) => {
    if (value !== null && (typeof value !== 'string' || !isStorableText(value))) throw unusableCursor();
    return value;
  });
}

function parseArray(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // Told below, as every other damage.
  }
  throw unusableCursor();
}

/** The cursor after a row with these values. */
export function writeCursor(order: string, values: readonly (string | null)[]): string {
  const body = Buffer.from(JSON.stringify(values)).toString('base64url');
  return `${version}${checksum(order, body)}${body}`;
}

/** The cursor of the page before a row with these values. */
export function writeBackwards(order: string, values: readonly (string | null)[]): string {
  return `${backwards}${writeCursor(order, values)}`;
}

function checksum(order: string, body: string): string {
  return createHash('sha256').update(`${order}\n${body}`).digest('base64url').slice(0, checkLength);
}

/** Parameters of a cursor's values that are not null. Throws INVALID_QUERY for another list, order or type. */
export function checkCursor(
  { order, types }: Pick<CursorPlan, 'order' | 'types'>,
  { text, start }: Cursor,
): readonly string[] {
  if (start === 'first') return [];
  const body = text.slice(version.length + checkLength);
  const genuine = text.slice(version.length, version.length + checkLength) === checksum(order, body);
  if (!genuine || start.length !== types.length) throw unusableCursor();
  return start.flatMap((value, index) => (value === null ? [] : [decode(types[index], value)]));
}

/** A database reads back what it wrote itself. */
function decode(type: ValueType | undefined, value: string): string {
  if (type === undefined || types[type.type].hasWiderTexts === true) return value;
  const decoded = decodeValue(type.type === 'csv' ? { type: 'text' } : type, value);
  if (!decoded.ok || decoded.value === null) throw unusableCursor();
  return decoded.value;
}

/** The one answer to every cursor that cannot be used. */
export function unusableCursor(): Error {
  return invalidQuery('The cursor does not belong to this list in this order.');
}

/** Returns the part of a cursor that decides the statement of a page: nulls are compared in another way than values. */
export function cursorShape(cursor: Cursor | undefined): string {
  if (cursor === undefined) return '';
  const direction = cursor.back === true ? backwards : '';
  if (cursor.start === 'first') return `${direction}first`;
  return direction + cursor.start.map((value) => (value === null ? 'n' : 'v')).join('');
}
