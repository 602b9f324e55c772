/**
 * Long JSON documents. Levels near the top have lines of their own, so that a difference shows the change. Deeper
 * levels stand on one line, which the engine prints several times as fast, and in half as many bytes.
 */
import type { JsonValue } from '@tablewright/runtime/language';
import { type Chunk, type ChunkList, createChunks, joinChunks } from './chunks.ts';
import { isText, type KeptText, keptTextOf, textOf } from './only-text.ts';

/**
 * How a document is laid out: in how many levels every member and every item has a line of its own. Below them only schemas
 * with `properties` stand open, so that each of these is a line, and again those in them.
 */
export interface Layout {
  readonly levels: number;
}

/**
 * Prints a document in pieces, with a line end. A part known by its text only (`onlyText`) is one string in all of
 * them.
 */
export function printDocument(value: JsonValue, { levels }: Layout): readonly Chunk[] {
  const chunks = createChunks();
  print(value, 0, levels, chunks);
  chunks.add('\n');
  return chunks.all();
}

/** The text of a part of a document as it stands there, with that indentation: two columns for each level above it. */
export function textAt(value: JsonValue, indent: number, layout: Layout): string {
  return joinChunks(chunksAt(value, indent, layout));
}

/** The same in chunks. */
export function chunksAt(value: JsonValue, indent: number, { levels }: Layout): readonly Chunk[] {
  const chunks = createChunks();
  print(value, indent, levels - indent / 2, chunks);
  return chunks.all();
}

/** The text of items of a list in a row, as they stand in the document with that indentation; empty for none. */
export function textOfItems(values: readonly JsonValue[], indent: number, { levels }: Layout): string {
  const chunks = createChunks();
  printItems(values, indent, levels - indent / 2, chunks);
  return joinChunks(chunks.all());
}

type Members = Readonly<Record<string, JsonValue>>;

/** Prints a value at an indentation, of whose levels so many stand open. */
function print(value: JsonValue, indent: number, levels: number, chunks: ChunkList): void {
  if (typeof value === 'string') chunks.add(value.length < longText ? quoted(value) : JSON.stringify(value));
  else if (typeof value !== 'object' || value === null) chunks.add(JSON.stringify(value));
  else if (isList(value)) printList(value, indent, levels, chunks);
  else {
    const kept = keptTextOf(value);
    if (kept !== undefined) chunks.add(textKept(kept, value, indent, levels));
    else if (isText(value)) chunks.add(textOf(value, indent));
    else printAt(value, indent, depthOf(value, levels), chunks);
  }
}

function textKept(kept: KeptText, value: Members, indent: number, levels: number): string {
  // A text printed on one line fits wherever no levels stand open.
  const isThere = kept.levels === 0 ? levels <= 0 : kept.levels === Math.max(levels, 1) && kept.indent === indent;
  if (isThere && kept.text !== null) return kept.text;
  const chunks = createChunks();
  const depth = depthOf(value, levels);
  printAt(value, indent, depth, chunks);
  const text = joinChunks(chunks.all());
  Object.assign(kept, { text, indent, levels: depth });
  return text;
}

/** How many levels of an object stand open. */
function depthOf(value: Members, levels: number): number {
  return levels > 0 || hasProperties(value) ? Math.max(levels, 1) : 0;
}

function printAt(value: Members, indent: number, levels: number, chunks: ChunkList): void {
  if (levels === 0) chunks.add(JSON.stringify(value));
  else printObject(value, indent, levels, chunks);
}

function printList(values: readonly JsonValue[], indent: number, levels: number, chunks: ChunkList): void {
  if (levels <= 0 || values.length === 0) {
    chunks.add(JSON.stringify(values));
    return;
  }
  chunks.add(`[\n${' '.repeat(indent + 2)}`);
  printItems(values, indent + 2, levels - 1, chunks);
  chunks.add(`\n${' '.repeat(indent)}]`);
}

function printItems(values: readonly JsonValue[], indent: number, levels: number, chunks: ChunkList): void {
  const next = `,\n${' '.repeat(indent)}`;
  for (const [index, value] of values.entries()) {
    if (index > 0) chunks.add(next);
    print(value, indent, levels, chunks);
  }
}

function printObject(value: Members, indent: number, levels: number, chunks: ChunkList): void {
  const line = `\n${' '.repeat(indent + 2)}`;
  const next = `,${line}`;
  let before = `{${line}`;
  for (const key of Object.keys(value)) {
    const item = value[key] ?? null;
    chunks.add(`${before}${quoted(key)}: `);
    print(item, indent + 2, key === 'properties' ? Math.max(levels - 1, 1) : levels - 1, chunks);
    before = next;
  }
  chunks.add(before === next ? `\n${' '.repeat(indent)}}` : '{}');
}

/** Names of members and short texts, in quotes: most of them come again and again. */
const quotes = new Map<string, string>();

/** So many are kept. */
const maxQuotes = 10_000;

/** Texts that are longer hardly ever come again: characters. */
const longText = 16;

function quoted(text: string): string {
  const cached = quotes.get(text);
  if (cached !== undefined) return cached;
  const quote = JSON.stringify(text);
  if (quotes.size >= maxQuotes) quotes.clear();
  quotes.set(text, quote);
  return quote;
}

function hasProperties({ properties }: Members): boolean {
  return typeof properties === 'object' && properties !== null && !Array.isArray(properties);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
