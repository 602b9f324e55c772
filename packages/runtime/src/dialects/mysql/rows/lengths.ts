/** Numbers of the protocol of MySQL and MariaDB that tell by their first byte how many bytes they take. */

/** First bytes of numbers that stand after them, in two, three or eight bytes; a smaller one is the number. */
export const wider = { two: 252, three: 253, eight: 254 } as const;

/** Bytes that a number takes, by its first one. */
export function widthOf(first: number): number {
  if (first < wider.two) return 1;
  return first === wider.two ? 3 : first === wider.three ? 4 : 9;
}

/** The number that starts at `offset`, as one that counts bytes or columns. */
export function lengthAt(buffer: Buffer, offset: number): number {
  const first = buffer[offset] ?? 0;
  if (first < wider.two) return first;
  if (first === wider.two) return buffer.readUInt16LE(offset + 1);
  return first === wider.three ? buffer.readUIntLE(offset + 1, 3) : Number(buffer.readBigUInt64LE(offset + 1));
}

/** The number that starts at `offset`, exactly and with a sign: rows or a key. */
export function integerAt(buffer: Buffer, offset: number): number | bigint {
  return buffer[offset] === wider.eight ? buffer.readBigInt64LE(offset + 1) : lengthAt(buffer, offset);
}
