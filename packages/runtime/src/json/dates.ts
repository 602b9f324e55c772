/**
 * Dates and times of the binary form of rows as JSON strings, in ISO 8601.
 *
 * Every writer here stores into room that its caller reserved (at most `scalarRoom` bytes) and moves the position.
 * Source: API specification, section 6; the binary forms are those of `date_send`, `time_send` and
 * `timestamp_send` (days or microseconds since 2000-01-01).
 */
import type { ByteWriter } from './byte-writer.ts';
import {
  type Literal,
  literalOf,
  putDigits,
  putLiteral,
  putPadded,
  putPair,
  putTwo,
  putWord,
  type Source,
  wordOf,
} from './bytes.ts';

const quote = 34;
const colon = 58;
/** Days from 0000-03-01, where the proleptic Gregorian cycle of 400 years is simplest to count from, to 2000-01-01. */
const epoch = 730_425;
/** Microseconds of a day divided by 1024. */
const dayUnits = 84_375_000;

const infinity = literalOf('"infinity"');
const minusInfinity = literalOf('"-infinity"');
const utc = literalOf('+00:00');
const none = literalOf('');
const beforeChrist = literalOf(' BC');

/** Recent days of the years 1 to 9999, direct-mapped: in `cached` the bytes of `"YYYY-MM-DD"`, as three words. */
const slots = 512;
const cached = new Int32Array(slots).fill(0x7fff_ffff);
const printed = new Int32Array(slots * 3);

/** A point and three digits of every number below 1000, as a word. */
const thousandths = Int32Array.from({ length: 1_000 }, (_, value) => wordOf(`.${String(value).padStart(3, '0')}`));

/** `HH:MM:` of every minute of a day, the last one being midnight at its end, as two words each. */
const minuteTexts = printMinutes();

/** Writes a `date` as `"YYYY-MM-DD"`. */
export function writeDate(out: ByteWriter, { view }: Source, offset: number): void {
  const day = view.getInt32(offset);
  if (day === 0x7fff_ffff) writeFixed(out, infinity);
  else if (day === -0x8000_0000) writeFixed(out, minusInfinity);
  else out.position = finish(out, putDay(out, day), day, none);
}

/** Writes a `time` as `"HH:MM:SS[.ffffff]"`. */
export function writeTime(out: ByteWriter, { view }: Source, offset: number): void {
  const { bytes } = out;
  bytes[out.position] = quote;
  const end = putTime(out, out.position + 1, view.getInt32(offset) * 4_294_967_296 + view.getUint32(offset + 4));
  bytes[end] = quote;
  out.position = end + 1;
}

/** Writes a `timestamp` as `"YYYY-MM-DDTHH:MM:SS[.ffffff]"`. */
export function writeTimestamp(out: ByteWriter, source: Source, offset: number): void {
  writeInstant(out, source.view, offset, none);
}

/** Writes a `timestamptz` in UTC as `"YYYY-MM-DDTHH:MM:SS[.ffffff]+00:00"`. */
export function writeTimestamptz(out: ByteWriter, source: Source, offset: number): void {
  writeInstant(out, source.view, offset, utc);
}

function writeInstant(out: ByteWriter, view: DataView, offset: number, zone: Literal): void {
  const high = view.getInt32(offset);
  const low = view.getInt32(offset + 4);
  if (high === 0x7fff_ffff && low === -1) writeFixed(out, infinity);
  else if (high === -0x8000_0000 && low === 0) writeFixed(out, minusInfinity);
  else writeMoment(out, high, low, zone);
}

function writeMoment(out: ByteWriter, high: number, low: number, zone: Literal): void {
  // A day has 1024 × dayUnits microseconds, and the value without its last ten bits is exact in a double.
  const units = high * 4_194_304 + (low >>> 10);
  const day = Math.floor(units / dayUnits);
  const middle = putDay(out, day);
  out.bytes[middle] = 84;
  out.position = finish(out, putTime(out, middle + 1, (units - day * dayUnits) * 1024 + (low & 1023)), day, zone);
}

