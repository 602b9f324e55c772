/** Lists of values as one parameter: the JSON of their rows, which servers without arrays take apart. */

import type { Binder, ListedValues } from '../database/binder.ts';
import { formOf } from '../database/parameter-forms.ts';
import { readElements } from '../sql/array-text.ts';

/** The JSON of rows: one array per row, of the texts of its values. */
export function bindRows(
  { of: lists, count }: Extract<Binder, { kind: 'rows' }>,
  values: readonly (string | null)[],
): string {
  if (lists.length === 0) return JSON.stringify(Array.from({ length: Number(values[count ?? -1] ?? 0) }, () => []));
  const columns = lists.map((list) => cellsOf(list, values));
  return JSON.stringify((columns[0] ?? []).map((_, row) => columns.map((column) => column[row] ?? null)));
}

function cellsOf({ index, native }: ListedValues, values: readonly (string | null)[]): readonly (string | null)[] {
  const cells = readElements(values[index]);
  if (native === 'bool') return cells.map((cell) => cell && formOf(cell, 'boolean'));
  if (native === 'timestamp' || native === 'timestamptz') return cells.map((cell) => cell && formOf(cell, 'instant'));
  // `\x00ff`: the digits alone.
  return native === 'bytea' ? cells.map((cell) => cell?.slice(2) ?? null) : cells;
}
