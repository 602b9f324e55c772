/** Orders of rows (API specification, sections 5.1 and 7.1): requested ones, and those that relations have. */
import { functionOf } from './functions.ts';
import { compareCells, ordered } from './values.ts';
import type { View } from './view.ts';
import {
  type CellType,
  columnOf,
  isJoined,
  type Json,
  type Relation,
  type Row,
  relationOf,
  type Table,
} from './world.ts';

type Compare = (one: Row, other: Row) => number;

/** Orders rows as requested, else as their table does by default; the key completes every order. */
export function sortRows(view: View, table: Table, rows: readonly Row[], terms: readonly string[]): readonly Row[] {
  const compares = terms.length > 0 ? terms.map((term) => byTerm(view, table, term)) : byField(view, table, table.sort);
  return sorted(rows, [...compares, ...byKey(table)]);
}

/** Orders the rows of a relation: by its sort field, else as their table does; the key completes it. */
export function orderRows(
  view: View,
  target: Table,
  rows: readonly Row[],
  relation: Relation,
  owner: Row,
): readonly Row[] {
  const chosen = relation.kind === 'o2m' || relation.kind === 'm2a' ? byField(view, target, relation.sort) : [];
  const own = chosen.length > 0 ? chosen : byField(view, target, target.sort);
  const first = relation.kind === 'm2m' ? byJunction(view, relation, owner) : [];
  return sorted(rows, [...first, ...own, ...byKey(target)]);
}

function sorted(rows: readonly Row[], compares: readonly Compare[]): readonly Row[] {
  return rows.toSorted((one, other) => {
    for (const compare of compares) {
      const order = compare(one, other);
      if (order !== 0) return order;
    }
    return 0;
  });
}

/** The key orders by what it is, also where the role cannot read it: a tie is all it breaks. */
function byKey(table: Table): readonly Compare[] {
  return table.key.map((name): Compare => {
    const type = typeOf(table, name);
    return (one, other) => compareCells(type, one[name] ?? null, other[name] ?? null);
  });
}

/** A sort field that the role cannot name, or that has no order, is passed over. */
function byField(view: View, table: Table, name: string | undefined): readonly Compare[] {
  if (name === undefined || !view.names(table, name) || !ordered.has(typeOf(table, name))) return [];
  return [byTerm(view, table, name)];
}

function byTerm(view: View, table: Table, term: string): Compare {
  const path = term.replace(/^-/, '').split('.');
  const direction = term.startsWith('-') ? -1 : 1;
  const type = termType(view, table, path);
  return (one, other) =>
    direction * compareCells(type, termValue(view, table, one, path), termValue(view, table, other, path));
}

function termType(view: View, table: Table, [name = '', ...rest]: readonly string[]): CellType {
  const relation = relationOf(table, name);
  return rest.length > 0 && relation !== undefined
    ? termType(view, view.tables(relation.target), rest)
    : typeOf(table, name);
}

/** The value of a path through relations to one item; null where a row on the way is missing or hidden. */
function termValue(view: View, table: Table, row: Row, [name = '', ...rest]: readonly string[]): Json {
  if (rest.length === 0) {
    const [, call, argument] = /^(\w+)\((.*)\)$/.exec(name) ?? [];
    return call === undefined || argument === undefined
      ? view.cell(table, row, name)
      : functionOf(view, table, row, call, argument);
  }
  const relation = relationOf(table, name);
  const [next] = relation === undefined ? [] : (view.related(table, row, relation) ?? []);
  return relation === undefined || next === undefined
    ? null
    : termValue(view, view.tables(relation.target), next, rest);
}

function typeOf(table: Table, name: string): CellType {
  return columnOf(table, name)?.type ?? 'integer';
}

/** The sort field of a junction: as the role sees it when it can read the junction, else as it is. */
function byJunction(view: View, relation: Extract<Relation, { kind: 'm2m' }>, owner: Row): readonly Compare[] {
  const { sort, near, far } = relation;
  const junction = view.tables(relation.junction);
  const readable = view.reads(junction.name);
  if (sort === undefined || (readable && !view.names(junction, sort))) return [];
  const links = view.junctionRows(junction).filter((link) => isJoined(near, owner, link));
  const value = (row: Row): Json => {
    const link = links.find((candidate) => isJoined(far, candidate, row));
    if (link === undefined) return null;
    return readable ? view.cell(junction, link, sort) : (link[sort] ?? null);
  };
  return [(one, other) => compareCells(typeOf(junction, sort), value(one), value(other))];
}