function printMinutes(): Int32Array {
  const bytes = Buffer.alloc(1_441 * 8);
  for (let minute = 0; minute <= 1_440; minute++) {
    putTwo(bytes, minute * 8, Math.floor(minute / 60));
    bytes[minute * 8 + 2] = colon;
    putTwo(bytes, minute * 8 + 3, minute % 60);
    bytes[minute * 8 + 5] = colon;
  }
  return Int32Array.from({ length: bytes.length / 4 }, (_, word) => bytes.readInt32LE(word * 4));
}

function finish({ bytes, view }: ByteWriter, position: number, day: number, zone: Literal): number {
  let end = putLiteral(view, position, zone);
  // 0001-01-01 is 730,119 days before 2000-01-01.
  if (day < -730_119) end = putLiteral(view, end, beforeChrist);
  bytes[end] = quote;
  return end + 1;
}

function writeFixed(out: ByteWriter, text: Literal): void {
  out.position = putLiteral(out.view, out.position, text);
}

/** Stores the day, counted from 2000-01-01, as `"YYYY-MM-DD`, a year before Christ without its suffix; returns its end. */
function putDay({ bytes, view, position }: ByteWriter, day: number): number {
  const slot = day & (slots - 1);
  const from = slot * 3;
  if (cached[slot] === day) {
    view.setInt32(position, printed[from] ?? 0, true);
    view.setInt32(position + 4, printed[from + 1] ?? 0, true);
    view.setInt32(position + 8, printed[from + 2] ?? 0, true);
    return position + 11;
  }
  bytes[position] = quote;
  const end = putCivil(bytes, position + 1, day + epoch);
  if (end === position + 11) {
    cached[slot] = day;
    for (let i = 0; i < 3; i++) printed[from + i] = view.getInt32(position + i * 4, true);
  }
  return end;
}

/** Stores the civil date of a day counted from 0000-03-01, by cycles of 400 years and months counted from March. */
function putCivil(bytes: Uint8Array, position: number, day: number): number {
  const cycle = Math.floor(day / 146_097);
  const dayOfCycle = day - cycle * 146_097;
  const yearOfCycle =
    ((dayOfCycle - ((dayOfCycle / 1_460) | 0) + ((dayOfCycle / 36_524) | 0) - ((dayOfCycle / 146_096) | 0)) / 365) | 0;
  const dayOfYear = dayOfCycle - (365 * yearOfCycle + ((yearOfCycle / 4) | 0) - ((yearOfCycle / 100) | 0));
  const fromMarch = ((5 * dayOfYear + 2) / 153) | 0;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0);
  const end = putYear(bytes, position, year > 0 ? year : 1 - year);
  bytes[end] = 45;
  bytes[end + 3] = 45;
  putTwo(bytes, end + 1, month);
  return putTwo(bytes, end + 4, dayOfYear - (((153 * fromMarch + 2) / 5) | 0) + 1);
}

function putYear(bytes: Uint8Array, position: number, year: number): number {
  return year < 10_000 ? putPadded(bytes, position, year, 4) : putDigits(bytes, position, year);
}

/** Stores microseconds since midnight as `HH:MM:SS` and, when there is one, the fraction without trailing zeros. */
function putTime({ bytes, view }: ByteWriter, position: number, microseconds: number): number {
  const seconds = Math.floor(microseconds / 1_000_000);
  const minutes = (seconds / 60) | 0;
  view.setInt32(position, minuteTexts[minutes * 2] ?? 0, true);
  view.setInt32(position + 4, minuteTexts[minutes * 2 + 1] ?? 0, true);
  putPair(view, position + 6, seconds - minutes * 60);
  const fraction = microseconds - seconds * 1_000_000;
  return fraction === 0 ? position + 8 : putFraction(bytes, view, position + 8, fraction);
}

/** Stores a point and the millionths after it without zeros at their end; returns the position after them. */
export function putFraction(bytes: Uint8Array, view: DataView, position: number, fraction: number): number {
  const upper = (fraction / 1_000) | 0;
  const lower = fraction - upper * 1_000;
  putWord(view, position, thousandths[upper] ?? 0);
  putWord(view, position + 4, (thousandths[lower] ?? 0) >> 8);
  let end = position + 7;
  while (bytes[end - 1] === 48) end--;
  return end;
}
