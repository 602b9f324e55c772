import { allOf, anyOf, cast, type OrderedTerm, sqlFalse, where } from '../../dialects/fragment.ts';
import type { SqlDialect } from '../../dialects/index.ts';
import { invalidQuery } from '../../errors.ts';
import { type CollectionDescriptor, type FieldDescriptor, systemCollection } from '../../language/index.ts';
import { isOrdered } from '../../language/operators/index.ts';
import { printCall } from '../../sql/calls.ts';
import { besideColumn, cell, comparable, guarded } from '../../sql/cell.ts';
import { bracketed } from '../../sql/comparison.ts';
import { printWords } from '../../sql/condition.ts';
import { countType, type OperandType, operandType } from '../../sql/operand.ts';
import { readable } from '../../sql/readable.ts';
import { firstOf } from '../../sql/related.ts';
import { joined, type Row, tableRow } from '../../sql/row.ts';
import { granted } from '../../sql/rules.ts';
import { type CollectionScope, type FieldScope, keyFields } from '../../sql/scope.ts';
import type { OrderKey, OrderTerm } from '../authorise/sort.ts';
import type { Cursor, CursorPlan, CursorStart } from '../parse/cursor.ts';

export interface PrintedTerm extends OrderedTerm {
  /** The quoted column when the expression is just that; then a page can select it instead of computing it twice. */
  readonly column?: string;
  /** Values of the term, where a cursor may hold them. */
  readonly value?: OrderedValue;
}

/** The values of a term: the type in which they are compared, and if one can be missing. */
type OrderedValue = ReturnType<typeof orderedValue>;

/**
 * Prints the order of a list: the requested one, else that of the collection's sort field. It is always completed by
 * the key, so that pages are stable.
 *
 * The key orders by its bare columns, as an index does, also where the caller cannot read it: a tie is all it breaks.
 * With `compared`, its values will be compared with those of a cursor, so it orders as comparisons see it.
 */
export function printOrder(row: Row, order: readonly OrderTerm[], compared = false): readonly PrintedTerm[] {
  const printed = chosenOrder(row.collection, order).map((term) => printTerm(row, term, compared));
  if (!compared && isNearest(order)) return printed;
  const key = keyFields(row.collection.descriptor).map((field) => printKeyTerm(row, field, compared));
  return withoutRepeats([...printed, ...key, ...printImpliedTerms(row, compared)]);
}

/** Fields that tell apart items that are no rows, and have no key. */
function impliedKey({ name, implied, fields }: CollectionDescriptor): readonly FieldDescriptor[] {
  if (implied === undefined) return [];
  const names = systemCollection(name)?.implied ?? [];
  return names.flatMap((part) => fields.find((field) => field.name === part) ?? []);
}

/** JSON is ordered by its text, because not every server compares it. */
function printImpliedTerms(row: Row, compared: boolean): readonly PrintedTerm[] {
  return impliedKey(row.collection.descriptor).map((field) => {
    if (field.type !== 'json') return printKeyTerm(row, field, compared);
    const expression = cast(row.column(field.column), row.statement.dialect.asText);
    return { expression, direction: '', value: { type: { type: 'text', native: 'pg_catalog.text' }, nullable: true } };
  });
}

/** True for the distance of a vector alone: indexes of vectors give that order, and on some servers no longer one. */
function isNearest([first, ...others]: readonly OrderTerm[]): boolean {
  return first?.by.kind === 'distance' && first.by.field.descriptor.type === 'vector' && others.length === 0;
}

/** The terms that were asked for, else those of the collection itself. */
export function chosenOrder(collection: CollectionScope, order: readonly OrderTerm[]): readonly OrderTerm[] {
  return order.length > 0 ? order : defaultOrder(collection, collection.descriptor.sort);
}

function printKeyTerm(row: Row, field: FieldDescriptor, compared: boolean): PrintedTerm {
  if (!compared || hasItsOrder(field)) return plainTerm(row, field, '', compared);
  return { expression: cast(row.column(field.column), field.comparison), direction: '', value: orderedValue(field) };
}

function orderedValue(field: FieldDescriptor) {
  return { type: besideType(field), nullable: field.nullable };
}

/** The type of values of a column, which stand beside the column itself where it is ordered in another character set. */
function besideType(field: FieldDescriptor): OperandType {
  const collated = besideColumn(field);
  return { ...operandType(field), ...(collated !== undefined && { collated }) };
}

/** True if a column is ordered as it is: texts of another character set are, by their collation. */
function hasItsOrder(field: FieldDescriptor): boolean {
  return field.comparison === undefined || besideColumn(field) !== undefined;
}

/** Orders rows of a relation by its sort field, else as their collection orders itself. */
export function printRelationOrder(row: Row, sort: string | undefined): readonly PrintedTerm[] {
  return printOrder(row, defaultOrder(row.collection, sort ?? row.collection.descriptor.sort));
}

/** Orders by the sort field of a relation or collection alone; nothing where the caller cannot name it. */
export function printSortField(row: Row, sort: string | undefined): readonly PrintedTerm[] {
  return defaultOrder(row.collection, sort).map((term) => printTerm(row, term));
}

