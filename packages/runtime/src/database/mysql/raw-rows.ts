/**
 * Rows of the binary protocol, turned into the form in which PostgreSQL sends them without a value in between: the driver
 * makes an object and three functions of every cell that somebody wants to read for himself.
 *
 * Source: https://mariadb.com/kb/en/resultset-row/ (binary row), https://dev.mysql.com/doc/dev/mysql-server (the same).
 */
import { nestedColumn, writeNested } from './nested.ts';
import type { RowBytes } from './row-bytes.ts';

/** A column as the driver describes it. */
export interface ColumnDefinition {
  readonly columnType: number;
  readonly flags: number;
  readonly name: string;
}

/** A row as the driver hands it over: its bytes from `offset` to `end`, the status byte first. */
export interface RowPacket {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly end: number;
}

/** Sizes of integers by their column type; every other column is a text or bytes with its length in front. */
const integerSizes: ReadonlyMap<number, number> = new Map([
  [1, 1],
  [2, 2],
  [3, 4],
  [8, 8],
  [9, 4],
]);
const unsignedFlag = 32;

type ColumnKind = 'bytes' | 'nested' | { readonly size: number; readonly unsigned: boolean };

/** Makes what writes each row of some columns, in the place of the one before. */
export function createRowWriter(columns: readonly ColumnDefinition[]): (out: RowBytes, row: unknown) => void {
  const kinds = columns.map(kindOf);
  // Two bits at the beginning mean nothing.
  const mapLength = (columns.length + 9) >> 3;
  return function writeRow(out, row) {
    const { buffer, offset } = row as RowPacket;
    out.clear();
    const map = offset + 1;
    let at = map + mapLength;
    for (let column = 0; column < kinds.length; column++) {
      const bit = column + 2;
      if (((buffer[map + (bit >> 3)] ?? 0) >> (bit & 7)) & 1) out.int32(-1);
      else at = writeCell(out, kinds[column] ?? 'bytes', buffer, at);
    }
  };
}

function kindOf({ columnType, flags, name }: ColumnDefinition): ColumnKind {
  const size = integerSizes.get(columnType);
  if (size !== undefined) return { size, unsigned: (flags & unsignedFlag) !== 0 };
  return name === nestedColumn ? 'nested' : 'bytes';
}

/** Writes the cell that starts at `at`; returns where the next one does. */
function writeCell(out: RowBytes, kind: ColumnKind, buffer: Buffer, at: number): number {
  if (typeof kind === 'object') {
    out.int32(8);
    out.int64(integerAt(buffer, at, kind.size, kind.unsigned));
    return at + kind.size;
  }
  const first = buffer[at] ?? 0;
  const start = at + lengthBytes(first);
  const end = start + (first < 251 ? first : longLength(buffer, at, first));
  if (kind === 'nested') writeNested(out, buffer.subarray(start, end));
  else {
    out.int32(end - start);
    out.bytes(buffer, start, end);
  }
  return end;
}

/** Bits of an integer without a sign stand as those of one that has it. */
function integerAt(buffer: Buffer, at: number, size: number, unsigned: boolean): bigint {
  if (size === 8) return buffer.readBigInt64LE(at);
  return BigInt(unsigned ? buffer.readUIntLE(at, size) : buffer.readIntLE(at, size));
}

/** Bytes that a length takes, by its first one. */
function lengthBytes(first: number): number {
  return first < 251 ? 1 : first === 252 ? 3 : first === 253 ? 4 : 9;
}

function longLength(buffer: Buffer, at: number, first: number): number {
  if (first === 252) return buffer.readUInt16LE(at + 1);
  return first === 253 ? buffer.readUIntLE(at + 1, 3) : Number(buffer.readBigUInt64LE(at + 1));
}
