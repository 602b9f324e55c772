/** Aggregate rows (API specification, section 5.5): what the model foretells of them. */
import { isObject } from './conditions.ts';
import { functionOf } from './functions.ts';
import type { Query } from './query.ts';
import { cut } from './select.ts';
import { compareCells } from './values.ts';
import type { View } from './view.ts';
import { type CellType, columnOf, type Json, type JsonObject, type Row, relationOf, type Table } from './world.ts';

/** What an aggregation is asked for. */
export type Aggregation = Pick<Query, 'aggregate' | 'groupBy' | 'having' | 'sort' | 'limit' | 'offset' | 'page'>;

interface Group {
  readonly values: readonly Json[];
  readonly rows: readonly Row[];
}

/** The aggregate rows over the rows that match. */
export function aggregateRows(
  view: View,
  table: Table,
  rows: readonly Row[],
  query: Aggregation,
): readonly JsonObject[] {
  const names = query.groupBy ?? [];
  const types = names.map((name) => columnOf(table, name)?.type ?? 'integer');
  const groups = groupRows(view, table, rows, names).filter((group) => having(view, table, group.rows, query.having));
  const compare = byTerms(view, table, names, types, query.sort ?? []);
  // The row without groups is there whatever page the request names.
  const ordered = names.length === 0 ? groups : cutGroups(groups.toSorted(compare), query);
  return ordered.map(({ values, rows: members }) => ({
    ...Object.fromEntries(names.map((name, index) => [keyOf(name), values[index] ?? null])),
    ...aggregates(view, table, members, query.aggregate ?? {}),
  }));
}

function cutGroups(groups: readonly Group[], { limit = 100, offset, page }: Aggregation): readonly Group[] {
  const places: Row[] = groups.map((_, index) => ({ index }));
  return cut(places, limit, offset, page).flatMap(({ index }) => groups[Number(index)] ?? []);
}

function keyOf(name: string): string {
  return name.replace(/^(\w+)\((.*)\)$/, '$2_$1');
}

/** Without groups there is one row, also over no rows at all. */
function groupRows(view: View, table: Table, rows: readonly Row[], names: readonly string[]): readonly Group[] {
  if (names.length === 0) return [{ values: [], rows }];
  const groups = new Map<string, { values: readonly Json[]; rows: Row[] }>();
  for (const row of rows) {
    const values = names.map((name) => cellOf(view, table, row, name));
    const key = JSON.stringify(values);
    const group = groups.get(key) ?? { values, rows: [] };
    group.rows.push(row);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function cellOf(view: View, table: Table, row: Row, name: string): Json {
  const [, call, argument] = /^(\w+)\((.*)\)$/.exec(name) ?? [];
  return call === undefined || argument === undefined
    ? view.cell(table, row, name)
    : functionOf(view, table, row, call, argument);
}

/** `-count` and group fields; the groups complete every order. */
function byTerms(
  view: View,
  table: Table,
  names: readonly string[],
  types: readonly CellType[],
  terms: readonly string[],
) {
  const counts = (group: Group): number => Number(aggregateOf(view, table, group.rows, 'count', '*'));
  return (one: Group, other: Group): number => {
    for (const term of [...terms, ...names]) {
      const name = term.replace(/^-/, '');
      const direction = term.startsWith('-') ? -1 : 1;
      const place = names.indexOf(name);
      const order =
        place < 0
          ? counts(one) - counts(other)
          : compareCells(types[place] ?? 'integer', one.values[place] ?? null, other.values[place] ?? null);
      if (order !== 0) return direction * order;
    }
    return 0;
  };
}

/** The one form of `having` that is foretold: the number of rows above a bound. */
function having(view: View, table: Table, rows: readonly Row[], condition: JsonObject | undefined): boolean {
  const count = condition?.count ?? null;
  return !isObject(count) || Number(aggregateOf(view, table, rows, 'count', '*')) > Number(count._gt);
}

function aggregates(
  view: View,
  table: Table,
  rows: readonly Row[],
  asked: { readonly [name: string]: readonly string[] },
): JsonObject {
  return Object.fromEntries(
    Object.entries(asked).map(([name, fields]): [string, Json] =>
      fields.join() === '*'
        ? [name, aggregateOf(view, table, rows, name, '*')]
        : [name, Object.fromEntries(fields.map((field) => [field, aggregateOf(view, table, rows, name, field)]))],
    ),
  );
}

function aggregateOf(view: View, table: Table, rows: readonly Row[], name: string, field: string): Json {
  if (field === '*') return rows.length;
  const type = columnOf(table, field)?.type ?? relationType(table, field);
  const present = rows.map((row) => view.cell(table, row, field)).filter((cell) => cell !== null);
  const cells = name.endsWith('Distinct') ? [...new Set(present)] : present;
  if (name.startsWith('count')) return cells.length;
  if (cells.length === 0) return null;
  if (name === 'min' || name === 'max') {
    const sorted = cells.toSorted((one, other) => compareCells(type, one, other));
    return sorted.at(name === 'min' ? 0 : -1) ?? null;
  }
  if (type === 'decimal') {
    const cents = cells.reduce<bigint>((sum, cell) => sum + BigInt(String(cell).replace('.', '')), 0n);
    return (Number(cents) / 100).toFixed(2);
  }
  const sum = cells.reduce<bigint>((total, cell) => total + BigInt(String(cell)), 0n);
  return type === 'integer' ? Number(sum) : String(sum);
}

function relationType(table: Table, field: string): CellType {
  throw new Error(`${table.name}.${field} is ${relationOf(table, field) === undefined ? 'unknown' : 'a relation'}`);
}
