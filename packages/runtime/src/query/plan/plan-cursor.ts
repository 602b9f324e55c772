import { allOf, anyOf, cast, sqlFalse } from '../../dialects/fragment.ts';
import type { SqlDialect } from '../../dialects/index.ts';
import { invalidQuery } from '../../errors.ts';
import type { Row } from '../../sql/row.ts';
import { type CollectionScope, keyFields } from '../../sql/scope.ts';
import type { OrderTerm } from '../authorise/sort.ts';
import type { Cursor, CursorPlan, CursorStart } from '../parse/cursor.ts';
import { chosenOrder, type PrintedTerm } from './plan-order.ts';

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
  const key = keyFields(collection.descriptor);
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
export function cursorColumns({ asText }: SqlDialect, terms: readonly PrintedTerm[]): readonly string[] {
  return terms.map(({ expression }) => cast(expression, asText));
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
 * are one comparison of rows, which an index answers as a range. Otherwise the first term leads with a range of its
 * own.
 */
export function printAfter(row: Row, terms: readonly PrintedTerm[], start: CursorStart, offset: number): string {
  if (start === 'first') return 'TRUE';
  let next = offset;
  const places = terms.map((term, index): Place => {
    const value = start[index] ?? null;
    const nullsFirst = (term.direction === '') === (row.statement.dialect.nulls === 'first');
    if (value === null || term.value === undefined) return { ...term, nullsFirst, bound: null };
    next += 1;
    const bound = row.statement.parameter({ kind: 'value', index: next - 1 }, term.value.type.native);
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

/** CASE needs brackets beside an operator. */
function bracketed(expression: string): string {
  return expression.startsWith('CASE ') ? `(${expression})` : expression;
}
