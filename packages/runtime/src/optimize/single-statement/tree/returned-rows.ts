/**
 * The rows of an answer, put together from the values of the request and those that the database has filled in. They
 * have the form in which the database sends them (`record_send`, `array_send`), so that the writer of answers takes
 * them.
 */

import { ByteWriter, giveBack } from '../../../json/byte-writer.ts';
import { int32 } from '../../../json/bytes.ts';
import { findOrCreate } from '../../../language/values/once.ts';
import type { Batch } from '../../../write/decode/batch.ts';
import type { Cell, ListCell, ReturnedRead } from './returned-cells.ts';

/** The items of one group of a request. */
export interface ReturnedGroup {
  readonly batch: Batch;
  /** By the keys that its items hold: the position of each item's other one, from 1. */
  readonly places: readonly (readonly number[])[];
}

/** Result of the database: by groups and their columns, the offset at which the value of each item begins. */
export type DatabaseValues = ReturnType<typeof readDatabaseValues>;

/** Finds the elements of the arrays that stand at `offset`, so many of each group. */
export function readDatabaseValues(buffer: Buffer, offset: number, { arrays }: ReturnedRead) {
  let position = offset;
  const elements = arrays.map((count) =>
    Array.from({ length: count }, () => {
      const end = position + 4 + int32(buffer, position);
      const found = elementsOf(buffer, position + 4);
      position = end;
      return found;
    }),
  );
  return { buffer, elements };
}

/** Dimensions, flags and type, then size and lower bound of the only dimension, then the elements. */
function elementsOf(buffer: Buffer, start: number): readonly number[] {
  if (int32(buffer, start) === 0) return [];
  const size = int32(buffer, start + 12);
  const elements: number[] = [];
  let position = start + 20;
  for (let i = 0; i < size; i++) {
    elements.push(position);
    position += 4 + Math.max(int32(buffer, position), 0);
  }
  return elements;
}

/** The items of one request among those of several. */
interface ReturnedItems {
  readonly databaseValues: DatabaseValues;
  readonly groups: readonly ReturnedGroup[];
  /** By groups: how many items of other requests stand in front. */
  readonly starts: readonly number[];
}

/** Gives the rows of a request's items at the top, one after the other. The bytes are only valid during the call. */
export function writeRows(
  { at: index, cells }: ReturnedRead,
  items: ReturnedItems,
  row: (buffer: Buffer, offset: number, length: number) => void,
): void {
  const count = items.groups[index]?.batch.count ?? 0;
  const writing: Writing = { ...items, out: new ByteWriter(), below: new Map() };
  for (let node = 0; node < count; node++) {
    for (const cell of cells) putCell(writing, cell, index, node);
    const bytes = writing.out.takeBytes();
    row(bytes, 0, bytes.length);
    giveBack(bytes);
  }
}

interface Writing extends ReturnedItems {
  readonly out: ByteWriter;
  /** The items of lists, by those whose key they hold. */
  readonly below: Map<ListCell, readonly (readonly number[])[]>;
}

function putInt32(out: ByteWriter, value: number): void {
  out.reserve(4);
  out.view.setInt32(out.position, value);
  out.position += 4;
}

function putCell(writing: Writing, cell: Cell, index: number, node: number): void {
  switch (cell.kind) {
    case 'sent':
      putText(writing.out, writing.groups[index]?.batch.columns[cell.column]?.values[node] ?? null);
      break;
    case 'database':
      putDatabaseValue(writing, cell.at, index, node, cell.wrapped === true ? wrapping : 0);
      break;
    case 'empty':
      putArray(writing.out, [], () => {});
      break;
    case 'own':
      putRecord(writing, cell.cells, index, node);
      break;
    case 'held': {
      const other = writing.groups[index]?.places[cell.hold]?.[node] ?? 0;
      putRecord(writing, cell.cells, cell.group, other - 1);
      break;
    }
    case 'list':
    case 'keys':
      putList(writing, cell, node);
  }
}

/** UTF-8 takes three bytes for a unit of UTF-16 at most. */
function putText(out: ByteWriter, text: string | null): void {
  if (text === null) {
    putInt32(out, -1);
    return;
  }
  out.reserve(4 + 3 * text.length);
  const length = out.bytes.write(text, out.position + 4);
  out.view.setInt32(out.position, length);
  out.position += 4 + length;
}

