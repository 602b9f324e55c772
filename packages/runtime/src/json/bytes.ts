/** Reads and stores of short runs of bytes, shared by everything here that speaks in bytes. */

/** Bytes that are read: as a buffer to copy from, and as a view of the same memory for numbers. */
export interface Source {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** Rows of one chunk share its buffer, so a source is worth being kept; a large one is not, for the sake of memory. */
const largestKept = 1_048_576;

let latest = newSource(Buffer.alloc(0));
let former = latest;

/**
 * Makes the source of a buffer, or finds one of the two made last. Some drivers read rows in turns from the bytes that
 * came, and from the binary form that was made of them.
 */
export function sourceOf(bytes: Buffer): Source {
  if (latest.bytes === bytes) return latest;
  if (former.bytes === bytes) return former;
  const source = newSource(bytes);
  if (bytes.length <= largestKept) {
    former = latest;
    latest = source;
  }
  return source;
}

function newSource(bytes: Buffer): Source {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

/** A text that is written often, as words: four bytes at a time are three times as fast as one. */
export interface Literal {
  readonly words: Int32Array;
  /** Bytes of the text; the last word may have more. */
  readonly length: number;
}

/** A text of at most four bytes as one word, to be stored by `setInt32`; zeros follow a shorter one. */
export function wordOf(text: string): number {
  return literalOf(text).words[0] ?? 0;
}

/** Stores such a word. */
export function putWord(view: DataView, position: number, word: number): void {
  view.setInt32(position, word, true);
}

/** Bytes that `putLiteral` may store after a text. */
export const literalOvershoot = 3;

export function literalOf(text: string): Literal {
  const length = Buffer.byteLength(text);
  const wordView = new Int32Array(Math.ceil(length / 4));
  const padded = Buffer.alloc(wordView.byteLength, 0);
  padded.write(text);
  for (let i = 0; i < wordView.length; i++) wordView[i] = padded.readInt32LE(i * 4);
  return { words: wordView, length };
}

/** Stores a text and returns the position after it. */
export function putLiteral(view: DataView, position: number, { words: wordView, length }: Literal): number {
  for (let i = 0; i < wordView.length; i++) view.setInt32(position + i * 4, wordView[i] ?? 0, true);
  return position + length;
}

/** Reads a big-endian signed 32-bit integer; bytes outside the buffer count as zero. */
export function int32(source: Uint8Array, offset: number): number {
  return (
    ((source[offset] ?? 0) << 24) |
    ((source[offset + 1] ?? 0) << 16) |
    ((source[offset + 2] ?? 0) << 8) |
    (source[offset + 3] ?? 0)
  );
}

/** The two decimal digits of every number below 100, as a little-endian word. */
const pairs = Uint16Array.from({ length: 100 }, (_, value) => 0x3030 | Math.floor(value / 10) | ((value % 10) << 8));

/** Stores the decimal digits of an integer between 0 and 2^34 and returns the position after them. */
export function putDigits(bytes: Uint8Array, position: number, value: number): number {
  const end = position + countDigits(value);
  let rest = value;
  let i = end;
  while (rest >= 10) {
    const next = (rest / 100) | 0;
    const pair = pairs[rest - next * 100] ?? 0;
    i -= 2;
    bytes[i] = pair & 0xff;
    bytes[i + 1] = pair >> 8;
    rest = next;
  }
  if (i > position) bytes[position] = 48 + rest;
  return end;
}

/** Stores the decimal digits of an integer in exactly `width` places, filled with zeros from the left. */
export function putPadded(bytes: Uint8Array, position: number, value: number, width: number): number {
  let rest = value;
  for (let i = position + width - 1; i >= position; i--) {
    const next = (rest / 10) | 0;
    bytes[i] = 48 + rest - next * 10;
    rest = next;
  }
  return position + width;
}

/** Stores two decimal digits. */
export function putTwo(bytes: Uint8Array, position: number, value: number): number {
  const tens = (value / 10) | 0;
  bytes[position] = 48 + tens;
  bytes[position + 1] = 48 + value - tens * 10;
  return position + 2;
}

/** Stores two decimal digits by a look into a table: for what is printed thousands of times in an answer. */
export function putPair(view: DataView, position: number, value: number): void {
  view.setUint16(position, pairs[value] ?? 0, true);
}

function countDigits(value: number): number {
  if (value < 10) return 1;
  if (value < 100) return 2;
  if (value < 1_000) return 3;
  if (value < 10_000) return 4;
  if (value < 100_000) return 5;
  if (value < 1_000_000) return 6;
  if (value < 10_000_000) return 7;
  if (value < 100_000_000) return 8;
  if (value < 1_000_000_000) return 9;
  return value < 10_000_000_000 ? 10 : 11;
}
