/**
 * Rows of the binary protocol, turned into the form in which PostgreSQL sends them without a value in between.
 *
 * Source: https://mariadb.com/kb/en/resultset-row/ (binary row), https://dev.mysql.com/doc/dev/mysql-server (the same).
 */
import { sourceOf } from '../../../json/bytes.ts';
import { type CellForm, type ColumnDefinition, cellFormOf, lengthAt, widthOf } from './columns.ts';
import { writeNested } from './nested.ts';
import type { RowBytes } from './row-bytes.ts';
import { type IntegerForm, maxRaw, putDigitsOf, putMoment } from './spelled.ts';

/** Writes the row that starts at `offset`, the status byte first, in the place of the one before. */
export type RowWriter = (out: RowBytes, buffer: Buffer, offset: number) => void;

/** Writes the cell that starts at `offset`; returns where the next one does. */
type WriteCell = (out: RowBytes, buffer: Buffer, offset: number) => number;

/** Makes the function that writes each row of some columns. */
export function createRowWriter(columns: readonly ColumnDefinition[]): RowWriter {
  const cells = columns.map((column) => writerOf(cellFormOf(column)));
  // Two bits at the beginning mean nothing.
  const mapLength = (columns.length + 9) >> 3;
  return function writeRow(out, buffer, start) {
    out.clear();
    const map = start + 1;
    let offset = map + mapLength;
    for (let column = 0; column < cells.length; column++) {
      const bit = column + 2;
      if (((buffer[map + (bit >> 3)] ?? 0) >> (bit & 7)) & 1) out.int32(-1);
      else offset = (cells[column] ?? writeText)(out, buffer, offset);
    }
  };
}

function writerOf(cell: CellForm): WriteCell {
  switch (cell.kind) {
    case 'text':
      return writeText;
    case 'nested':
      return writeNestedText;
    case 'whole':
      return wholeInteger(cell.size, cell.unsigned);
    case 'integer':
      return formatInteger(cell.form);
    case 'time':
      return formatTime(cell.zone);
  }
}

function wholeInteger(size: number, unsigned: boolean): WriteCell {
  return (out, buffer, offset) => {
    out.int32(8);
    out.int64(integerAt(buffer, offset, size, unsigned));
    return offset + size;
  };
}

function formatInteger(form: IntegerForm): WriteCell {
  return (out, buffer, offset) => {
    const length = out.int32(0);
    out.ensure(maxRaw);
    out.length = putDigitsOf(out.buffer, out.length, form, sourceOf(buffer), offset);
    out.patch(length, out.length - length - 4);
    return offset + form.size;
  };
}

function formatTime(zone: string): WriteCell {
  return (out, buffer, offset) => {
    const length = out.int32(0);
    out.ensure(maxRaw);
    out.length = putMoment(out.buffer, out.view, out.length, sourceOf(buffer), offset);
    out.characters(zone);
    out.patch(length, out.length - length - 4);
    return offset + 1 + (buffer[offset] ?? 0);
  };
}

function writeText(out: RowBytes, buffer: Buffer, offset: number): number {
  const { start, end } = textAt(buffer, offset);
  out.int32(end - start);
  out.bytes(buffer, start, end);
  return end;
}

function writeNestedText(out: RowBytes, buffer: Buffer, offset: number): number {
  const { start, end } = textAt(buffer, offset);
  writeNested(out, buffer.subarray(start, end));
  return end;
}

function textAt(buffer: Buffer, offset: number): { readonly start: number; readonly end: number } {
  const start = offset + widthOf(buffer[offset] ?? 0);
  return { start, end: start + lengthAt(buffer, offset) };
}

/** Bits of an integer without a sign stand as those of one that has it. */
function integerAt(buffer: Buffer, offset: number, size: number, unsigned: boolean): bigint {
  if (size === 8) return buffer.readBigInt64LE(offset);
  return BigInt(unsigned ? buffer.readUIntLE(offset, size) : buffer.readIntLE(offset, size));
}
