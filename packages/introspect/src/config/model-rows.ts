import { hash } from 'node:crypto';
import {
  type DeclaredModel,
  type DeclaredRow,
  type JsonValue,
  parseExactly,
  withNumberTexts,
} from '@tablewright/runtime/language';

/** Reads rows as `modelRowsSql` gives them; null where the tables declare and change nothing. */
export function readModelTables(rows: readonly (readonly (string | null)[])[]): DeclaredModel | null {
  if (rows.length === 0) return null;
  const digest = hash('sha256', JSON.stringify(rows), 'hex');
  return {
    collections: rowsOf(rows, 'collection'),
    fields: rowsOf(rows, 'field'),
    relations: rowsOf(rows, 'relation'),
    digest,
  };
}

function rowsOf(rows: readonly (readonly (string | null)[])[], requested: string): readonly DeclaredRow[] {
  return rows.flatMap(([kind, text]) => {
    if (kind !== requested || typeof text !== 'string') return [];
    const row = withNumberTexts(parseExactly(text));
    return isRow(row) ? [row] : [];
  });
}

function isRow(value: JsonValue): value is DeclaredRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
