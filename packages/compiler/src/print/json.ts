import type { JsonValue } from '@platform/runtime/contract';
import { lineWidth, widthOf } from './text.ts';

/** JSON with two spaces of indentation and a line end, laid out as the formatter would. Keys keep their order. */
export function printJson(value: JsonValue): string {
  return `${print(value, 0, 0)}\n`;
}

/** JSON without spaces, every object's keys sorted: equal values have equal texts. Takes plain data only. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
}

function print(value: JsonValue, before: number, indent: number): string {
  if (isList(value)) return printList(value, before, indent);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return '{}';
  return block(
    '{',
    entries.map(([key, item]) => printEntry(key, item, indent + 2)),
    '}',
    indent,
  );
}

function printEntry(key: string, value: JsonValue, indent: number): string {
  const start = `${JSON.stringify(key)}: `;
  return start + print(value, indent + widthOf(start), indent);
}

function printList(values: readonly JsonValue[], before: number, indent: number): string {
  const line = flatList(values);
  if (line !== null && before + widthOf(line) + 1 <= lineWidth) return line;
  return block(
    '[',
    values.map((value) => print(value, indent + 2, indent + 2)),
    ']',
    indent,
  );
}

/** On one line, or null when it holds an object, which always stands open. */
function flatList(values: readonly JsonValue[]): string | null {
  const parts = values.map((value) => {
    if (isList(value)) return flatList(value);
    const isOpen = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
    return isOpen ? null : JSON.stringify(value);
  });
  return parts.includes(null) ? null : `[${parts.join(', ')}]`;
}

function block(open: string, lines: readonly string[], close: string, indent: number): string {
  const inner = lines.map((line) => `${' '.repeat(indent + 2)}${line}`).join(',\n');
  return `${open}\n${inner}\n${' '.repeat(indent)}${close}`;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
