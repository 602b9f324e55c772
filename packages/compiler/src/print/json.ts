import type { JsonValue } from '@platform/runtime/contract';
import { lineWidth, widthOf } from './text.ts';

/** JSON with two spaces of indentation and a line end, laid out as the formatter would. Keys keep their order. */
export function printJson(value: JsonValue): string {
  return `${print(value, 0, 0)}\n`;
}

/**
 * Marks an object that stands in several documents, or in a later one again: its text is kept as long as it is, by the
 * indentation that it stands at. It must not change any more.
 */
export function keepText<Kept extends object>(value: Kept): Kept {
  if (!texts.has(value)) texts.set(value, new Map());
  return value;
}

const texts = new WeakMap<object, Map<number, string>>();

/** JSON without spaces, every object's keys sorted: equal values have equal texts. Takes plain data only. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
}

function print(value: JsonValue, before: number, indent: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return printList(value, before, indent);
  const kept = texts.get(value);
  if (kept === undefined) return printObject(value, indent);
  const known = kept.get(indent) ?? printWhole(value, indent);
  kept.set(indent, known);
  return known;
}

function printObject(value: Readonly<Record<string, JsonValue>>, indent: number): string {
  const lines = Object.entries(value).map(([key, item]) => {
    const start = `${' '.repeat(indent + 2)}${JSON.stringify(key)}: `;
    return start + print(item, widthOf(start), indent + 2);
  });
  return block('{', lines, '}', indent);
}

function printList(values: readonly JsonValue[], before: number, indent: number): string {
  const line = flatList(values);
  if (line !== null && before + widthOf(line) + 1 <= lineWidth) return line;
  const space = ' '.repeat(indent + 2);
  return block(
    '[',
    values.map((value) => space + print(value, indent + 2, indent + 2)),
    ']',
    indent,
  );
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

function block(open: string, lines: readonly string[], close: string, indent: number): string {
  return lines.length === 0 ? open + close : `${open}\n${lines.join(',\n')}\n${' '.repeat(indent)}${close}`;
}

/** The same layout from what the engine prints by itself, which is several times as fast: only its lists are too long. */
function printWhole(value: JsonValue, indent: number): string {
  // `replaceAll` takes six times as long.
  return foldLists(
    JSON.stringify(value, null, 2)
      .split('\n')
      .join(`\n${' '.repeat(indent)}`),
  );
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
  const folded = parts.join('') + text.slice(taken);
  return nested ? foldLists(folded) : folded;
}

/** A list of several lines, each of which is a text, a number, a word, or something that is folded or empty. */
const elements = /\[(?:\n +(?:"(?:[^"\\]|\\.)*"|[^\s"[\]{}]+|\[[^\n]*\]|\{\}),?)+\n *\]/y;

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
