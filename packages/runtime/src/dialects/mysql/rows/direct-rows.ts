/**
 * Rows of the binary protocol, turned into JSON without PostgreSQL's form in between. They are the items of a list or
 * one item, whose cells are texts, integers and times. All else goes by `raw-rows.ts`, and both give the same bytes.
 */
import type { ByteWriter } from '../../../json/byte-writer.ts';
import { type Literal, putWord, type Source, sourceOf, wordOf } from '../../../json/bytes.ts';
import { type Cell, type Lengths, writerCode } from '../../../json/fields-writer.ts';
import { putInteger } from '../../../json/numbers.ts';
import type { Shape, ShapeField } from '../../../json/shape.ts';
import { layFieldsOut, scalars, type Transcoder, withEnd } from '../../../json/transcode.ts';
import { type CellForm, type ColumnDefinition, cellFormOf, lengthAt, wider, widthOf } from './columns.ts';
import { type IntegerForm, putDigitsOf, putMoment } from './spelled.ts';

const quote = 34;
const lengths: Lengths = { wide: wider.two, lengthAt, widthAt: (bytes, offset) => widthOf(bytes[offset] ?? 0) };

/**
 * Makes the function that writes a row of these columns as an object; null if that is impossible, or if no code is
 * generated.
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
