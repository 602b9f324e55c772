/**
 * Rows of the binary protocol, turned into the form in which PostgreSQL sends them without a value in between.
 *
 * Source: https://mariadb.com/kb/en/resultset-row/ (binary row), https://dev.mysql.com/doc/dev/mysql-server (the same).
 */
import { lengthAt, widthOf } from './lengths.ts';
import { nestedColumn, writeNested } from './nested.ts';
import type { RowBytes } from './row-bytes.ts';
import { spelledColumns, writeInteger, writeTime } from './spelled.ts';

/** A column as the server describes it. */
export interface ColumnDefinition {
  readonly columnType: number;
  readonly flags: number;
  readonly name: string;
}

/** Writes the row that starts at `at`, the status byte first, in the place of the one before. */
export type RowWriter = (out: RowBytes, buffer: Buffer, at: number) => void;

/** Sizes of integers by their column type; every other column is a text or bytes with its length in front. */
const integerSizes: ReadonlyMap<number, number> = new Map([
  [1, 1],
  [2, 2],
  [3, 4],
  [8, 8],
  [9, 4],
]);
const unsignedFlag = 32;
const yearType = 13;
/** Timestamps, and dates with times. */
const timeTypes: ReadonlySet<number> = new Set([7, 12]);

/** Writes the cell that starts at `at`; returns where the next one does. */
type WriteCell = (out: RowBytes, buffer: Buffer, at: number) => number;

/** Makes what writes each row of some columns. */
export function createRowWriter(columns: readonly ColumnDefinition[]): RowWriter {
  const cells = columns.map(cellOf);
  // Two bits at the beginning mean nothing.
  const mapLength = (columns.length + 9) >> 3;
  return function writeRow(out, buffer, start) {
    out.clear();
    const map = start + 1;
    let at = map + mapLength;
    for (let column = 0; column < cells.length; column++) {
      const bit = column + 2;
      if (((buffer[map + (bit >> 3)] ?? 0) >> (bit & 7)) & 1) out.int32(-1);
      else at = (cells[column] ?? writeText)(out, buffer, at);
    }
  };
}

function cellOf({ columnType, flags, name }: ColumnDefinition): WriteCell {
  const unsigned = (flags & unsignedFlag) !== 0;
  const size = integerSizes.get(columnType);
  switch (name) {
    case nestedColumn:
      return writeNestedText;
    case spelledColumns.integer:
      return spelledInteger(columnType, size, unsigned);
    case spelledColumns.dateTime:
      return spelledTime(columnType, '');
    case spelledColumns.instant:
      return spelledTime(columnType, '+00:00');
    default:
      return size === undefined ? writeText : wholeInteger(size, unsigned);
  }
}

function wholeInteger(size: number, unsigned: boolean): WriteCell {
  return (out, buffer, at) => {
    out.int32(8);
    out.int64(integerAt(buffer, at, size, unsigned));
    return at + size;
  };
}

function spelledInteger(columnType: number, known: number | undefined, unsigned: boolean): WriteCell {
  const year = columnType === yearType;
  const size = year ? 2 : known;
  if (size === undefined) throw new Error(`A column of type ${columnType} holds no integers.`);
  const form = { size, unsigned: unsigned || year, year };
  return (out, buffer, at) => {
    writeInteger(out, form, buffer, at);
    return at + size;
  };
}

function spelledTime(columnType: number, zone: string): WriteCell {
  if (!timeTypes.has(columnType)) throw new Error(`A column of type ${columnType} holds no dates with times.`);
  return (out, buffer, at) => writeTime(out, zone, buffer, at);
}

function writeText(out: RowBytes, buffer: Buffer, at: number): number {
  const { start, end } = textAt(buffer, at);
  out.int32(end - start);
  out.bytes(buffer, start, end);
  return end;
}

function writeNestedText(out: RowBytes, buffer: Buffer, at: number): number {
  const { start, end } = textAt(buffer, at);
  writeNested(out, buffer.subarray(start, end));
  return end;
}

function textAt(buffer: Buffer, at: number): { readonly start: number; readonly end: number } {
  const start = at + widthOf(buffer[at] ?? 0);
  return { start, end: start + lengthAt(buffer, at) };
}

/** Bits of an integer without a sign stand as those of one that has it. */
function integerAt(buffer: Buffer, at: number, size: number, unsigned: boolean): bigint {
  if (size === 8) return buffer.readBigInt64LE(at);
  return BigInt(unsigned ? buffer.readUIntLE(at, size) : buffer.readIntLE(at, size));
}
