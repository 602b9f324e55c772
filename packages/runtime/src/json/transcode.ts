/**
 * Rows go from protocol bytes to JSON bytes without a string or an object in between.
 *
 * A shape is resolved once into a tree of writers. Those of rows and records walk their fields, and are replaced by
 * generated code when they are used often (`docs/decisions/speed-of-reads.md`).
 */
import type { WireKind } from '../language/index.ts';
import type { ByteWriter } from './byte-writer.ts';
import { type Literal, literalOf, putLiteral, type Source, sourceOf } from './bytes.ts';
import { writeDate, writeTime, writeTimestamp, writeTimestamptz } from './dates.ts';
import {
  createFieldsWriter,
  type Field,
  type FieldsWriter,
  inRecord,
  inRow,
  roomOf,
  type Writer,
  walkColumns,
  writeNull,
  writerCode,
} from './fields.ts';
import { writeInt2, writeInt4, writeInt8 } from './numbers.ts';
import type { Shape, ShapeField } from './shape.ts';
import { writeBase64, writeList, writeNumber, writeRaw, writeText, writeUuid } from './texts.ts';

/** Appends one JSON object made of the columns that stand at `offset` (length, then bytes, per column). */
export type Transcoder = (buffer: Buffer, offset: number, out: ByteWriter) => void;

const trueText = literalOf('true');
const falseText = literalOf('false');
const mask = literalOf('"**********"');
const nothing = literalOf('');

export const scalars: Readonly<Record<WireKind, Writer>> = {
  bool(out, { bytes }, offset) {
    out.position = putLiteral(out.view, out.position, bytes[offset] === 0 ? falseText : trueText);
  },
  i2: writeInt2,
  i4: writeInt4,
  i8: writeInt8,
  number: writeNumber,
  text: writeText,
  json: writeRaw,
  jsonb(out, source, offset, length) {
    // The first byte is the version of the format.
    writeRaw(out, source, offset + 1, length - 1);
  },
  date: writeDate,
  time: writeTime,
  timestamp: writeTimestamp,
  timestamptz: writeTimestamptz,
  uuid: writeUuid,
  bytes: writeBase64,
  csv: writeList,
  masked(out) {
    out.position = putLiteral(out.view, out.position, mask);
  },
};

/**
 * Builds the function that writes rows of this shape.
 *
 * Keys may be any text. Null values read `null`. A to-many is an empty array when there are no rows, and null only
 * where the caller may not read that cell.
 */
export function createTranscoder(fields: readonly ShapeField[]): Transcoder {
  const { write } = resolveFields(fields, inRow);
  return function transcode(buffer, offset, out) {
    write(out, sourceOf(buffer), offset);
  };
}

/** Fields as they are written: those with a column, with the text in front of each, and the text after the last. */
export interface FieldsLayout {
  readonly columns: readonly { readonly prefix: Literal; readonly shape: Shape }[];
  readonly end: string;
}

/** Lays fields out. Constants join the text in front of the next column. */
export function layFieldsOut(fields: readonly ShapeField[]): FieldsLayout {
  const columns: FieldsLayout['columns'][number][] = [];
  let text = '';
  for (const [index, { key, shape }] of fields.entries()) {
    text += `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`;
    if (shape.kind === 'constant') text += shape.json;
    else {
      columns.push({ prefix: literalOf(text), shape });
      text = '';
    }
  }
  return { columns, end: `${fields.length === 0 ? '{' : text}}` };
}

/** The writer of some fields, and how many of them have a column. */
function resolveFields(
  fields: readonly ShapeField[],
  skip: number,
): { readonly write: FieldsWriter; readonly columns: number } {
  const { columns, end } = layFieldsOut(fields);
  const written: readonly Field[] = columns.map(({ prefix, shape }) => ({ prefix, write: resolve(shape) }));
  if (written.length > 0) return { write: withEnd(createFieldsWriter(written, skip), end), columns: written.length };
  const whole = Buffer.from(end);
  return { write: (out) => out.append(whole), columns: 0 };
}

export function withEnd(write: FieldsWriter, text: string): FieldsWriter {
  if (text === '}') return write;
  const end = Buffer.from(text);
  return function writeWithEnd(out, source, start) {
    write(out, source, start);
    // The brace that ends the fields comes later.
    out.position -= 1;
    out.append(end);
  };
}

function resolve(shape: Shape): Writer {
  switch (shape.kind) {
    case 'scalar':
      return scalars[shape.wire];
    case 'array':
      return arrayOf(scalars[shape.element]);
    case 'record':
      return recordOf(shape.fields);
    case 'records':
      return recordsOf(shape.fields);
    case 'paths':
      return arrayOf(pathOf(shape.parts.map((wire) => scalars[wire])));
    case 'first':
      return firstOf(shape.of.map(resolve));
    case 'constant': {
      const text = Buffer.from(shape.json);
      return (out) => out.append(text);
    }
  }
}

/** The binary form of a record: the number of columns, then oid, length and bytes of each (`record_send`). */
function recordOf(fields: readonly ShapeField[]): Writer {
  const { write, columns } = resolveFields(fields, inRecord);
  return function writeRecord(out, source, offset) {
    checkColumns(source, offset, columns);
    write(out, source, offset + 4);
  };
}

function checkColumns({ view }: Source, offset: number, expected: number): void {
  const columns = view.getInt32(offset);
  if (columns !== expected) throw new Error(`A record has ${columns} columns; its shape has ${expected}.`);
}

