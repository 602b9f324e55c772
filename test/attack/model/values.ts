/** Values of every type: what is drawn, and how two of them compare. */
import { type CellType, type Json, labels } from './world.ts';

const places = new Map<Json, number>(labels.map((label, place) => [label, place]));

/** Few values of each type, so that ties are common; with those that break patterns, numbers and paths. */
export const pools: Readonly<Record<CellType, readonly Json[]>> = {
  integer: [0, 1, 2, 3, -1],
  bigInteger: ['5', '0', '-1', '9007199254740993'],
  decimal: ['1.50', '0.00', '-2.25', '10.00'],
  text: ['a', 'b', 'ab', '', 'B', 'A%', 'x_y', '10', '\\', 'a,b'],
  string: ['a', 'b', 'Ab', '', '%', '_', '3'],
  boolean: [true, false],
  date: ['2021-01-01', '2020-02-29', '2021-12-31'],
  timestamp: ['2021-06-30T12:00:00+00:00', '2020-01-01T00:00:00+00:00', '2021-06-30T23:59:59+00:00'],
  uuid: [1, 2, 3].map((digit) => `a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1${digit}`),
  enum: [...labels],
  json: [[], [1, 2], { a: [1] }, 'text', 7, true],
  array: [[], ['a'], ['a', 'b', 'a']],
  secret: ['secret one', 'secret two', ''],
};

/** Types whose values have an order that requests can use. */
export const ordered: ReadonlySet<CellType> = new Set([
  ...(['integer', 'bigInteger', 'decimal', 'text', 'string', 'boolean', 'date', 'timestamp', 'uuid', 'enum'] as const),
]);

/** Whether fields of a type are searched. */
export function isText(type: CellType): boolean {
  return type === 'text' || type === 'string';
}

/** Negative, zero or positive; neither value is null. */
export function compareValues(type: CellType, one: Json, other: Json): number {
  if (type === 'bigInteger') return Number(BigInt(String(one)) - BigInt(String(other)));
  if (type === 'integer' || type === 'decimal' || type === 'boolean') return Number(one) - Number(other);
  if (type === 'enum') return placeOf(one) - placeOf(other);
  // The server's collation is C, and dates and times are written so that their texts compare.
  const [left, right] = [String(one), String(other)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function placeOf(label: Json): number {
  return places.get(label) ?? -1;
}

/** As PostgreSQL sorts: null is larger than everything. */
export function compareCells(type: CellType, one: Json, other: Json): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return compareValues(type, one, other);
}

/** Whether the text of a caller's key is a value of the type. */
export function isValueOf(type: CellType, text: string): boolean {
  if (type === 'integer' || type === 'bigInteger') return /^-?\d+$/.test(text);
  if (type === 'uuid') return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
  return isText(type);
}
