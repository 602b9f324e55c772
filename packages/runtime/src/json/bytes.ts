/** Reads and stores of single numbers, shared by everything here that speaks in bytes. */

/** Reads a big-endian signed 32-bit integer; bytes outside the buffer count as zero. */
export function int32(source: Uint8Array, at: number): number {
  return (
    ((source[at] ?? 0) << 24) | ((source[at + 1] ?? 0) << 16) | ((source[at + 2] ?? 0) << 8) | (source[at + 3] ?? 0)
  );
}

/** Reads a big-endian signed 16-bit integer. */
export function int16(source: Uint8Array, at: number): number {
  return (((source[at] ?? 0) << 24) >> 16) | (source[at + 1] ?? 0);
}

/** Stores the decimal digits of an integer between 0 and 2^34 and returns the position behind them. */
export function putDigits(bytes: Uint8Array, at: number, value: number): number {
  const end = at + countDigits(value);
  let rest = value;
  for (let i = end - 1; i >= at; i--) {
    const next = (rest / 10) | 0;
    bytes[i] = 48 + rest - next * 10;
    rest = next;
  }
  return end;
}

/** Stores the decimal digits of an integer in exactly `width` places, filled with zeros from the left. */
export function putPadded(bytes: Uint8Array, at: number, value: number, width: number): number {
  let rest = value;
  for (let i = at + width - 1; i >= at; i--) {
    const next = (rest / 10) | 0;
    bytes[i] = 48 + rest - next * 10;
    rest = next;
  }
  return at + width;
}

/** Stores two decimal digits. */
export function putTwo(bytes: Uint8Array, at: number, value: number): number {
  const tens = (value / 10) | 0;
  bytes[at] = 48 + tens;
  bytes[at + 1] = 48 + value - tens * 10;
  return at + 2;
}

/** Stores a short run of bytes; for long ones a native copy is faster. */
export function putBytes(bytes: Uint8Array, at: number, source: Uint8Array): number {
  for (let i = 0; i < source.length; i++) bytes[at + i] = source[i] ?? 0;
  return at + source.length;
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
