/** Numbers of the protocol of MySQL and MariaDB that tell by their first byte how many bytes they take. */

/** First bytes of numbers that stand after them, in two, three or eight bytes; a smaller one is the number. */
export const wider = { two: 252, three: 253, eight: 254 } as const;

/** Bytes that a number takes, by its first one. */
export function widthOf(first: number): number {
  if (first < wider.two) return 1;
  return first === wider.two ? 3 : first === wider.three ? 4 : 9;
}

/** The number that starts at `at`, as one that counts bytes or columns. */
export function lengthAt(buffer: Buffer, at: number): number {
  const first = buffer[at] ?? 0;
  if (first < wider.two) return first;
  if (first === wider.two) return buffer.readUInt16LE(at + 1);
  return first === wider.three ? buffer.readUIntLE(at + 1, 3) : Number(buffer.readBigUInt64LE(at + 1));
}

/** The number that starts at `at`, exactly and with a sign: rows or a key. */
export function integerAt(buffer: Buffer, at: number): number | bigint {
  return buffer[at] === wider.eight ? buffer.readBigInt64LE(at + 1) : lengthAt(buffer, at);
}
