import { allOf, cast, where } from '../../dialects/fragment.ts';
import type { FieldDescriptor } from '../../language/index.ts';
import { isOrdered } from '../../language/operators/index.ts';
import { printCall } from '../../sql/calls.ts';
import { cell, comparable, guarded } from '../../sql/cell.ts';
import { countType, type OperandType, operandType } from '../../sql/operand.ts';
import { readable } from '../../sql/readable.ts';
import { joined, type Row, tableRow } from '../../sql/row.ts';
import { granted } from '../../sql/rules.ts';
import { type CollectionScope, type FieldScope, keyFields } from '../../sql/scope.ts';
import { printWords } from '../../sql/words.ts';
import type { OrderKey, OrderTerm } from '../authorise/sort.ts';

/** One printed term of an ORDER BY: an expression, and its direction with a leading space. */
export interface PrintedTerm {
  readonly expression: string;
  readonly direction: '' | ' DESC';
  /** The quoted column when the expression is just that; then a page can select it instead of computing it twice. */
  readonly column?: string;
  /** Values of the term, where a cursor may hold them. */
  readonly value?: OrderedValue;
}

/** The values of a term: the type in which they are compared, and if one can be missing. */
interface OrderedValue {
  readonly type: OperandType;
  readonly nullable: boolean;
}

/**
 * Prints the order of a list: the requested one, else that of the collection's sort field. It is always completed by
 * the key, so that pages are stable.
 *
 * The key orders by its bare columns, as an index does, also where the caller cannot read it: a tie is all it breaks.
 * With `compared`, its values will be compared with those of a cursor, so it orders as comparisons see it.
 */
export function printOrder(row: Row, order: readonly OrderTerm[], compared = false): readonly PrintedTerm[] {
  const printed = chosenOrder(row.collection, order).map((term) => printTerm(row, term));
  if (!compared && isNearest(order)) return printed;
  const key = keyFields(row.collection.descriptor).map((field) => printKeyTerm(row, field, compared));
  return withoutRepeats([...printed, ...key]);
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
  if (!compared || field.comparison === undefined) return plainTerm(row, field, '');
  return { expression: cast(row.column(field.column), field.comparison), direction: '', value: orderedValue(field) };
}

function orderedValue(field: FieldDescriptor): OrderedValue {
  return { type: operandType(field), nullable: field.nullable };
}

/** Orders rows of a relation by its sort field, else as their collection orders itself. */
export function printRelationOrder(row: Row, sort: string | undefined): readonly PrintedTerm[] {
  return printOrder(row, defaultOrder(row.collection, sort ?? row.collection.descriptor.sort));
}

/** Orders by the sort field of a relation or collection alone; nothing where the caller cannot name it. */
export function printSortField(row: Row, sort: string | undefined): readonly PrintedTerm[] {
  return defaultOrder(row.collection, sort).map((term) => printTerm(row, term));
}

/** A term that orders by the column of a field. */
function plainTerm(row: Row, field: FieldDescriptor, direction: '' | ' DESC'): PrintedTerm {
  return { expression: row.column(field.column), direction, column: field.column, value: orderedValue(field) };
}

/** A sort field that the caller cannot read, or that has no order, is passed over. */
function defaultOrder(collection: CollectionScope, sort: string | undefined): readonly OrderTerm[] {
  const field = sort === undefined ? undefined : collection.fields.get(sort);
  if (field === undefined || field.secret || !isOrdered(field.descriptor)) return [];
  return [{ through: [], by: { kind: 'plain', field }, descending: false }];
}

function printTerm(row: Row, { through, by, descending }: OrderTerm): PrintedTerm {
  const direction = descending ? ' DESC' : '';
  const bare = through.length === 0 && by.kind === 'plain' && isBare(by.field);
  if (bare) return plainTerm(row, by.field.descriptor, direction);
  return { expression: printPath(row, through, by), direction, value: { type: keyType(by), nullable: true } };
}

function keyType(by: OrderKey): OperandType {
  if (by.kind === 'plain') return operandType(by.field.descriptor);
  if (by.kind === 'distance') return distanceType;
  if (by.kind === 'words') return { type: 'float', native: 'float4' };
  return by.kind === 'field' ? operandType(by.field.descriptor, by.function) : countType;
}

const distanceType: OperandType = { type: 'float', native: 'float8' };

/** True if the order of a field is that of its column. */
function isBare({ grant, descriptor }: FieldScope): boolean {
  return grant === null && descriptor.comparison === undefined && descriptor.type !== 'array';
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
  return guarded(granted(row, relation.grant), `(SELECT ${value} FROM ${collection.descriptor.table} ${alias}${rows})`);
}

function printKey(row: Row, by: OrderKey): string {
  if (by.kind === 'plain') return orderable(row, by.field);
  if (by.kind === 'words') return printWords(row, by.condition).rank;
  return by.kind === 'unfit' ? 'NULL' : printCall(row, by);
}

/** A cell as orders see it. Arrays are read as what they are selected as, since their own elements may have no order. */
function orderable(row: Row, field: FieldScope): string {
  const { type, native } = field.descriptor;
  return type === 'array' ? cast(cell(row, field), `::${native}`) : comparable(row, field);
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

/** The ORDER BY clause with a leading space; nothing without terms. */
export function orderBy(terms: readonly PrintedTerm[]): string {
  if (terms.length === 0) return '';
  return ` ORDER BY ${terms.map(({ expression, direction }) => expression + direction).join(', ')}`;
}
