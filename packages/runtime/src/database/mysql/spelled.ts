/** Numbers and times of the binary protocol as the texts that the servers would make of them. */
import { putPair, putWord, wordOf } from '../../json/bytes.ts';
import { putFraction } from '../../json/dates.ts';
import { putInteger, putLong } from '../../json/numbers.ts';

/** What columns of an answer are called that the lane spells. */
export const spelledColumns = {
  integer: 'platform: integer',
  dateTime: 'platform: date and time',
  instant: 'platform: instant',
} as const;

/** Most bytes that an integer or a time takes. */
export const mostSpelled = 32;

/** What an integer is in the protocol. `year` has four digits. */
export interface IntegerForm {
  readonly size: number;
  readonly unsigned: boolean;
  readonly year: boolean;
}

/** Stores the digits of the integer that stands at `from` in `source`, and returns where they end. */
export function putDigitsOf(
  bytes: Buffer,
  at: number,
  { size, unsigned, year }: IntegerForm,
  source: Buffer,
  from: number,
): number {
  if (size === 8) {
    const upper = unsigned ? wordAt(source, from + 4) >>> 0 : wordAt(source, from + 4);
    return putLong(bytes, at, upper, wordAt(source, from) >>> 0);
  }
  const value = narrowAt(source, from, size, unsigned);
  // A year is 0 or has four digits.
  if (year && value === 0) return at + bytes.write('0000', at, 'latin1');
  return value > 0x7fff_ffff ? putLong(bytes, at, 0, value) : putInteger(bytes, at, value);
}

function wordAt(source: Buffer, at: number): number {
  return (
    (source[at] ?? 0) | ((source[at + 1] ?? 0) << 8) | ((source[at + 2] ?? 0) << 16) | ((source[at + 3] ?? 0) << 24)
  );
}

function narrowAt(source: Buffer, at: number, size: number, unsigned: boolean): number {
  if (size === 4) return unsigned ? wordAt(source, at) >>> 0 : wordAt(source, at);
  const value = size === 1 ? (source[at] ?? 0) : (source[at] ?? 0) | ((source[at + 1] ?? 0) << 8);
  const unused = 32 - 8 * size;
  return unsigned ? value : (value << unused) >> unused;
}

/** Every number below 100 in two digits with the signs around it, as words. */
const twoDigits = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'));
const months = Int32Array.from(twoDigits, (digits) => wordOf(`-${digits}-`));
const hours = Int32Array.from(twoDigits, (digits) => wordOf(`T${digits}:`));
const minutes = Int32Array.from(twoDigits, (digits) => wordOf(`${digits}:`));

/**
 * Stores `2026-01-02T10:00:00.5` and returns where it ends. The time starts at `from` in `source` with its length in bytes:
 * 0 for nothing but zeros, 4 for a day, 7 with a time of day, 11 with microseconds.
 */
export function putMoment(bytes: Buffer, view: DataView, at: number, source: Buffer, from: number): number {
  const length = source[from] ?? 0;
  const year = length === 0 ? 0 : (source[from + 1] ?? 0) | ((source[from + 2] ?? 0) << 8);
  const century = (year / 100) | 0;
  putPair(view, at, century);
  putPair(view, at + 2, year - century * 100);
  // Each of these stores four bytes, of which the next one takes what is no digit or sign.
  putWord(view, at + 4, months[partAt(source, from, length, 3)] ?? 0);
  putPair(view, at + 8, partAt(source, from, length, 4));
  putWord(view, at + 10, hours[partAt(source, from, length, 5)] ?? 0);
  putWord(view, at + 14, minutes[partAt(source, from, length, 6)] ?? 0);
  putPair(view, at + 17, partAt(source, from, length, 7));
  const microseconds = length < 11 ? 0 : wordAt(source, from + 8);
  return microseconds === 0 ? at + 19 : putFraction(bytes, view, at + 19, microseconds);
}

/** One byte of a time; what it is too short for is 0. */
function partAt(source: Buffer, from: number, length: number, place: number): number {
  return place <= length ? (source[from + place] ?? 0) : 0;
}
