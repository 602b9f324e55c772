/** Numbers and times of the binary protocol as the texts that the servers would make of them. */
import type { RowBytes } from './row-bytes.ts';

/** What columns of an answer are called that the lane spells. */
export const spelledColumns = {
  integer: 'platform: integer',
  dateTime: 'platform: date and time',
  instant: 'platform: instant',
} as const;

/** What an integer is in the protocol. `year` has four digits. */
export interface IntegerForm {
  readonly size: number;
  readonly unsigned: boolean;
  readonly year: boolean;
}

/** Writes the digits of the integer that stands at `at`, their length in front. */
export function writeInteger(out: RowBytes, { size, unsigned, year }: IntegerForm, buffer: Buffer, at: number): void {
  const digits = String(size === 8 ? wideAt(buffer, at, unsigned) : narrowAt(buffer, at, size, unsigned));
  const text = year ? digits.padStart(4, '0') : digits;
  out.int32(text.length);
  out.characters(text);
}

function narrowAt(buffer: Buffer, at: number, size: number, unsigned: boolean): number {
  return unsigned ? buffer.readUIntLE(at, size) : buffer.readIntLE(at, size);
}

/** Most integers are small, and numbers are faster than big ones. */
function wideAt(buffer: Buffer, at: number, unsigned: boolean): number | bigint {
  const high = unsigned ? buffer.readUInt32LE(at + 4) : buffer.readInt32LE(at + 4);
  const value = high * 2 ** 32 + buffer.readUInt32LE(at);
  if (Number.isSafeInteger(value)) return value;
  return unsigned ? buffer.readBigUInt64LE(at) : buffer.readBigInt64LE(at);
}

/**
 * Writes `2026-01-02T10:00:00.5` and the zone, their length in front. The time starts at `at` with its length in bytes: 0
 * for nothing but zeros, 4 for a day, 7 with a time of day, 11 with microseconds. Returns where it ends.
 */
export function writeTime(out: RowBytes, zone: string, buffer: Buffer, at: number): number {
  const length = buffer[at] ?? 0;
  const fraction = length < 11 ? '' : fractionOf(buffer.readUInt32LE(at + 8));
  out.int32(19 + fraction.length + zone.length);
  const year = length === 0 ? 0 : buffer.readUInt16LE(at + 1);
  const to = out.reserve(19);
  const bytes = out.buffer;
  putTwo(bytes, to, Math.trunc(year / 100));
  putTwo(bytes, to + 2, year % 100);
  bytes[to + 4] = signs.dash;
  putTwo(bytes, to + 5, byteOf(buffer, at, length, 2));
  bytes[to + 7] = signs.dash;
  putTwo(bytes, to + 8, byteOf(buffer, at, length, 3));
  bytes[to + 10] = signs.clock;
  putTwo(bytes, to + 11, byteOf(buffer, at, length, 4));
  bytes[to + 13] = signs.colon;
  putTwo(bytes, to + 14, byteOf(buffer, at, length, 5));
  bytes[to + 16] = signs.colon;
  putTwo(bytes, to + 17, byteOf(buffer, at, length, 6));
  out.characters(fraction);
  out.characters(zone);
  return at + 1 + length;
}

const signs = { zero: 48, dash: 45, colon: 58, clock: 84 } as const;

/** Behind the length of a time; what it is too short for is 0. */
function byteOf(buffer: Buffer, at: number, length: number, place: number): number {
  return place < length ? (buffer[at + 1 + place] ?? 0) : 0;
}

function putTwo(bytes: Buffer, at: number, number: number): void {
  bytes[at] = signs.zero + Math.trunc(number / 10);
  bytes[at + 1] = signs.zero + (number % 10);
}

function fractionOf(microseconds: number): string {
  return microseconds === 0 ? '' : `.${String(microseconds).padStart(6, '0').replace(/0+$/, '')}`;
}
