import { groupedBy, sortedBy } from '../order.ts';
import type { Index, Key } from '../schema.ts';
import type { StatisticsRow } from './catalog.ts';

/** The keys and indexes of one table, by name. */
export interface KeysAndIndexes {
  readonly primaryKey: Key | null;
  readonly uniques: readonly Key[];
  readonly indexes: readonly Index[];
}

/** Name that both servers give the index of a primary key. */
const primary = 'PRIMARY';

/** Builds keys and indexes from the columns of the indexes. The servers have no index on a part of the rows. */
export function buildKeys(rows: readonly StatisticsRow[]): KeysAndIndexes {
  const groups = [
    ...groupedBy(
      sortedBy(rows, (row) => row.index_name),
      (row) => row.index_name,
    ).values(),
  ].map(inOrder);
  const keys = groups.filter(isKey).map(keyOf);
  return {
    primaryKey: keys.find(({ name }) => name === primary) ?? null,
    uniques: keys.filter(({ name }) => name !== primary),
    indexes: groups.flatMap(indexOf),
  };
}

function inOrder(rows: readonly StatisticsRow[]): readonly StatisticsRow[] {
  return [...rows].sort((left, right) => left.seq_in_index - right.seq_in_index);
}

/** A unique prefix or expression does not make the column unique. */
function isKey(rows: readonly StatisticsRow[]): boolean {
  return rows.every((row) => row.non_unique === 0 && row.column_name !== null && row.sub_part === null);
}

function keyOf(rows: readonly StatisticsRow[]): Key {
  return {
    name: rows[0]?.index_name ?? '',
    columns: rows.flatMap((row) => row.column_name ?? []),
    deferrable: false,
    nullsNotDistinct: false,
  };
}

function indexOf(rows: readonly StatisticsRow[]): Index[] {
  const [first] = rows;
  if (first === undefined) return [];
  return [
    {
      name: first.index_name,
      method: first.index_type.toLowerCase(),
      columns: rows.map(indexedPart),
      include: [],
      unique: first.non_unique === 0,
      predicate: null,
    },
  ];
}

/** A column, or between parentheses an expression or the first characters of a column. */
function indexedPart({ column_name: name, sub_part: part, expression }: StatisticsRow): string {
  if (name === null) return `(${expression ?? ''})`;
  return part === null ? name : `(left(${name}, ${part}))`;
}
