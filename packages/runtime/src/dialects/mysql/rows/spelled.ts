/** Numbers and times of the binary protocol as the texts that the servers would make of them. */
import { putPair, putWord, type Source, wordOf } from '../../../json/bytes.ts';
import { putFraction } from '../../../json/dates.ts';
import { putInteger, putLong } from '../../../json/numbers.ts';

/** Names of columns of an answer that arrive unformatted and are formatted here. */
export const rawColumns = {
  integer: 'platform: integer',
  dateTime: 'platform: date and time',
  instant: 'platform: instant',
} as const;

/** Most bytes that an integer or a time takes. */
export const maxRaw = 32;

/** Form of an integer in the protocol. `year` has four digits. */
export interface IntegerForm {
  readonly size: number;
  readonly unsigned: boolean;
  readonly year: boolean;
}

/** Stores the digits of the integer that stands at `from` in `source`, and returns where they end. */
export function putDigitsOf(
  bytes: Buffer,
  offset: number,
  { size, unsigned, year }: IntegerForm,
  { view }: Source,
  from: number,
): number {
  if (size === 8) {
    const upper = wordAt(view, from + 4);
    return putLong(bytes, offset, unsigned ? upper >>> 0 : upper, wordAt(view, from) >>> 0);
  }
  const value = narrowAt(view, from, size, unsigned);
  // A year is 0 or has four digits.
  if (year && value === 0) return offset + bytes.write('0000', offset, 'latin1');
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
