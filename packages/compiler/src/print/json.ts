import type { JsonValue } from '@platform/runtime/contract';
import { createPieces, joinPieces, type Piece, type Pieces } from './pieces.ts';
import { lineWidth, widthOf } from './text.ts';

/** JSON with two spaces of indentation and a line end, laid out as the formatter would. Keys keep their order. */
export function printJson(value: JsonValue): string {
  return joinPieces(printJsonPieces(value));
}

/** The same text in pieces: what is known only by its text (`onlyText`) and long is one string in all documents. */
export function printJsonPieces(value: JsonValue): readonly Piece[] {
  const pieces = createPieces();
  print(value, 0, 0, pieces);
  pieces.add('\n');
  return pieces.all();
}

type Members = Readonly<Record<string, JsonValue>>;

/** Stands for an object of which only the text at one indentation is known. It can be printed there, and nothing else. */
export function onlyText(text: Piece, indent: number): Members {
  const value = new Proxy({}, opaque);
  texts.set(value, { text, indent });
  return value;
}

const texts = new WeakMap<object, { readonly text: Piece; readonly indent: number }>();

/** Whether nothing but the text of an object is known. */
export function isText(value: object): boolean {
  return texts.has(value);
}

/** The text of such an object. */
export function textOf(value: object, indent: number): Piece {
  const known = texts.get(value);
  if (known === undefined || known.indent !== indent) return refuse();
  return known.text;
}

function refuse(): never {
  throw new Error('Of this part of a document only the text is known, and that elsewhere.');
}

const opaque: ProxyHandler<Members> = {
  get: refuse,
  has: refuse,
  ownKeys: refuse,
  getOwnPropertyDescriptor: refuse,
};

/** JSON without spaces, every object's keys sorted: equal values have equal texts. Takes plain data only. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members: Readonly<Record<string, unknown>> = { ...value };
  let text = '';
  for (const key of Object.keys(members).sort()) {
    const item = members[key];
    if (item !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(item)}`;
  }
  return `{${text}}`;
}

function print(value: JsonValue, before: number, indent: number, pieces: Pieces): void {
  if (typeof value !== 'object' || value === null) pieces.add(JSON.stringify(value));
  else if (isList(value)) printList(value, before, indent, pieces);
  else printMembers(value, indent, pieces);
}

function printMembers(value: Members, indent: number, pieces: Pieces): void {
  if (isText(value)) pieces.add(textOf(value, indent));
  else printObject(value, indent, pieces);
}

function printObject(value: Members, indent: number, pieces: Pieces): void {
  const space = ' '.repeat(indent + 2);
  let before = '{';
  for (const [key, item] of Object.entries(value)) {
    const start = `${space}${JSON.stringify(key)}: `;
    pieces.add(`${before}\n${start}`);
    print(item, widthOf(start), indent + 2, pieces);
    before = ',';
  }
  pieces.add(before === '{' ? '{}' : `\n${' '.repeat(indent)}}`);
}

function printList(values: readonly JsonValue[], before: number, indent: number, pieces: Pieces): void {
  const line = flatList(values);
  if (line !== null && (line === '[]' || before + widthOf(line) + 1 <= lineWidth)) {
    pieces.add(line);
    return;
  }
  const space = ' '.repeat(indent + 2);
  for (const [at, value] of values.entries()) {
    pieces.add(`${at === 0 ? '[' : ','}\n${space}`);
    print(value, indent + 2, indent + 2, pieces);
  }
  pieces.add(`\n${' '.repeat(indent)}]`);
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
  return typeof value === 'object' && value !== null && (isText(value) || Object.keys(value).length > 0);
}

/**
 * The text of an object as it stands in a document with that indentation, from what the engine prints by itself, which is
 * several times as fast: only its lists are too long.
 */
export function textAt(value: object, indent: number): string {
  // The engine indents what stands in other objects; what it prints of these is cut off.
  let wrapped = value;
  let before = 0;
  let after = 0;
  for (let depth = indent - 2; depth >= 0; depth -= 2) {
    wrapped = { x: wrapped };
    before += '{\n"x": '.length + depth + 2;
    after += '\n}'.length + depth;
  }
  const text = JSON.stringify(wrapped, null, 2);
  return foldLists(indent === 0 ? text : text.slice(before, text.length - after));
}

/** Lists without objects that fit their line. No text in JSON holds a line end, so the end of a line is never in one. */
function foldLists(text: string): string {
  const parts: string[] = [];
  let taken = 0;
  let nested = false;
  for (let at = text.indexOf('[\n'); at >= 0; at = text.indexOf('[\n', at + 1)) {
    elements.lastIndex = at;
    const list = elements.exec(text)?.[0];
    if (list === undefined) continue;
    const line = `[${list.slice(1, -1).trim().replaceAll(/,\n +/g, ', ')}]`;
    const before = text.slice(text.lastIndexOf('\n', at) + 1, at);
    if (widthOf(before) + widthOf(line) + 1 > lineWidth) continue;
    parts.push(text.slice(taken, at), line);
    taken = at + list.length;
    // Where a list holds it, that one may fit now, too.
    nested ||= before.trim() === '';
  }
  if (taken === 0) return text;
  parts.push(text.slice(taken));
  const folded = parts.join('');
  return nested ? foldLists(folded) : folded;
}

/** A list of several lines, each of which is a text, a number, a word, or something that is folded or empty. */
const elements = /\[(?:\n +(?:"(?:[^"\\]|\\.)*"|[^\s"[\]{}]+|\[[^\n]*\]|\{\}),?)+\n *\]/y;

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