/** A term that orders by the column of a field, or, to be compared, by the places that its values have in the order. */
function plainTerm(row: Row, field: FieldDescriptor, direction: '' | ' DESC', compared = false): PrintedTerm {
  const expression = compared ? row.statement.dialect.placeOf(row.column(field.column), field) : undefined;
  if (expression !== undefined) return { expression, direction, value: { ...orderedValue(field), type: placeType } };
  return { expression: row.column(field.column), direction, column: field.column, value: orderedValue(field) };
}

/** A sort field that the caller cannot read, or that has no order, is passed over. */
function defaultOrder(collection: CollectionScope, sort: string | undefined): readonly OrderTerm[] {
  const field = sort === undefined ? undefined : collection.fields.get(sort);
  if (field === undefined || field.secret || !isOrdered(field.descriptor)) return [];
  return [{ through: [], by: { kind: 'plain', field }, descending: false }];
}

function printTerm(row: Row, { through, by, descending }: OrderTerm, compared = false): PrintedTerm {
  const direction = descending ? ' DESC' : '';
  const bare = through.length === 0 && by.kind === 'plain' && isBare(by.field);
  if (bare) return plainTerm(row, by.field.descriptor, direction, compared);
  return { expression: printPath(row, through, by), direction, value: { type: keyType(by), nullable: true } };
}

function keyType(by: OrderKey): OperandType {
  if (by.kind === 'plain') return besideType(by.field.descriptor);
  if (by.kind === 'distance') return distanceType;
  if (by.kind === 'words') return { type: 'float', native: 'float4' };
  return by.kind === 'field' ? operandType(by.field.descriptor, by.function) : countType;
}

const distanceType: OperandType = { type: 'float', native: 'float8' };
const placeType: OperandType = { type: 'bigInteger', native: 'uint8' };

/** True if the order of a field is that of its column. */
function isBare({ grant, descriptor }: FieldScope): boolean {
  return grant === null && hasItsOrder(descriptor) && descriptor.type !== 'array';
}

/** A key behind m2o relations, as a scalar subquery: null where a row on the way is missing or hidden. */
function printPath(row: Row, through: OrderTerm['through'], by: OrderKey): string {
  const [relation, ...rest] = through;
  if (relation === undefined) return printKey(row, by);
  const collection = row.scope.collections.get(relation.descriptor.target);
  if (collection === undefined || relation.descriptor.kind !== 'm2o') return 'NULL';
  const alias = row.statement.alias();
  const target = tableRow(row.statement, row.scope, collection, alias);
  const joins = joined(relation.descriptor.on, row.column, alias);
  const value = printPath(target, rest, by);
  const rows = where(allOf([...joins, readable(target)]));
  return guarded(
    granted(row, relation.grant),
    `(SELECT ${value} FROM ${collection.descriptor.table} ${alias}${rows}${firstOf(target)})`,
  );
}

function printKey(row: Row, by: OrderKey): string {
  if (by.kind === 'plain') return orderable(row, by.field);
  if (by.kind === 'words') return printWords(row, by.condition).rank;
  return by.kind === 'unfit' ? 'NULL' : printCall(row, by);
}

/** A cell as orders see it. Arrays are read as what they are selected as, since their own elements may have no order. */
function orderable(row: Row, field: FieldScope): string {
  const { type, native } = field.descriptor;
  if (type === 'array') return cast(cell(row, field), `::${native}`);
  return hasItsOrder(field.descriptor) ? cell(row, field) : comparable(row, field);
}

/** A term that no index gives. Else the server reads in the order of an index that finds few matches. */
export function apart({ expression, direction, value }: PrintedTerm): PrintedTerm {
  return { expression: `(SELECT ${expression})`, direction, ...(value && { value }) };
}

/** Terms after the first on the same column change nothing. */
function withoutRepeats(terms: readonly PrintedTerm[]): readonly PrintedTerm[] {
  const seen = new Set<string>();
  return terms.filter(({ column }) => {
    if (column === undefined) return true;
    const first = !seen.has(column);
    seen.add(column);
    return first;
  });
}

/** Terms of an order that a page can continue after: each is one more level of the predicate. */
const maxTerms = 32;

/**
 * Describes the cursors of a plan. Throws INVALID_QUERY where there cannot be any.
 *
 * A cursor holds the key, so the caller must be able to read it, on every row. A key that is hidden on some rows would
 * lose the rows between. A hidden key and a missing one are answered alike.
 */
