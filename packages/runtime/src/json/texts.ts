/**
 * Values of any length as JSON: text is escaped as `JSON.stringify` escapes it, JSON passes through, bytes become base64.
 *
 * The writers make their own room, text for what is left of it and one escape at a time. So a large value never
 * reserves the sixfold room of its worst case.
 */
import type { ByteWriter } from './byte-writer.ts';
import type { Source } from './bytes.ts';

/** The longest escape, the quotes, and what a word may store too much. */
const spareRoom = 16;

const quote = 34;
const backslash = 92;

/** Per byte: 0 as it is, 1 for `\u00xx`, else the letter after the backslash. UTF-8 above 0x7f passes. */
const escapes = new Uint8Array(256);
escapes.fill(1, 0, 32);
for (const [letter, code] of [
  ['b', 8],
  ['t', 9],
  ['n', 10],
  ['f', 12],
  ['r', 13],
  ['"', quote],
  ['\\', backslash],
] as const) {
  escapes[code] = letter.charCodeAt(0);
}

const hexadecimal = Buffer.from('0123456789abcdef', 'latin1');
const base64 = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', 'latin1');

export function writeText(out: ByteWriter, source: Source, offset: number, length: number): void {
  const end = offset + length;
  out.reserve(length + spareRoom);
  out.bytes[out.position++] = quote;
  let from = writePlain(out, source, offset, end);
  while (from < end) {
    out.reserve(end - from + spareRoom);
    out.position = putEscape(out.bytes, out.position, source.bytes[from] ?? 0);
    from = writePlain(out, source, from + 1, end);
  }
  out.bytes[out.position++] = quote;
}

/** Writes text as a JSON array of the strings between its commas; the empty text is the empty array. */
export function writeList(out: ByteWriter, source: Source, offset: number, length: number): void {
  const end = offset + length;
  out.reserve(2);
  out.bytes[out.position++] = 91;
  for (let from = offset; length > 0 && from <= end; ) {
    const comma = source.bytes.indexOf(44, from);
    const to = comma < 0 || comma > end ? end : comma;
    writeText(out, source, from, to - from);
    out.reserve(1);
    out.bytes[out.position++] = to < end ? 44 : 93;
    from = to + 1;
  }
  if (length === 0) out.bytes[out.position++] = 93;
}

/** Copies bytes into reserved room up to the first that needs an escape, words at a time; returns where that stands. */
function writePlain(out: ByteWriter, { bytes, view }: Source, offset: number, end: number): number {
  const target = out.view;
  let { position } = out;
  let from = offset;
  for (; from + 8 <= end; from += 8) {
    const first = view.getInt32(from, true);
    const second = view.getInt32(from + 4, true);
    if (((borrowed(first) | borrowed(second)) & highBits) !== 0) break;
    target.setInt32(position, first, true);
    target.setInt32(position + 4, second, true);
    position += 8;
  }
  for (; from + 4 <= end; from += 4) {
    const word = view.getInt32(from, true);
    if ((borrowed(word) & highBits) !== 0) break;
    target.setInt32(position, word, true);
    position += 4;
  }
  for (; from < end; from++) {
    const byte = bytes[from] ?? 0;
    if (escapes[byte] !== 0) break;
    out.bytes[position++] = byte;
  }
  out.position = position;
  return from;
}

/**
 * Sets one of the highest bits when one of four bytes is a quote, a backslash or below 32. Subtracting from a byte that
 * is smaller borrows into its highest bit, which was not set before. Effects on the bytes above no longer matter.
 */
function borrowed(word: number): number {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  return (
    ((word - 0x20202020) & ~word) | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes)
  );
}

/** The highest bit of each of four bytes. */
const highBits = 0x80808080 | 0;

function putEscape(bytes: Uint8Array, position: number, byte: number): number {
  const letter = escapes[byte] ?? 0;
  bytes[position] = backslash;
  if (letter !== 1) {
    bytes[position + 1] = letter;
    return position + 2;
  }
  bytes[position + 1] = 117;
  bytes[position + 2] = 48;
  bytes[position + 3] = 48;
  bytes[position + 4] = 48 + (byte >> 4);
  bytes[position + 5] = hexadecimal[byte & 15] ?? 0;
  return position + 6;
}

/** Writes bytes that are JSON already; for few of them a loop beats the call into native code. */
export function writeRaw(out: ByteWriter, { bytes }: Source, offset: number, length: number): void {
  out.reserve(length);
  const target = out.bytes;
  const { position } = out;
  if (length > 48) bytes.copy(target, position, offset, offset + length);
  else for (let i = 0; i < length; i++) target[position + i] = bytes[offset + i] ?? 0;
  out.position = position + length;
}

/** Writes the text of a number: as it is when finite, as a string when it is `NaN`, `Infinity` or `-Infinity`. */
export function writeNumber(out: ByteWriter, source: Source, offset: number, length: number): void {
  const first = source.bytes[offset] === 45 ? source.bytes[offset + 1] : source.bytes[offset];
  // A finite number starts with a digit.
  if (first !== undefined && first <= 57) writeRaw(out, source, offset, length);
  else writeText(out, source, offset, length);
}

export function writeBase64(out: ByteWriter, { bytes: source }: Source, offset: number, length: number): void {
  out.reserve(Math.ceil(length / 3) * 4 + 2);
  const { bytes } = out;
  let position = out.position;
  bytes[position++] = quote;
  const end = offset + length;
  let i = offset;
  for (; i + 2 < end; i += 3) position = putTriple(bytes, position, source, i);
  if (i < end) position = putRest(bytes, position, source, i, end - i);
  bytes[position++] = quote;
  out.position = position;
}

function putTriple(bytes: Uint8Array, position: number, source: Buffer, from: number): number {
  const bits = ((source[from] ?? 0) << 16) | ((source[from + 1] ?? 0) << 8) | (source[from + 2] ?? 0);
  bytes[position] = base64[bits >> 18] ?? 0;
  bytes[position + 1] = base64[(bits >> 12) & 63] ?? 0;
  bytes[position + 2] = base64[(bits >> 6) & 63] ?? 0;
  bytes[position + 3] = base64[bits & 63] ?? 0;
  return position + 4;
}

/** The last one or two bytes, padded with `=`. */
function putRest(bytes: Uint8Array, position: number, source: Buffer, from: number, count: number): number {
  const first = source[from] ?? 0;
  const second = count === 2 ? (source[from + 1] ?? 0) : 0;
  bytes[position] = base64[first >> 2] ?? 0;
  bytes[position + 1] = base64[((first & 3) << 4) | (second >> 4)] ?? 0;
  bytes[position + 2] = count === 2 ? (base64[(second & 15) << 2] ?? 0) : 61;
  bytes[position + 3] = 61;
  return position + 4;
}

/** Writes the 16 bytes of a uuid in its usual form, in lower case; stores into reserved room. */
export function writeUuid(out: ByteWriter, { bytes: source }: Source, offset: number): void {
  const { bytes } = out;
  let position = out.position;
  bytes[position++] = quote;
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) bytes[position++] = 45;
    const byte = source[offset + i] ?? 0;
    bytes[position++] = hexadecimal[byte >> 4] ?? 0;
    bytes[position++] = hexadecimal[byte & 15] ?? 0;
  }
  bytes[position++] = quote;
  out.position = position;
}
