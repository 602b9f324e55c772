/**
 * Values of any length as JSON: text is escaped as `JSON.stringify` escapes it, JSON passes through, bytes become base64.
 *
 * Values up to `shortLength` are stored into room that the caller reserved (`shortRoom` of them); longer ones make their
 * own, slice by slice, so that a large value never reserves the sixfold room of its worst case.
 */
import type { ByteWriter } from './byte-writer.ts';

/** Longest value, in bytes, whose worst case the caller reserves. */
export const shortLength = 1_024;

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
  out.reserve(1);
  out.bytes[out.position++] = quote;
  const end = at + length;
  if (length <= shortLength) putEscaped(out, source, at, end);
  else writeSlices(out, source, at, end);
  out.reserve(1);
  out.bytes[out.position++] = quote;
}

function writeSlices(out: ByteWriter, source: Buffer, at: number, end: number): void {
  for (let from = at; from < end; from += shortLength) {
    out.reserve(shortLength * 6);
    putEscaped(out, source, from, Math.min(from + shortLength, end));
  }
}

function putEscaped(out: ByteWriter, source: Buffer, at: number, end: number): void {
  const { bytes } = out;
  let position = out.position;
  for (let i = at; i < end; i++) {
    const byte = source[i] ?? 0;
    const escape = escapes[byte] ?? 0;
    if (escape === 0) bytes[position++] = byte;
    else position = putEscape(bytes, position, byte, escape);
  }
  out.position = position;
}

function putEscape(bytes: Uint8Array, at: number, byte: number, escape: number): number {
  bytes[at] = backslash;
  if (escape !== 1) {
    bytes[at + 1] = escape;
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
  const { bytes, position } = out;
  // Below this length a loop beats the call into native code.
  if (length > 48) source.copy(bytes, position, at, at + length);
  else for (let i = 0; i < length; i++) bytes[position + i] = source[at + i] ?? 0;
  out.position = position + length;
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
