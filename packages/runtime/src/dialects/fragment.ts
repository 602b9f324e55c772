/** Pieces of SQL, made of compiled identifiers and placeholders, never of a text of a request (property P16). */
import { invalidQuery } from '../errors.ts';
import type { FieldDescriptor } from '../language/index.ts';

/** The predicate that holds for every row. */
export const sqlTrue = 'TRUE';

/** The predicate that holds for no row. */
export const sqlFalse = 'FALSE';

/** Joins predicates by AND and folds constants; without predicates it is true. */
export function allOf(predicates: readonly string[]): string {
  return join(predicates, 'AND', sqlTrue, sqlFalse);
}

/** Joins predicates by OR and folds constants; without predicates it is false. */
export function anyOf(predicates: readonly string[]): string {
  return join(predicates, 'OR', sqlFalse, sqlTrue);
}

function join(predicates: readonly string[], by: 'AND' | 'OR', none: string, all: string): string {
  const distinct = [...new Set(predicates)].filter((predicate) => predicate !== none);
  if (distinct.includes(all)) return all;
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

export function checkWidth(columns: number): void {
  if (columns > maxColumns) throw invalidQuery(`"fields" selects more than ${maxColumns} values of one item.`);
}

/** The WHERE clause of a predicate with a leading space; nothing when every row passes. */
export function where(predicate: string): string {
  return predicate === sqlTrue ? '' : ` WHERE ${predicate}`;
}

/** One term of an ORDER BY, and its direction with a leading space. */
export interface OrderedTerm {
  readonly expression: string;
  readonly direction: '' | ' DESC';
}

/** The ORDER BY clause with a leading space; nothing without terms. */
export function orderBy(terms: readonly OrderedTerm[]): string {
  if (terms.length === 0) return '';
  return ` ORDER BY ${terms.map(({ expression, direction }) => expression + direction).join(', ')}`;
}

/** Brings the number of the transaction along, by which an unknown end is found out. */
export const transactionNumber = 'pg_catalog.pg_current_xact_id()::pg_catalog.text';

/** A value in the form in which a column stores it: cast to a type, or within an expression. */
export function castStored(
  value: string,
  { stored, native }: { readonly stored?: string; readonly native: string },
): string {
  const form = stored ?? native;
  return form.includes('{}') ? form.replaceAll('{}', () => value) : `${value}::${form}`;
}

/** Appends casts to an expression: `::numeric::text`, or `CAST({} AS CHAR)` around it. */
export function cast(expression: string, casts: string | undefined): string {
  if (casts === undefined || casts === '') return expression;
  if (casts.includes('{}')) return casts.replaceAll('{}', () => expression);
  return /^[\w.]*(?:"(?:[^"]|"")*")?$/.test(expression) ? expression + casts : `(${expression})${casts}`;
}

/** Facts of a field that decide how its values are compared as parts of a key. */
export type KeyField = Pick<FieldDescriptor, 'type' | 'native' | 'stored' | 'comparison' | 'wire'>;

/** True if values of the type hold others, each with its place. */
export function hasParts({ type }: Pick<FieldDescriptor, 'type'>): boolean {
  return type === 'array' || type === 'composite';
}

/** Type as which arrays and composite values of keys are compared whole. */
export function wholeType(field: KeyField): string {
  return castToTexts(field) === undefined ? (field.stored ?? arrayNative(field)) : 'text[]';
}

/** The cast of an array to the texts that it is read as, where only the database knows which texts are elements. */
export function castToTexts({
  type,
  native,
  wire,
}: Pick<FieldDescriptor, 'type' | 'native' | 'wire'>): string | undefined {
  return type === 'array' && native === 'text[]' ? wire.cast : undefined;
}

/** Type as which an array is compared. Numbers beyond smallint are numbers all the same. */
export function arrayNative({ native }: Pick<FieldDescriptor, 'native'>): string {
  return native === 'int2[]' ? 'int4[]' : native;
}

/** A column of a key as its values are compared. Arrays of a domain compare only as arrays of its base. */
export function keyColumn(expression: string, field: KeyField): string {
  return cast(expression, hasParts(field) ? (castToTexts(field) ?? `::${wholeType(field)}`) : field.comparison);
}
