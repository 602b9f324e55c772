/**
 * Pieces of SQL text. Everything here is made of compiled identifiers and placeholders; no text of a request is ever
 * part of a fragment (security property P16).
 */

import { invalidQuery } from '../errors.ts';

/** The predicate that holds for every row. */
export const sqlTrue = 'TRUE';

/** The predicate that holds for no row. */
export const sqlFalse = 'FALSE';

/** Joins predicates by AND and folds constants; without predicates it is true. */
export function allOf(predicates: readonly string[]): string {
  if (predicates.includes(sqlFalse)) return sqlFalse;
  return join(
    predicates.filter((predicate) => predicate !== sqlTrue),
    'AND',
    sqlTrue,
  );
}

/** Joins predicates by OR and folds constants; without predicates it is false. */
export function anyOf(predicates: readonly string[]): string {
  if (predicates.includes(sqlTrue)) return sqlTrue;
  return join(
    predicates.filter((predicate) => predicate !== sqlFalse),
    'OR',
    sqlFalse,
  );
}

function join(predicates: readonly string[], by: 'AND' | 'OR', none: string): string {
  const distinct = [...new Set(predicates)];
  if (distinct.length === 0) return none;
  return distinct.length === 1 ? distinct.join() : `(${distinct.join(` ${by} `)})`;
}

/** Columns of a select list, or fields of a record, that every dialect can have. */
export const maxColumns = 1_664;

/** Joins what is selected. Throws INVALID_QUERY for more than `maxColumns`. */
export function selectList(expressions: readonly string[]): string {
  checkWidth(expressions.length);
  return expressions.join(', ');
}

/** Throws INVALID_QUERY for more columns than `maxColumns`. */
export function checkWidth(columns: number): void {
  if (columns > maxColumns) throw invalidQuery(`"fields" selects more than ${maxColumns} values of one item.`);
}

/** The WHERE clause of a predicate with a leading space; nothing when every row passes. */
export function where(predicate: string): string {
  return predicate === sqlTrue ? '' : ` WHERE ${predicate}`;
}

/** Brings the number of the transaction along, by which an unknown end is found out. */
export const transactionNumber = 'pg_catalog.pg_current_xact_id()::pg_catalog.text';
