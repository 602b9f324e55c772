import type { JsonValue } from '@tablewright/runtime/language';
import { createPieces, joinPieces, type Pieces } from './pieces.ts';
import { lineWidth, widthOf } from './text.ts';

/** JSON with two spaces of indentation and a line end, laid out as the formatter would. Keys keep their order. */
export function printJson(value: JsonValue): string {
  const pieces = createPieces();
  print(value, 0, 0, pieces);
  pieces.add('\n');
  return joinPieces(pieces.all());
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

function print(value: JsonValue, before: number, indent: number, pieces: Pieces): void {
  if (typeof value !== 'object' || value === null) pieces.add(JSON.stringify(value));
  else if (isList(value)) printList(value, before, indent, pieces);
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
  for (const [index, value] of values.entries()) {
    pieces.add(`${index === 0 ? '[' : ','}\n${space}`);
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
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
