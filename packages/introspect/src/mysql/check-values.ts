/** Lists of values in checks, where they mean what they say: on columns whose collation tells all texts apart. */
import type { Check } from '../schema.ts';
import type { CheckRow, ColumnRow } from './catalog.ts';

/** True if a collation distinguishes every two texts; most ignore case, accents, or blanks at the end. */
export function isExact(collation: string): boolean {
  return collation === 'binary' || /_(?:nopad|0900)_bin$/.test(collation);
}

/** `` `a` in ('x','y') `` as MariaDB prints it; MySQL names the character set and escapes the quotes. */
const listed = /^\(*`((?:[^`]|``)+)`\)* in \(((?:(?:_\w+)?\\?'(?:[^'\\]|'')*\\?'(?:,\s*)?)+)\)+$/i;

/** The column and the values of a check that is nothing but a list. */
export function allowedOf({ check_clause: clause }: CheckRow, columns: readonly ColumnRow[]): Check['allowed'] {
  const [, quoted, list] = listed.exec(clause.trim()) ?? [];
  const name = quoted?.replaceAll('``', '`');
  const column = columns.find((row) => row.column_name === name);
  if (list === undefined || column?.collation_name == null || !isExact(column.collation_name)) return null;
  const texts = [...list.matchAll(/\\?'((?:[^'\\]|'')*)\\?'/g)].map(([, text = '']) => text.replaceAll("''", "'"));
  return { column: column.column_name, values: texts };
}
