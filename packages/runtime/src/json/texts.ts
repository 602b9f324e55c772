/**
 * Values of any length as JSON: text is escaped as `JSON.stringify` escapes it, JSON passes through, bytes become base64.
 *
 * The writers make their own room, text slice by slice, so that a large value never reserves the sixfold room of its
 * worst case.
 */
import type { ByteWriter } from './byte-writer.ts';

/** Bytes of text whose worst case is reserved at once. */
const sliceLength = 1_024;

const quote = 34;
const backslash = 92;

/** Per byte: 0 as it is, 1 for `\u00xx`, else the letter behind the backslash. UTF-8 above 0x7f passes. */
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

/** Writes UTF-8 text as a JSON string. */
export function writeText(out: ByteWriter, source: Buffer, at: number, length: number): void {
  out.reserve(2);
  out.bytes[out.position++] = quote;
  const end = at + length;
  for (let from = at; from < end; from += sliceLength) {
    out.reserve(sliceLength * 6 + 1);
    putEscaped(out, source, from, Math.min(from + sliceLength, end));
  }
  out.bytes[out.position++] = quote;
}

/** Writes text as a JSON array of the strings between its commas; the empty text is the empty array. */
export function writeList(out: ByteWriter, source: Buffer, at: number, length: number): void {
  const end = at + length;
  out.reserve(2);
  out.bytes[out.position++] = 91;
  for (let from = at; length > 0 && from <= end; ) {
    const comma = source.indexOf(44, from);
    const to = comma < 0 || comma > end ? end : comma;
    writeText(out, source, from, to - from);
    out.reserve(1);
    out.bytes[out.position++] = to < end ? 44 : 93;
    from = to + 1;
  }
  if (length === 0) out.bytes[out.position++] = 93;
}

/** Copies runs of plain bytes natively, which is three times as fast as storing them one by one. */
function putEscaped(out: ByteWriter, source: Buffer, at: number, end: number): void {
  const { bytes } = out;
  let position = out.position;
  let from = at;
  while (from < end) {
    const to = endOfPlain(source, from, end);
    position = putRun(bytes, position, source, from, to);
    if (to < end) position = putEscape(bytes, position, source[to] ?? 0);
    from = to + 1;
  }
  out.position = position;
}

/** Finds the first byte from `at` on that needs an escape, four at a time while there are four. */
function endOfPlain(source: Buffer, at: number, end: number): number {
  let i = at;
  for (; i + 4 <= end; i += 4) {
    const first = (escapes[source[i] ?? 0] ?? 0) | (escapes[source[i + 1] ?? 0] ?? 0);
    const second = (escapes[source[i + 2] ?? 0] ?? 0) | (escapes[source[i + 3] ?? 0] ?? 0);
    if ((first | second) !== 0) break;
  }
  while (i < end && escapes[source[i] ?? 0] === 0) i++;
  return i;
}

/** Copies the bytes from `at` up to `end`; for few of them a loop beats the call into native code. */
function putRun(bytes: Buffer, position: number, source: Buffer, at: number, end: number): number {
  if (end - at > 48) source.copy(bytes, position, at, end);
  else for (let i = at; i < end; i++) bytes[position + i - at] = source[i] ?? 0;
  return position + end - at;
}

function putEscape(bytes: Uint8Array, at: number, byte: number): number {
  const letter = escapes[byte] ?? 0;
  bytes[at] = backslash;
  if (letter !== 1) {
    bytes[at + 1] = letter;
    return at + 2;
  }
  bytes[at + 1] = 117;
  bytes[at + 2] = 48;
  bytes[at + 3] = 48;
  bytes[at + 4] = 48 + (byte >> 4);
  bytes[at + 5] = hexadecimal[byte & 15] ?? 0;
  return at + 6;
}

/** Writes bytes that are JSON already. */
export function writeRaw(out: ByteWriter, source: Buffer, at: number, length: number): void {
  out.reserve(length);
  out.position = putRun(out.bytes, out.position, source, at, at + length);
}

/** Writes the text of a number: as it is when finite, as a string when it is `NaN`, `Infinity` or `-Infinity`. */
export function writeNumber(out: ByteWriter, source: Buffer, at: number, length: number): void {
  const first = source[at] === 45 ? source[at + 1] : source[at];
  // A finite number starts with a digit.
  if (first !== undefined && first <= 57) writeRaw(out, source, at, length);
  else writeText(out, source, at, length);
}

/** Writes bytes as a base64 string with padding. */
export function writeBase64(out: ByteWriter, source: Buffer, at: number, length: number): void {
  out.reserve(Math.ceil(length / 3) * 4 + 2);
  const { bytes } = out;
  let position = out.position;
  bytes[position++] = quote;
  const end = at + length;
  let i = at;
  for (; i + 2 < end; i += 3) position = putTriple(bytes, position, source, i);
  if (i < end) position = putRest(bytes, position, source, i, end - i);
  bytes[position++] = quote;
  out.position = position;
}

function putTriple(bytes: Uint8Array, at: number, source: Buffer, from: number): number {
  const bits = ((source[from] ?? 0) << 16) | ((source[from + 1] ?? 0) << 8) | (source[from + 2] ?? 0);
  bytes[at] = base64[bits >> 18] ?? 0;
  bytes[at + 1] = base64[(bits >> 12) & 63] ?? 0;
  bytes[at + 2] = base64[(bits >> 6) & 63] ?? 0;
  bytes[at + 3] = base64[bits & 63] ?? 0;
  return at + 4;
}

/** The last one or two bytes, padded with `=`. */
function putRest(bytes: Uint8Array, at: number, source: Buffer, from: number, count: number): number {
  const first = source[from] ?? 0;
  const second = count === 2 ? (source[from + 1] ?? 0) : 0;
  bytes[at] = base64[first >> 2] ?? 0;
  bytes[at + 1] = base64[((first & 3) << 4) | (second >> 4)] ?? 0;
  bytes[at + 2] = count === 2 ? (base64[(second & 15) << 2] ?? 0) : 61;
  bytes[at + 3] = 61;
  return at + 4;
}

/** Writes the 16 bytes of a uuid in its usual form, in lower case; stores into reserved room. */
export function writeUuid(out: ByteWriter, source: Buffer, at: number): void {
  const { bytes } = out;
  let position = out.position;
  bytes[position++] = quote;
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) bytes[position++] = 45;
    const byte = source[at + i] ?? 0;
    bytes[position++] = hexadecimal[byte >> 4] ?? 0;
    bytes[position++] = hexadecimal[byte & 15] ?? 0;
  }
  bytes[position++] = quote;
  out.position = position;
}
