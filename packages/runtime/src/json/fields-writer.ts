/** Chooses how fields are written: walked at first, by generated code once they are used often. */
import type { ByteWriter } from './byte-writer.ts';
import type { Literal, Source } from './bytes.ts';
import { type Field, type FieldsWriter, type Writer, walkFields } from './fields.ts';

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

/** How a text tells its length: that itself, and how many bytes it takes. A first byte below `wide` is the length. */
export interface Lengths {
  readonly wide: number;
  lengthAt(bytes: Buffer, offset: number): number;
  widthAt(bytes: Buffer, offset: number): number;
}

/** Makes writers as code. Each is null where the process forbids code from strings. */
export interface WriterCode {
  /** The writer of some fields. */
  fields(fields: readonly Field[], skip: number): FieldsWriter | null;
  /** The writer of rows of cells, which start with a status byte and a bit for each cell that is missing. */
  cells(cells: readonly Cell[], lengths: Lengths): FieldsWriter | null;
  /**
   * The writer of records that come as arrays, one for each column, with `end` after the last field of each. It leaves
   * room for one byte after them.
   */
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
