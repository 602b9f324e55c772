/** The fields of a row or record, as they stand one after the other. */
import type { ByteWriter } from './byte-writer.ts';
import { type Literal, literalOf, literalOvershoot, putLiteral, type Source } from './bytes.ts';

/** Writes a value that is not null; as many bytes as `roomOf` adds are reserved, all else the writer reserves itself. */
export type Writer = (out: ByteWriter, source: Source, offset: number, length: number) => void;

/** One key with what stands under it. */
export interface Field {
  /** `{"key":` or `,"key":`. */
  readonly prefix: Literal;
  readonly write: Writer;
}

/** Writes an object of the columns that stand one after the other from `start` on. */
export type FieldsWriter = (out: ByteWriter, source: Source, start: number) => void;

/** Bytes in front of a column's length: none in a DataRow. */
export const inRow = 0;

/** Bytes in front of a column's length: the oid of its type in a record. */
export const inRecord = 4;

/** Most bytes a scalar other than text, JSON and bytes takes, with a comma to spare. */
const scalarRoom = 48;

const nullText = literalOf('null');

/** The room that has to be there before a prefix and a value are written. */
export function roomOf(prefix: Literal): number {
  return prefix.length + literalOvershoot + scalarRoom;
}

/** Writes `null` into reserved room. */
export function writeNull(out: ByteWriter): void {
  out.position = putLiteral(out.view, out.position, nullText);
}

/** Walks the fields; `WriterCode.fields` makes a faster form of it. `skip` bytes stand in front of every length. */
function walkFields(fields: readonly Field[], skip: number, out: ByteWriter, source: Source, start: number): void {
  const { view } = source;
  let offset = start;
  for (const { prefix, write } of fields) {
    const length = view.getInt32(offset + skip);
    offset += skip + 4;
    out.reserve(roomOf(prefix));
    out.position = putLiteral(out.view, out.position, prefix);
    if (length >= 0) {
      write(out, source, offset, length);
      offset += length;
    } else writeNull(out);
  }
  out.reserve(1);
  out.bytes[out.position++] = 125;
}

/** Walks records that come as arrays, one for each column, and leaves room for a byte after them. */
export function walkColumns(
  fields: readonly Field[],
  end: Literal,
  out: ByteWriter,
  source: Source,
  start: number,
): void {
  const { view } = source;
  const offsets: number[] = [];
  let size = 0;
  let from = start + 4;
  for (const _ of fields) {
    const length = view.getInt32(from + inRecord);
    from += inRecord + 4;
    size = length < 0 ? 0 : view.getInt32(from + 12);
    offsets.push(from + 20);
    from += Math.max(length, 0);
  }
  for (let record = 0; record < size; record++) {
    if (record > 0) out.bytes[out.position++] = 44;
    for (const [index, { prefix, write }] of fields.entries()) {
      const offset = (offsets[index] ?? 0) + 4;
      const length = view.getInt32(offset - 4);
      out.reserve(roomOf(prefix));
      out.position = putLiteral(out.view, out.position, prefix);
      if (length < 0) writeNull(out);
      else write(out, source, offset, length);
      offsets[index] = offset + Math.max(length, 0);
    }
    out.reserve(roomOf(end));
    out.position = putLiteral(out.view, out.position, end);
  }
}

/** Objects written after which generating code pays: it takes about as long as walking so many. */
export const oftenUsed = 500;

const emptyObject = Buffer.from('{}');

/** Makes the writer of fields in whose source `skip` bytes stand in front of every length. */
export function createFieldsWriter(fields: readonly Field[], skip: number): FieldsWriter {
  if (fields.length === 0) return (out) => out.append(emptyObject);
  let uses = 0;
  let write: FieldsWriter = function walkAndCount(out, source, start) {
    walkFields(fields, skip, out, source, start);
    uses += 1;
    if (uses === oftenUsed) write = code?.fields(fields, skip) ?? write;
  };
  return (out, source, start) => write(out, source, start);
}

/** Writes the cell that starts at `offset` into reserved room, and returns where it ends. */
export type CellWriter = (out: ByteWriter, source: Source, offset: number) => number;

/** A field of a row of cells. Its writer is told where its text is, or finds out by itself where it ends. */
export type Cell = Pick<Field, 'prefix'> &
  ({ readonly kind: 'sized'; readonly write: Writer } | { readonly kind: 'cell'; readonly write: CellWriter });

/** Length of a text, and the number of bytes that state it. A first byte below `wide` is the length. */
export interface Lengths {
  readonly wide: number;
  lengthAt(bytes: Buffer, offset: number): number;
  widthAt(bytes: Buffer, offset: number): number;
}

/** Makes writers as code. Each is null where the process forbids code from strings. */
export interface WriterCode {
  fields(fields: readonly Field[], skip: number): FieldsWriter | null;
  /** The writer of rows of cells, which start with a status byte and a bit for each cell that is missing. */
  cells(cells: readonly Cell[], lengths: Lengths): FieldsWriter | null;
  /** The writer of records that come as arrays, one for each column, with `end` and room for a byte after them. */
  columns(fields: readonly Field[], end: Literal): FieldsWriter | null;
}

let code: WriterCode | null = null;

/** Has code made from here on, by all servers of this process. */
export function useWriterCode(used: WriterCode): void {
  code = used;
}

/** Maker of code; null where rows are walked. */
export function writerCode(): WriterCode | null {
  return code;
}
