import { hash } from 'node:crypto';
import type { JsonValue } from '@tablewright/runtime/language';
import { type ChunkList, createChunks, joinChunks } from './chunks.ts';
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

/** SHA-256 of a text as UTF-8, hexadecimal. */
export function sha256(text: string): string {
  return hash('sha256', text);
}

/** Six hexadecimal digits that depend on nothing but the text: told apart by them, names stay the same for ever. */
export function shortHash(text: string): string {
  return sha256(text).slice(0, 6);
}
