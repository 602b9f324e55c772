/**
 * Numbers of the binary protocol as JSON.
 *
 * Every writer here stores into room that its caller reserved (at most `scalarRoom` bytes) and moves the position.
 */
import type { ByteWriter } from './byte-writer.ts';
import { putDigits, putPadded, type Source } from './bytes.ts';

const quote = 34;
const minus = 45;
const billion = 1_000_000_000;

export function writeInt2(out: ByteWriter, { view }: Source, offset: number): void {
  out.position = putInteger(out.bytes, out.position, view.getInt16(offset));
}

export function writeInt4(out: ByteWriter, { view }: Source, offset: number): void {
  out.position = putInteger(out.bytes, out.position, view.getInt32(offset));
}

/** Writes a `bigint` as a quoted decimal string: JSON numbers lose digits beyond 2^53 in most readers. */
export function writeInt8(out: ByteWriter, { view }: Source, offset: number): void {
  const { bytes } = out;
  bytes[out.position] = quote;
  const end = putLong(bytes, out.position + 1, view.getInt32(offset), view.getUint32(offset + 4));
  bytes[end] = quote;
  out.position = end + 1;
}

/** Writes a `bigint` that is known to be a count as a JSON number. */
export function writeCount(out: ByteWriter, { view }: Source, offset: number): void {
  out.position = putLong(out.bytes, out.position, view.getInt32(offset), view.getUint32(offset + 4));
}

/** Stores the decimal digits of an integer of 32 bits, with its sign, and returns the position after them. */
export function putInteger(bytes: Uint8Array, position: number, value: number): number {
  if (value >= 0) return putDigits(bytes, position, value);
  bytes[position] = minus;
  return putDigits(bytes, position + 1, -value);
}

/**
 * Prints the 64-bit integer whose upper and lower halves are given, the lower one without a sign, and returns the position
 * after it. It is exact: the magnitude is split at 10^9 without ever leaving the exact range of doubles.
 */
export function putLong(bytes: Uint8Array, position: number, upper: number, lower: number): number {
  let high = upper;
  let low = lower;
  let end = position;
  if (high < 0) {
    bytes[end++] = minus;
    high = low === 0 ? -high : ~high;
    low = -low >>> 0;
  }
  if (high === 0 && low < billion) return putDigits(bytes, end, low);
  // Long division by 10^9 in digits of 32, 16 and 16 bits: every intermediate stays below 2^46.
  const top = Math.floor(high / billion);
  const middle = (high - top * billion) * 65_536 + (low >>> 16);
  const middleQuotient = Math.floor(middle / billion);
  const bottom = (middle - middleQuotient * billion) * 65_536 + (low & 65_535);
  const bottomQuotient = Math.floor(bottom / billion);
  end = putDigits(bytes, end, top * 4_294_967_296 + middleQuotient * 65_536 + bottomQuotient);
  return putPadded(bytes, end, bottom - bottomQuotient * billion, 9);
}
