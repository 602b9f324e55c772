import type { KeyKind } from '../../database/database.ts';

/** Where the digits of a UUID are parted by a dash. */
const uuidPattern = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;
const uuidBytes = 16;

/** The key in some bytes of a row as the text that a parameter has for it. */
export function readKey(buffer: Buffer, start: number, end: number, kind: KeyKind): string {
  return kind === 'integer' ? String(integerAt(buffer, start, end)) : uuidAt(buffer, start, end);
}

function integerAt(buffer: Buffer, start: number, end: number): number | bigint {
  if (end - start === 4) return buffer.readInt32BE(start);
  if (end - start === 2) return buffer.readInt16BE(start);
  const value = buffer.readInt32BE(start) * 2 ** 32 + buffer.readUInt32BE(start + 4);
  return Number.isSafeInteger(value) ? value : buffer.readBigInt64BE(start);
}

/** In bytes, or where the server keeps it as a text, as that. */
function uuidAt(buffer: Buffer, start: number, end: number): string {
  if (end - start !== uuidBytes) return buffer.toString('latin1', start, end);
  return buffer.toString('hex', start, end).replace(uuidPattern, '$1-$2-$3-$4-$5');
}