/** Bytes of a record in front of its only value: its length, the number of values, and the type. */
const wrapping = 12;

function putDatabaseValue(
  { out, databaseValues: completed, starts }: Writing,
  column: number,
  index: number,
  node: number,
  skipped: number,
): void {
  const from = elementOf(completed, index, column, (starts[index] ?? 0) + node) + skipped;
  const end = from + 4 + Math.max(int32(completed.buffer, from), 0);
  out.reserve(end - from);
  for (let offset = from; offset < end; offset++) out.bytes[out.position++] = completed.buffer[offset] ?? 0;
}

function elementOf({ elements }: DatabaseValues, index: number, column: number, item: number): number {
  const offset = elements[index]?.[column]?.[item];
  if (offset === undefined) throw new Error('An item that was made is not told.');
  return offset;
}

/** Leaves room for the length of what follows, and gives where it ends. */
function startMeasured(out: ByteWriter): number {
  putInt32(out, 0);
  return out.length;
}

/** Stores the length of what was put since. */
function endMeasured(out: ByteWriter, start: number): void {
  const length = out.length - start;
  out.view.setInt32(out.position - length - 4, length);
}

function putRecord(writing: Writing, cells: readonly Cell[], index: number, node: number): void {
  const { out } = writing;
  const start = startMeasured(out);
  putInt32(out, cells.length);
  for (const cell of cells) {
    putInt32(out, noType);
    putCell(writing, cell, index, node);
  }
  endMeasured(out, start);
}

/** Placeholder for the type of a value, which is never read. */
const noType = 0;

function putList(writing: Writing, cell: ListCell, owner: number): void {
  const members = membersOf(writing, cell)[owner] ?? [];
  const shown = cell.limit === -1 ? members : members.slice(0, cell.limit);
  putArray(writing.out, shown, (node) => {
    if (cell.kind === 'list') putRecord(writing, cell.cells, cell.group, node);
    else for (const key of cell.cells) putCell(writing, key, cell.group, node);
  });
}

function putArray(out: ByteWriter, elements: readonly number[], put: (element: number) => void): void {
  const start = startMeasured(out);
  const [dimensions, flags, lowerBound] = [elements.length === 0 ? 0 : 1, 0, 1];
  for (const word of [dimensions, flags, noType]) putInt32(out, word);
  if (dimensions > 0) for (const word of [elements.length, lowerBound]) putInt32(out, word);
  for (const element of elements) put(element);
  endMeasured(out, start);
}

/** The items of a list by those whose key they hold, in the order of their own keys. */
function membersOf(writing: Writing, cell: ListCell): readonly (readonly number[])[] {
  return findOrCreate(writing.below, cell, () => {
    const members: number[][] = [];
    for (const [node, owner] of (writing.groups[cell.group]?.places[cell.hold] ?? []).entries()) {
      members[owner - 1] ??= [];
      members[owner - 1]?.push(node);
    }
    return members.map((nodes) => inOrder(nodes, (node) => keyOf(writing, cell, node)));
  });
}

function keyOf(
  { databaseValues: completed, starts }: Writing,
  { group, key }: ListCell,
  node: number,
): bigint | number {
  const from = 4 + elementOf(completed, group, key.at, (starts[group] ?? 0) + node);
  if (key.wire === 'i8') return completed.buffer.readBigInt64BE(from);
  return key.wire === 'i4' ? completed.buffer.readInt32BE(from) : completed.buffer.readInt16BE(from);
}

/** Most keys grow with the items that they are made for. */
function inOrder(nodes: readonly number[], keyOf: (node: number) => bigint | number): readonly number[] {
  const keyed = nodes.map((node) => ({ node, key: keyOf(node) }));
  const grow = keyed.every(({ key }, index) => key > (keyed[index - 1]?.key ?? Number.NEGATIVE_INFINITY));
  return grow ? nodes : keyed.toSorted((first, other) => (first.key < other.key ? -1 : 1)).map(({ node }) => node);
}
