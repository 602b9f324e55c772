/**
 * Long JSON documents. What is near their top has lines of its own, so that a difference shows what has changed, and what
 * is deeper stands on one line, which the engine prints by itself several times as fast, and in half as many bytes.
 */
import type { JsonValue } from '@platform/runtime/contract';
import { type KeptText, keptTextOf } from './kept-text.ts';
import { isText, textOf } from './only-text.ts';
import { createPieces, joinPieces, type Piece, type Pieces } from './pieces.ts';

/**
 * How a document is laid out: in how many levels every member and every item has a line of its own. Below them only schemas
 * with `properties` stand open, so that each of these is a line, and again those in them.
 */
export interface Layout {
  readonly levels: number;
}

/** Prints a document in pieces, with a line end: what is known by its text only (`onlyText`) is one string in all of them. */
export function printDocument(value: JsonValue, { levels }: Layout): readonly Piece[] {
  const pieces = createPieces();
  print(value, 0, levels, pieces);
  pieces.add('\n');
  return pieces.all();
}

/** The text of a part of a document as it stands there, with that indentation: two columns for each level above it. */
export function textAt(value: JsonValue, indent: number, { levels }: Layout): string {
  const pieces = createPieces();
  print(value, indent, levels - indent / 2, pieces);
  return joinPieces(pieces.all());
}

/** The text of items of a list in a row, as they stand in the document with that indentation; empty for none. */
export function textOfItems(values: readonly JsonValue[], indent: number, { levels }: Layout): string {
  const pieces = createPieces();
  printItems(values, indent, levels - indent / 2, pieces);
  return joinPieces(pieces.all());
}

type Members = Readonly<Record<string, JsonValue>>;

/** Prints a value at an indentation, of whose levels so many stand open. */
function print(value: JsonValue, indent: number, levels: number, pieces: Pieces): void {
  if (typeof value !== 'object' || value === null) pieces.add(JSON.stringify(value));
  else if (isList(value)) printList(value, indent, levels, pieces);
  else if (isText(value)) pieces.add(textOf(value, indent));
  else printMembers(value, indent, levels, pieces);
}

/** An object by its members, or by the text that is kept of it. */
function printMembers(value: Members, indent: number, levels: number, pieces: Pieces): void {
  const depth = levels > 0 || hasProperties(value) ? Math.max(levels, 1) : 0;
  const kept = keptTextOf(value);
  if (kept === undefined) printAt(value, indent, depth, pieces);
  else pieces.add(textKept(kept, value, depth === 0 ? 0 : indent, depth));
}

function textKept(kept: KeptText, value: Members, indent: number, levels: number): string {
  if (kept.text !== null && kept.indent === indent && kept.levels === levels) return kept.text;
  const pieces = createPieces();
  printAt(value, indent, levels, pieces);
  const text = joinPieces(pieces.all());
  Object.assign(kept, { text, indent, levels });
  return text;
}

function printAt(value: Members, indent: number, levels: number, pieces: Pieces): void {
  if (levels === 0) pieces.add(JSON.stringify(value));
  else printObject(value, indent, levels, pieces);
}

function printList(values: readonly JsonValue[], indent: number, levels: number, pieces: Pieces): void {
  if (levels <= 0 || values.length === 0) {
    pieces.add(JSON.stringify(values));
    return;
  }
  pieces.add(`[\n${' '.repeat(indent + 2)}`);
  printItems(values, indent + 2, levels - 1, pieces);
  pieces.add(`\n${' '.repeat(indent)}]`);
}

function printItems(values: readonly JsonValue[], indent: number, levels: number, pieces: Pieces): void {
  const next = `,\n${' '.repeat(indent)}`;
  for (const [at, value] of values.entries()) {
    if (at > 0) pieces.add(next);
    print(value, indent, levels, pieces);
  }
}

function printObject(value: Members, indent: number, levels: number, pieces: Pieces): void {
  const line = `\n${' '.repeat(indent + 2)}`;
  let before = '{';
  for (const key of Object.keys(value)) {
    const item = value[key] ?? null;
    pieces.add(`${before}${line}${quoted(key)}: `);
    print(item, indent + 2, key === 'properties' ? Math.max(levels - 1, 1) : levels - 1, pieces);
    before = ',';
  }
  pieces.add(before === '{' ? '{}' : `\n${' '.repeat(indent)}}`);
}

/** Names that members had, in quotes: most of them come again and again. */
const names = new Map<string, string>();

/** So many are kept. */
const mostNames = 10_000;

function quoted(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const text = JSON.stringify(name);
  if (names.size >= mostNames) names.clear();
  names.set(name, text);
  return text;
}

function hasProperties({ properties }: Members): boolean {
  return typeof properties === 'object' && properties !== null && !Array.isArray(properties);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
