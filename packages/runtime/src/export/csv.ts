import type { Shape, ShapeField } from '../json/shape.ts';
import type { FileFormat } from './format.ts';
import { compactJson, isNull, plainText, type RawJson } from './raw-json.ts';

/** One column: the names that lead to it, and whether it holds JSON text. */
interface Column {
  readonly path: readonly string[];
  readonly json: boolean;
}

/**
 * CSV (RFC 4180): a header row, lines that end in CR LF, quotes where they are needed.
 *
 * Nested objects become dotted columns; lists and JSON values are written as JSON text. Null is an empty cell, the empty
 * text a quoted one.
 */
export function createCsv(fields: readonly ShapeField[]): FileFormat {
  const columns = flatten(fields, []);
  return {
    start: line(columns.map(({ path }) => quoted(path.join('.')))),
    row: (item) => line(columns.map(({ path, json }) => cellOf(valueAt(item, path), json))),
    end: () => '',
  };
}

function flatten(fields: readonly ShapeField[], above: readonly string[]): readonly Column[] {
  return fields.flatMap(({ key, shape }): readonly Column[] => {
    const path = [...above, key];
    if (shape.kind === 'record' && shape.fields.length > 0) return flatten(shape.fields, path);
    return [{ path, json: !isPlain(shape) }];
  });
}

function isPlain(shape: Shape): boolean {
  return shape.kind === 'scalar' && shape.wire !== 'json' && shape.wire !== 'jsonb' && shape.wire !== 'csv';
}

function line(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

/** The value at the end of a path; undefined where an object on the way is null. */
function valueAt(item: RawJson, path: readonly string[]): RawJson | undefined {
  let value: RawJson | undefined = item;
  for (const name of path) {
    value = value?.kind === 'object' ? value.members.find(([member]) => member === name)?.[1] : undefined;
  }
  return value;
}

function cellOf(value: RawJson | undefined, json: boolean): string {
  if (value === undefined || isNull(value)) return '';
  if (json || value.kind !== 'scalar') return quoted(compactJson(value));
  return value.text === '""' ? '""' : quoted(plainText(value.text));
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
