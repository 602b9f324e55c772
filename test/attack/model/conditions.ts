/**
 * What a filter means (API specification, sections 5.2 and 5.3), read straight from the text of the specification.
 *
 * The language has no negation of a whole condition, so "unknown" and "false" never lead to different rows: a comparison
 * with null is simply not true. `_none` is the one place that turns something round, and it asks for rows.
 */
import { columnOf, type Json, type JsonObject, type Relation, type Row, relationOf, type Table } from './world.ts';

/** One comparison below a field, or below a function of one. */
export interface Comparison {
  readonly kind: 'compare';
  readonly field: string;
  readonly call: string | null;
  readonly operator: string;
  readonly value: Json;
}

/** The parts a filter consists of. */
export type Condition =
  | Comparison
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  | {
      readonly kind: 'rows';
      readonly relation: Relation;
      /** `any` stands for rows that are described without a quantifier: some of them, or none where the key is to be null. */
      readonly quantifier: 'some' | 'none' | 'any';
      readonly where: Condition;
    }
  | { readonly kind: 'item'; readonly link: LinkRelation; readonly target: string; readonly where: Condition };

/** A many-to-any. */
export type LinkRelation = Extract<Relation, { readonly kind: 'm2a' }>;

/** Where the names of a condition are looked up. `link` is set where the rows are link rows. */
export interface Place {
  readonly table: Table;
  readonly link?: LinkRelation;
}

/** Tables by name. */
export type Tables = (name: string) => Table;

/** What a filter is read with. A relation to a table that cannot be read is no more than the field that holds its key. */
export interface Reader {
  readonly tables: Tables;
  reads(table: string): boolean;
}

const all = (of: readonly Condition[]): Condition => ({ kind: 'all', of });

/** Whether a value is an object, and no list. */
export function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads what a filter says of a row. */
export function readFilter(reader: Reader, place: Place, filter: JsonObject): Condition {
  return all(Object.entries(filter).map(([name, value]) => readEntry(reader, place, name, value)));
}

function readEntry(reader: Reader, place: Place, name: string, value: Json): Condition {
  if (name === '_and' || name === '_or') {
    const of = listOf(value).map((part) => readFilter(reader, place, part));
    return { kind: name === '_and' ? 'all' : 'any', of };
  }
  const { table, link } = place;
  if (link !== undefined && name.startsWith('item:') && isObject(value)) {
    const target = name.slice('item:'.length);
    return { kind: 'item', link, target, where: readFilter(reader, { table: reader.tables(target) }, value) };
  }
  const relation = relationOf(table, name);
  if (relation !== undefined && reader.reads(relation.target)) return readRelation(reader, relation, value);
  const [, call, argument] = /^(\w+)\((.*)\)$/.exec(name) ?? [];
  if (columnOf(table, name) !== undefined || call === undefined || argument === undefined) {
    return readValues(name, null, value);
  }
  return readValues(argument, call, value);
}

function listOf(value: Json): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((part) => isObject(part)) : [];
}

/** A value, or operators, below a field. */
function readValues(field: string, call: string | null, value: Json): Condition {
  const compare = (operator: string, of: Json): Condition => ({ kind: 'compare', field, call, operator, value: of });
  if (!isObject(value)) return compare('_eq', value);
  return all(
    Object.entries(value).map(([operator, of]): Condition => {
      if (operator !== '_and' && operator !== '_or') return compare(operator, of);
      const parts = listOf(of).map((part) => readValues(field, call, part));
      return { kind: operator === '_and' ? 'all' : 'any', of: parts };
    }),
  );
}

/** Operators below a relation to one item compare its key; everything else describes the related rows. */
function readRelation(reader: Reader, relation: Relation, value: Json): Condition {
  const inside: Place = {
    table: reader.tables(relation.target),
    ...(relation.kind === 'm2a' && { link: relation }),
  };
  if (!isObject(value)) return readValues(relation.name, null, value);
  const parts: Condition[] = [];
  const described: Record<string, Json> = {};
  const rows = (quantifier: 'some' | 'none' | 'any', where: JsonObject): Condition => ({
    kind: 'rows',
    relation,
    quantifier,
    where: readFilter(reader, inside, where),
  });
  for (const [name, of] of Object.entries(value)) {
    if ((name === '_some' || name === '_none') && isObject(of))
      parts.push(rows(name === '_some' ? 'some' : 'none', of));
    else if (isKeyGroup(name, of)) {
      const members = listOf(of).map((part) => readRelation(reader, relation, part));
      parts.push({ kind: name === '_and' ? 'all' : 'any', of: members });
    } else if (isOperator(name)) parts.push(readValues(relation.name, null, { [name]: of }));
    else described[name] = of;
  }
  if (parts.length === 0 || Object.keys(described).length > 0) parts.push(rows('any', described));
  return all(parts);
}

function isOperator(name: string): boolean {
  return name.startsWith('_') && name !== '_and' && name !== '_or';
}

/** Whether a group below a relation holds operators of the key, and not only descriptions of rows. */
function isKeyGroup(name: string, value: Json): boolean {
  if (name !== '_and' && name !== '_or') return false;
  return listOf(value).some((part) =>
    Object.entries(part).some(([inner, of]) => isOperator(inner) || isKeyGroup(inner, of)),
  );
}

/** What can be seen of a row, by whoever looks. */
export interface Eyes extends Reader {
  /** Null where the cell is hidden. */
  cell(table: Table, row: Row, field: string): Json;
  /** The related rows that can be seen; null where the relation's own cell is hidden. */
  related(table: Table, row: Row, relation: Relation): readonly Row[] | null;
  /** The item of a link row, when it is of that table and can be seen; null where the link row hides where it leads. */
  item(link: LinkRelation, row: Row, target: string): Row | undefined | null;
}
