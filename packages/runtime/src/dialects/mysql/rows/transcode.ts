/** Rows of the binary protocol, turned into JSON, or into the form in which PostgreSQL sends them. */
import type { ByteWriter } from '../../../json/byte-writer.ts';
import { type Literal, putWord, type Source, sourceOf, wordOf } from '../../../json/bytes.ts';
import { type Cell, type Lengths, writerCode } from '../../../json/fields.ts';
import { putInteger } from '../../../json/numbers.ts';
import type { Shape, ShapeField } from '../../../json/shape.ts';
import { layFieldsOut, scalars, type Transcoder, withEnd } from '../../../json/transcode.ts';
import {
  type CellForm,
  type ColumnDefinition,
  cellFormOf,
  type IntegerForm,
  lengthAt,
  maxRaw,
  putDigitsOf,
  putMoment,
  wider,
  widthOf,
} from './columns.ts';
import { writeNested } from './nested.ts';
import type { RowBytes } from './row-bytes.ts';

const quote = 34;
const lengths: Lengths = { wide: wider.two, lengthAt, widthAt: (bytes, offset) => widthOf(bytes[offset] ?? 0) };

/**
 * Makes the function that writes a row of these columns as an object; null if that is impossible, or if no code is
 * generated.
 *
 * Rows of the binary protocol, turned into JSON without PostgreSQL's form in between. They are the items of a list or
 * one item, of texts, integers and times. All else goes by `createRowWriter`, and both give the same bytes.
 */
export function createDirectTranscoder(
  fields: readonly ShapeField[],
  columns: readonly ColumnDefinition[],
): Transcoder | null {
  const { columns: written, end } = layFieldsOut(fields);
  if (written.length === 0 || written.length !== columns.length) return null;
  const cells: Cell[] = [];
  for (const [index, { prefix, shape }] of written.entries()) {
    const column = columns[index];
    const cell = column && cellOf(prefix, shape, cellFormOf(column));
    if (cell === undefined) return null;
    cells.push(cell);
  }
  const generated = writerCode()?.cells(cells, lengths);
  if (generated == null) return null;
  const write = withEnd(generated, end);
  return (buffer, offset, out) => write(out, sourceOf(buffer), offset);
}

function cellOf(prefix: Literal, shape: Shape, form: CellForm): Cell | undefined {
  if (shape.kind !== 'scalar') return undefined;
  const { wire } = shape;
  if (form.kind === 'text') return { prefix, kind: 'sized', write: scalars[wire] };
  if (form.kind === 'time' && wire === 'text') return { prefix, kind: 'cell', write: timeWriter(form.zone) };
  if (form.kind !== 'integer') return undefined;
  if (wire === 'number') return { prefix, kind: 'cell', write: numberWriter(form.form) };
  return wire === 'text' ? { prefix, kind: 'cell', write: quotedWriter(form.form) } : undefined;
}

type WriteCell = (out: ByteWriter, source: Source, offset: number) => number;

function numberWriter(form: IntegerForm): WriteCell {
  if (form.size === 4 && !form.unsigned) return writeWord;
  return function writeNumber(out, source, offset) {
    out.position = putDigitsOf(out.bytes, out.position, form, source, offset);
    return offset + form.size;
  };
}

function writeWord(out: ByteWriter, { view }: Source, offset: number): number {
  out.position = putInteger(out.bytes, out.position, view.getInt32(offset, true));
  return offset + 4;
}

function quotedWriter(form: IntegerForm): WriteCell {
  return function writeQuoted(out, source, offset) {
    const target = out.bytes;
    target[out.position] = quote;
    const end = putDigitsOf(target, out.position + 1, form, source, offset);
    target[end] = quote;
    out.position = end + 1;
    return offset + form.size;
  };
}

function timeWriter(zone: '' | '+00:00'): WriteCell {
  const end = `${zone}"`;
  const [first, second] = [wordOf(end.slice(0, 4)), wordOf(end.slice(4))];
  return function writeTime(out, source, offset) {
    const { view } = out;
    out.bytes[out.position] = quote;
    const behind = putMoment(out.bytes, view, out.position + 1, source, offset);
    putWord(view, behind, first);
    putWord(view, behind + 4, second);
    out.position = behind + end.length;
    return offset + 1 + (source.bytes[offset] ?? 0);
  };
}

/** Writes the row that starts at `offset`, the status byte first, in the place of the one before. */
export type RowWriter = (out: RowBytes, buffer: Buffer, offset: number) => void;

/** Writes the cell that starts at `offset`; returns where the next one does. */
type WriteRawCell = (out: RowBytes, buffer: Buffer, offset: number) => number;

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

function writerOf(cell: CellForm): WriteRawCell {
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

function wholeInteger(size: number, unsigned: boolean): WriteRawCell {
  return (out, buffer, offset) => {
    out.int32(8);
    out.int64(integerAt(buffer, offset, size, unsigned));
    return offset + size;
  };
}

function formatInteger(form: IntegerForm): WriteRawCell {
  return (out, buffer, offset) => {
    const length = out.int32(0);
    out.ensure(maxRaw);
    out.length = putDigitsOf(out.buffer, out.length, form, sourceOf(buffer), offset);
    out.patch(length, out.length - length - 4);
    return offset + form.size;
  };
}

function formatTime(zone: string): WriteRawCell {
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
