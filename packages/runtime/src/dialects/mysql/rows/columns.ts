/** Formats of the columns in an answer of MySQL or MariaDB, by their types and by names that we gave. */

import { putPair, putWord, type Source, wordOf } from '../../../json/bytes.ts';
import { putFraction } from '../../../json/dates.ts';
import { putInteger, putLong } from '../../../json/numbers.ts';
import { nestedColumn } from './nested.ts';

/** A column as the server describes it. */
export interface ColumnDefinition {
  readonly columnType: number;
  readonly flags: number;
  readonly name: string;
}

/** Forms in which the cells of a column are sent, and converted: texts and bytes by length, integers, times. */
export type CellForm =
  | { readonly kind: 'text' }
  | { readonly kind: 'nested' }
  | { readonly kind: 'whole'; readonly size: number; readonly unsigned: boolean }
  | { readonly kind: 'integer'; readonly form: IntegerForm }
  | { readonly kind: 'time'; readonly zone: '' | '+00:00' };

/** Sizes of integers by their column type; every other column is a text or bytes. */
const integerSizes: ReadonlyMap<number, number> = new Map([
  [1, 1],
  [2, 2],
  [3, 4],
  [8, 8],
  [9, 4],
  [13, 2],
]);
const unsignedFlag = 32;
/** Timestamps, and dates with times. */
const timeTypes: ReadonlySet<number> = new Set([7, 12]);

/** The form of the cells of a column. Throws if its name contradicts its type. */
export function cellFormOf({ columnType, flags, name }: ColumnDefinition): CellForm {
  const unsigned = (flags & unsignedFlag) !== 0;
  const size = integerSizes.get(columnType);
  switch (name) {
    case nestedColumn:
      return { kind: 'nested' };
    case rawColumns.integer:
      return { kind: 'integer', form: integerForm(columnType, size, unsigned) };
    case rawColumns.dateTime:
      return { kind: 'time', zone: checkedZone(columnType, '') };
    case rawColumns.instant:
      return { kind: 'time', zone: checkedZone(columnType, '+00:00') };
    default:
      return size === undefined ? { kind: 'text' } : { kind: 'whole', size, unsigned };
  }
}

function integerForm(columnType: number, storedSize: number | undefined, unsigned: boolean) {
  if (storedSize === undefined) throw new Error(`A column of type ${columnType} holds no integers.`);
  return { size: storedSize, unsigned };
}

function checkedZone<Zone>(columnType: number, zone: Zone): Zone {
  if (!timeTypes.has(columnType)) throw new Error(`A column of type ${columnType} holds no dates with times.`);
  return zone;
}

/** First bytes of numbers that stand after them, in two, three or eight bytes; a smaller one is the number. */
export const wider = { two: 252, three: 253, eight: 254 } as const;

/** Bytes that a number takes, by its first one. */
export function widthOf(first: number): number {
  if (first < wider.two) return 1;
  return first === wider.two ? 3 : first === wider.three ? 4 : 9;
}

/** The number that starts at `offset`, as one that counts bytes or columns. */
export function lengthAt(buffer: Buffer, offset: number): number {
  const first = buffer[offset] ?? 0;
  if (first < wider.two) return first;
  if (first === wider.two) return buffer.readUInt16LE(offset + 1);
  return first === wider.three ? buffer.readUIntLE(offset + 1, 3) : Number(buffer.readBigUInt64LE(offset + 1));
}

/** The number that starts at `offset`, exactly: rows or a generated key, neither of which is negative. */
export function integerAt(buffer: Buffer, offset: number): number | bigint {
  return buffer[offset] === wider.eight ? buffer.readBigUInt64LE(offset + 1) : lengthAt(buffer, offset);
}

/** Names of columns of an answer that arrive unformatted and are formatted here. */
export const rawColumns = {
  integer: 'platform: integer',
  dateTime: 'platform: date and time',
  instant: 'platform: instant',
} as const;

/** Most bytes that an integer or a time takes. */
export const maxRaw = 32;

export type IntegerForm = ReturnType<typeof integerForm>;

/** Stores the digits of the integer that stands at `from` in `source`, and returns where they end. */
export function putDigitsOf(
  bytes: Buffer,
  offset: number,
  { size, unsigned }: IntegerForm,
  { view }: Source,
  from: number,
): number {
  if (size === 8) {
    const upper = wordAt(view, from + 4);
    return putLong(bytes, offset, unsigned ? upper >>> 0 : upper, wordAt(view, from) >>> 0);
  }
  const value = narrowAt(view, from, size, unsigned);
  return value > 0x7fff_ffff ? putLong(bytes, offset, 0, value) : putInteger(bytes, offset, value);
}

function wordAt(view: DataView, offset: number): number {
  return view.getInt32(offset, true);
}

function narrowAt(view: DataView, offset: number, size: number, unsigned: boolean): number {
  if (size === 4) return unsigned ? wordAt(view, offset) >>> 0 : wordAt(view, offset);
  if (size === 1) return unsigned ? view.getUint8(offset) : view.getInt8(offset);
  return unsigned ? view.getUint16(offset, true) : view.getInt16(offset, true);
}

/** Every number below 100 in two digits with the signs around it, as words. */
const twoDigits = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'));
const months = Int32Array.from(twoDigits, (digits) => wordOf(`-${digits}-`));
const hours = Int32Array.from(twoDigits, (digits) => wordOf(`T${digits}:`));
const minutes = Int32Array.from(twoDigits, (digits) => wordOf(`${digits}:`));

/**
 * Stores `2026-01-02T10:00:00.5` and returns where it ends. The time starts at `from` in `source` with its length in
 * bytes. That is 0 for nothing but zeros, 4 for a day, 7 with a time of day, 11 with microseconds.
 */
export function putMoment(
  target: Buffer,
  out: DataView,
  offset: number,
  { bytes, view }: Source,
  from: number,
): number {
  const length = bytes[from] ?? 0;
  // A year in two bytes, then month, day, hour, minute and second in one each.
  const date = length < 4 ? 0 : wordAt(view, from + 1);
  const clock = length < 7 ? 0 : wordAt(view, from + 4);
  const year = date & 0xffff;
  const century = (year / 100) | 0;
  putPair(out, offset, century);
  putPair(out, offset + 2, year - century * 100);
  // Each of these stores four bytes; the next one overwrites those that are no digit or sign.
  putWord(out, offset + 4, months[(date >> 16) & 0xff] ?? 0);
  putPair(out, offset + 8, date >>> 24);
  putWord(out, offset + 10, hours[(clock >> 8) & 0xff] ?? 0);
  putWord(out, offset + 14, minutes[(clock >> 16) & 0xff] ?? 0);
  putPair(out, offset + 17, clock >>> 24);
  const microseconds = length < 11 ? 0 : wordAt(view, from + 8);
  return microseconds === 0 ? offset + 19 : putFraction(target, out, offset + 19, microseconds);
}
