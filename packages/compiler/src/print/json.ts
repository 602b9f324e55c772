import { hash } from 'node:crypto';
import type { JsonValue } from '@tablewright/runtime/language';
import { type Chunk, type ChunkList, createChunks, joinChunks } from './chunks.ts';
import { lineWidth, widthOf } from './text.ts';

/** JSON with two spaces of indentation and a line end, laid out as the formatter would. Keys keep their order. */
export function printJson(value: JsonValue): string {
  const chunks = createChunks();
  print(value, 0, 0, chunks);
  chunks.add('\n');
  return joinChunks(chunks.all());
}

type Members = Readonly<Record<string, JsonValue>>;

/** JSON without spaces, every object's keys sorted: equal values have equal texts. Takes plain data only. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isMembers(value)) return JSON.stringify(value);
  let text = '';
  for (const key of Object.keys(value).sort()) {
    const item = value[key];
    if (item !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(item)}`;
  }
  return `{${text}}`;
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function print(value: JsonValue, before: number, indent: number, chunks: ChunkList): void {
  if (typeof value !== 'object' || value === null) chunks.add(JSON.stringify(value));
  else if (isList(value)) printList(value, before, indent, chunks);
  else printObject(value, indent, chunks);
}

function printObject(value: Members, indent: number, chunks: ChunkList): void {
  const space = ' '.repeat(indent + 2);
  let before = '{';
  for (const [key, item] of Object.entries(value)) {
    const start = `${space}${JSON.stringify(key)}: `;
    chunks.add(`${before}\n${start}`);
    print(item, widthOf(start), indent + 2, chunks);
    before = ',';
  }
  chunks.add(before === '{' ? '{}' : `\n${' '.repeat(indent)}}`);
}

function printList(values: readonly JsonValue[], before: number, indent: number, chunks: ChunkList): void {
  const line = flatList(values);
  if (line !== null && (line === '[]' || before + widthOf(line) + 1 <= lineWidth)) {
    chunks.add(line);
    return;
  }
  const space = ' '.repeat(indent + 2);
  for (const [index, value] of values.entries()) {
    chunks.add(`${index === 0 ? '[' : ','}\n${space}`);
    print(value, indent + 2, indent + 2, chunks);
  }
  chunks.add(`\n${' '.repeat(indent)}]`);
}

/** On one line, or null when it holds an object, which always stands open. */
function flatList(values: readonly JsonValue[]): string | null {
  const parts: string[] = [];
  for (const value of values) {
    const part = isList(value) ? flatList(value) : isOpen(value) ? null : JSON.stringify(value);
    if (part === null) return null;
    parts.push(part);
  }
  return `[${parts.join(', ')}]`;
}

function isOpen(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function sha256(text: string): string {
  return hash('sha256', text);
}

/** Hexadecimal digits that depend on nothing but the text: told apart by them, names stay the same for ever. */
export function shortHash(text: string, digits = 6): string {
  return sha256(text).slice(0, digits);
}

/**
 * Layout of a document: in how many levels every member and every item has a line of its own. Below them only schemas
 * with `properties` stand open, so that each of these is a line, and again those in them.
 *
 * Long JSON documents. Levels near the top have lines of their own, so that a difference shows the change. Deeper
 * levels stand on one line, which the engine prints several times as fast, and in half as many bytes.
 */
export interface Layout {
  readonly levels: number;
}

/** Prints a document in pieces, with a line end. A part known by its text only (`onlyText`) is one string. */
export function printDocument(value: JsonValue, { levels }: Layout): readonly Chunk[] {
  const chunks = createChunks();
  printLong(value, 0, levels, chunks);
  chunks.add('\n');
  return chunks.all();
}

/** The text of a part of a document as it stands there, with that indentation: two columns for each level above it. */
export function textAt(value: JsonValue, indent: number, layout: Layout): string {
  return joinChunks(chunksAt(value, indent, layout));
}

export function chunksAt(value: JsonValue, indent: number, { levels }: Layout): readonly Chunk[] {
  const chunks = createChunks();
  printLong(value, indent, levels - indent / 2, chunks);
  return chunks.all();
}

/** The text of items of a list in a row, as they stand in the document with that indentation; empty for none. */
export function textOfItems(values: readonly JsonValue[], indent: number, { levels }: Layout): string {
  const chunks = createChunks();
  printItems(values, indent, levels - indent / 2, chunks);
  return joinChunks(chunks.all());
}

/** Prints a value at an indentation, of whose levels so many stand open. */
function printLong(value: JsonValue, indent: number, levels: number, chunks: ChunkList): void {
  if (typeof value === 'string') chunks.add(value.length < longText ? quoted(value) : JSON.stringify(value));
  else if (typeof value !== 'object' || value === null) chunks.add(JSON.stringify(value));
  else if (isList(value)) printLongList(value, indent, levels, chunks);
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

/** Number of levels of an object that stand open. */
function depthOf(value: Members, levels: number): number {
  return levels > 0 || hasProperties(value) ? Math.max(levels, 1) : 0;
}

function printAt(value: Members, indent: number, levels: number, chunks: ChunkList): void {
  if (levels === 0) chunks.add(JSON.stringify(value));
  else printLongObject(value, indent, levels, chunks);
}

function printLongList(values: readonly JsonValue[], indent: number, levels: number, chunks: ChunkList): void {
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
    printLong(value, indent, levels, chunks);
  }
}

function printLongObject(value: Members, indent: number, levels: number, chunks: ChunkList): void {
  const line = `\n${' '.repeat(indent + 2)}`;
  const next = `,${line}`;
  let before = `{${line}`;
  for (const key of Object.keys(value)) {
    const item = value[key] ?? null;
    chunks.add(`${before}${quoted(key)}: `);
    printLong(item, indent + 2, key === 'properties' ? Math.max(levels - 1, 1) : levels - 1, chunks);
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

type KeptMembers = Readonly<Record<string, never>>;

/** Stands for an object of which only the text at one indentation is known. It can be printed there, and nothing else. */
export function onlyText(text: Chunk, indent: number): KeptMembers {
  const value = new Proxy({}, opaque);
  texts.set(value, { text, indent });
  return value;
}

const texts = new WeakMap<object, { readonly text: Chunk; readonly indent: number }>();

/** True if only the text of an object is known. */
export function isText(value: object): boolean {
  return texts.has(value);
}

function textOf(value: object, indent: number): Chunk {
  const cached = texts.get(value);
  if (cached === undefined || cached.indent !== indent) return refuse();
  return cached.text;
}

function refuse(): never {
  throw new Error('This part of a document has only its text, which is kept elsewhere.');
}

const opaque: ProxyHandler<KeptMembers> = {
  get: refuse,
  has: refuse,
  ownKeys: refuse,
  getOwnPropertyDescriptor: refuse,
};

/** A kept text, and its position: text on one line is the same everywhere. */
interface KeptText {
  text: string | null;
  indent: number;
  levels: number;
}

const kept = new WeakMap<object, KeptText>();

/** Keeps the text of an object that does not change any more; returns the object. */
export function keepText<Value extends object>(value: Value): Value {
  if (!kept.has(value)) kept.set(value, { text: null, indent: 0, levels: 0 });
  return value;
}

export function keptTextOf(value: object): KeptText | undefined {
  return kept.get(value);
}
