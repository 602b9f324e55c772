/** Keys as payloads write them. */
import { isObject } from '../model/conditions.ts';
import { columnOf, type Json, type Row, type Table } from '../model/world.ts';

/** The values of a key in any of its forms; undefined for what cannot be one. */
export function readKey(table: Table, value: Json): readonly Json[] | undefined {
  if (isObject(value)) {
    if (Object.keys(value).length !== table.key.length) return undefined;
    return decodeKey(
      table,
      table.key.map((name) => value[name] ?? null),
    );
  }
  const parts = table.key.length > 1 && typeof value === 'string' ? value.split(',').map(decodeURIComponent) : [value];
  return decodeKey(table, parts);
}

/** A key of its parts; undefined where one cannot be. */
export function decodeKey(table: Table, parts: readonly Json[]): readonly Json[] | undefined {
  if (parts.length !== table.key.length) return undefined;
  const decoded = parts.map((part, index): Json => {
    const type = columnOf(table, table.key[index] ?? '')?.type;
    if (type === 'integer') return /^-?\d+$/.test(String(part)) ? Number(part) : null;
    if (typeof part !== 'string') return null;
    return type === 'uuid' ? part.toLowerCase() : part;
  });
  return decoded.includes(null) ? undefined : decoded;
}

/** Cells that are no part of the key. */
export function withoutKey(table: Table, cells: Row): Row {
  return Object.fromEntries(Object.entries(cells).filter(([name]) => !table.key.includes(name)));
}