/**
 * Writes a record of key fields as one string: the values percent-encoded and joined by commas (API specification,
 * section 4). The values go through their JSON form, so that a key reads the same here and on its own.
 */
function pathOf(parts: readonly Writer[]): Writer {
  return function writePath(out, source, offset) {
    let from = offset + 4;
    putByte(out, quote);
    for (const [index, part] of parts.entries()) {
      if (index > 0) putByte(out, comma);
      const before = out.length;
      from = writeElement(part, out, source, from + inRecord);
      encodeFrom(out, out.position - (out.length - before));
    }
    putByte(out, quote);
  };
}

/** Percent-encodes the JSON form of a value that ends a writer. Digits and identifiers stay as they are. */
function encodeFrom(out: ByteWriter, begin: number): void {
  const { bytes, position: end } = out;
  const isText = bytes[begin] === quote;
  const [first, last] = isText ? [begin + 1, end - 1] : [begin, end];
  if (isPlain(bytes, first, last)) {
    if (!isText) return;
    bytes.copyWithin(begin, first, last);
    out.position = begin + last - first;
    return;
  }
  const text = bytes.toString('utf8', begin, end);
  const encoded = encodeURIComponent(isText ? JSON.parse(text) : text);
  out.position = begin;
  out.appendText(encoded);
}

/** True if there are only letters, digits, hyphens, points and underscores, which no percent-encoding changes. */
function isPlain(bytes: Buffer, from: number, to: number): boolean {
  for (let index = from; index < to; index++) {
    const byte = bytes[index] ?? 0;
    const isLetter = (byte | 32) >= 97 && (byte | 32) <= 122;
    if (!isLetter && (byte < 45 || byte > 57 || byte === 47) && byte !== 95) return false;
  }
  return true;
}

function putByte(out: ByteWriter, byte: number): void {
  out.reserve(1);
  out.bytes[out.position++] = byte;
}

const quote = 34;
const comma = 44;

/** Writes the first column of a record that is not null. */
function firstOf(alternatives: readonly Writer[]): Writer {
  return function writeFirst(out, source, offset) {
    checkColumns(source, offset, alternatives.length);
    let from = offset + 4;
    for (const write of alternatives) {
      const length = source.view.getInt32(from + inRecord);
      from += inRecord + 4;
      if (length >= 0) {
        write(out, source, from, length);
        return;
      }
    }
    writeNull(out);
  };
}

/** The binary form of an array: dimensions, flags, oid, size and lower bound of each, then the elements (`array_send`). */
function arrayOf(element: Writer): Writer {
  return function writeArray(out, source, offset) {
    const dimensions = source.view.getInt32(offset);
    if (dimensions === 0) {
      out.bytes[out.position++] = 91;
      out.bytes[out.position++] = 93;
      return;
    }
    writeDimension(element, out, source, offset + 12, dimensions, offset + 12 + dimensions * 8);
  };
}

/** Records as an array of them, or as a record with an array for each of their columns: one dimension, or two columns. */
function recordsOf(fields: readonly ShapeField[]): Writer {
  const writeArray = arrayOf(recordOf(fields));
  let writeColumns: Writer | undefined;
  return function writeRecords(out, source, offset, length) {
    if (source.view.getInt32(offset) < 2) writeArray(out, source, offset, length);
    else {
      writeColumns ??= columnsOf(fields);
      writeColumns(out, source, offset, length);
    }
  };
}

/** Walks the arrays of all columns in step. They are equally long; all are null where there are no records. */
function columnsOf(fields: readonly ShapeField[]): Writer {
  const { columns, end } = layFieldsOut(fields);
  const parts = columns.map(({ prefix, shape }): Field => ({ prefix, write: resolve(shape) }));
  const last = literalOf(end);
  const writeRecords =
    writerCode()?.columns(parts, last) ?? ((out, source, start) => walkColumns(parts, last, out, source, start));
  return function writeColumns(out, source, offset) {
    checkColumns(source, offset, parts.length);
    out.reserve(roomOf(nothing));
    out.bytes[out.position++] = 91;
    writeRecords(out, source, offset);
    out.bytes[out.position++] = 93;
  };
}

/** Writes one dimension of an array whose elements start at `from`; returns where the elements end. */
function writeDimension(
  element: Writer,
  out: ByteWriter,
  source: Source,
  sizes: number,
  dimensions: number,
  from: number,
): number {
  const size = source.view.getInt32(sizes);
  let offset = from;
  out.reserve(roomOf(nothing));
  out.bytes[out.position++] = 91;
  for (let i = 0; i < size; i++) {
    if (i > 0) out.bytes[out.position++] = 44;
    offset =
      dimensions > 1
        ? writeDimension(element, out, source, sizes + 8, dimensions - 1, offset)
        : writeElement(element, out, source, offset);
    // For the comma or bracket and the next short element.
    out.reserve(roomOf(nothing));
  }
  out.bytes[out.position++] = 93;
  return offset;
}

function writeElement(write: Writer, out: ByteWriter, source: Source, from: number): number {
  const length = source.view.getInt32(from);
  const offset = from + 4;
  out.reserve(roomOf(nothing));
  if (length < 0) {
    writeNull(out);
    return offset;
  }
  write(out, source, offset, length);
  return offset + length;
}