export function planCursor(
  collection: CollectionScope,
  order: readonly OrderTerm[],
  terms: readonly PrintedTerm[],
  { back, start }: Cursor,
): CursorPlan {
  const key = [...keyFields(collection.descriptor), ...impliedKey(collection.descriptor)];
  const readable = key.every(({ name }) => {
    const field = collection.fields.get(name);
    return field !== undefined && field.grant === null && !field.secret;
  });
  if (key.length === 0 || !readable) throw invalidQuery('"cursor" needs a collection whose key can be read.');
  if (terms.length > maxTerms) throw invalidQuery(`"cursor" takes a "sort" of at most ${maxTerms} terms.`);
  const names = chosenOrder(collection, order).map(nameOf);
  return {
    order: JSON.stringify([collection.descriptor.name, names, key.map(({ name }) => name)]),
    types: terms.flatMap(({ value }) => (value === undefined ? [] : [value.type])),
    ...(back && { back }),
    open: start === 'first',
  };
}

function nameOf({ through, by, descending }: OrderTerm): readonly (string | boolean)[] {
  const path = through.map(({ descriptor }) => descriptor.name);
  if (by.kind === 'plain') return [descending, ...path, by.field.descriptor.name];
  if (by.kind === 'words') throw invalidQuery('A page by cursor needs a "sort" beside "search".');
  if (by.kind === 'distance' && by.field.descriptor.type === 'vector')
    throw invalidQuery('A page by cursor needs a "sort" that is no distance of vectors.');
  if (by.kind === 'rows') return [descending, ...path, 'count', by.relation.descriptor.name];
  return by.kind === 'field' ? [descending, ...path, by.function, by.field.descriptor.name] : [descending, ...path];
}

/** The terms of a page: those of a page before a row are reversed. */
export function inDirection(terms: readonly PrintedTerm[], cursor: Cursor | undefined): readonly PrintedTerm[] {
  if (cursor?.back !== true) return terms;
  return terms.map((term) => ({ ...term, direction: term.direction === '' ? ' DESC' : '' }));
}

/** The columns that a cursor is made of: the terms' values as the database writes them, which loses nothing. */
export function cursorColumns(dialect: SqlDialect, terms: readonly PrintedTerm[]): readonly string[] {
  return terms.map(({ expression, value }) => dialect.exactText(expression, value?.type.native));
}

/** A term with what it is compared with; null: the row after which the page starts has none. */
interface Place extends PrintedTerm {
  readonly bound: string | null;
  /** True if nulls come first in this direction. */
  readonly nullsFirst: boolean;
}

/**
 * The predicate of the rows after a cursor, whose values that are not null stand from `at` on.
 *
 * Nulls are where ORDER BY has them: last in one direction, first in the other. Terms of one direction without nulls
 * are one comparison of rows, which an index answers as a range. Otherwise the first term leads with its own range.
 */
export function printAfter(row: Row, terms: readonly PrintedTerm[], start: CursorStart, offset: number): string {
  if (start === 'first') return 'TRUE';
  let next = offset;
  const places = terms.map((term, index): Place => {
    const value = start[index] ?? null;
    const nullsFirst = (term.direction === '') === (row.statement.dialect.nulls === 'first');
    if (value === null || term.value === undefined) return { ...term, nullsFirst, bound: null };
    next += 1;
    const { native, collated } = term.value.type;
    const bound = cast(row.statement.parameter({ kind: 'value', index: next - 1 }, native), collated);
    return { ...term, nullsFirst, bound };
  });
  return isUniform(places) ? printRange(places) : allOf([...leading(places), printBehind(places)]);
}

/** True if the rows after the cursor are a range: where nulls come first a comparison leaves them out by itself. */
function isUniform(places: readonly Place[]): boolean {
  const [first] = places;
  return places.every(
    ({ bound, direction, nullsFirst, value }) =>
      bound !== null && direction === first?.direction && (nullsFirst || value?.nullable === false),
  );
}

function printRange(places: readonly Place[]): string {
  const operator = places[0]?.direction === ' DESC' ? '<' : '>';
  const [left, right] = [places.map((term) => term.expression), places.map((term) => term.bound)];
  if (places.length === 1) return `${left.map(bracketed).join()} ${operator} ${right.join()}`;
  return `(${left.join(', ')}) ${operator} (${right.join(', ')})`;
}

/** Condition on the first term that the rest of the predicate implies, printed for the sake of an index on it. */
function leading([first]: readonly Place[]): readonly string[] {
  if (first === undefined || first.bound === null) return [];
  const left = bracketed(first.expression);
  const operator = first.direction === ' DESC' ? '<=' : '>=';
  return first.nullsFirst || first.value?.nullable === false ? [`${left} ${operator} ${first.bound}`] : [];
}

function printBehind([index, ...rest]: readonly Place[]): string {
  if (index === undefined) return sqlFalse;
  const { expression, bound } = index;
  const left = bracketed(expression);
  const equal = bound === null ? `${left} IS NULL` : `${left} = ${bound}`;
  return anyOf([beyond(index, left), allOf([equal, printBehind(rest)])]);
}

function beyond({ bound, direction, nullsFirst, value }: Place, left: string): string {
  if (bound === null) return nullsFirst ? `${left} IS NOT NULL` : sqlFalse;
  const compared = `${left} ${direction === ' DESC' ? '<' : '>'} ${bound}`;
  return nullsFirst || value?.nullable === false ? compared : anyOf([compared, `${left} IS NULL`]);
}
