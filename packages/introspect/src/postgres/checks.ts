import { sortedBy } from '../order.ts';
import type { Check, ColumnType } from '../schema.ts';
import type { ColumnRow, ConstraintRow, DomainCheck } from './catalog.ts';
import { type AllowedValues, type ListKind, readAllowedValues } from './check-values.ts';

/** A column of a table as checks see it. */
export interface CheckedColumn {
  readonly row: ColumnRow;
  readonly type: ColumnType;
}

/** The check constraints of one table, by name. `names` leads from a column's number to its name. */
export function buildChecks(
  constraints: readonly ConstraintRow[],
  columns: readonly CheckedColumn[],
  names: ReadonlyMap<number, string>,
): Check[] {
  const checks = constraints.filter((row) => row.contype === 'c');
  return sortedBy(checks, (row) => row.conname).map((row) => ({
    name: row.conname,
    expression: row.expression ?? '',
    columns: (row.conkey ?? []).flatMap((number) => names.get(number) ?? []),
    allowed: allowedOf(row, columns),
  }));
}

/**
 * A check must be enforced, for the rows that exist and in the tables that inherit. Any other promises nothing about
 * the rows that are read.
 */
function allowedOf(row: ConstraintRow, columns: readonly CheckedColumn[]): Check['allowed'] {
  if (!row.convalidated || !row.conenforced || row.connoinherit || row.expression === null) return null;
  const found = (name: string | null): CheckedColumn | undefined =>
    columns.find((column) => column.row.attname === name);
  const allowed = readAllowedValues(row.expression, (name) => listKind(found(name)));
  const column = allowed && found(allowed.column);
  return column && fits(allowed, column.type) ? { column: column.row.attname, values: allowed.values } : null;
}

function listKind(column: CheckedColumn | undefined): ListKind | null {
  // Under a nondeterministic collation the column may hold other texts than those of the list.
  if (!column?.row.collisdeterministic) return null;
  return listKindOfType(column.type);
}

function listKindOfType(type: ColumnType): ListKind | null {
  if (type.category === 'enum') return 'text';
  if (type.category !== 'base') return null;
  if (['text', 'varchar', 'bpchar', 'name'].includes(type.base)) return 'text';
  return ['int2', 'int4', 'int8'].includes(type.base) ? 'integer' : null;
}

/** Values of `char(n)` read with blanks up to n, so only a list of full length names them. */
function fits(allowed: AllowedValues, type: ColumnType): boolean {
  return type.base !== 'bpchar' || allowed.values.every((value) => [...value].length === type.maxLength);
}

/**
 * The values that a column's checks and its domains' checks allow: those in all lists, in the order of the first.
 *
 * An enum keeps its labels. Null when there is no list.
 */
export function allowedValues(
  column: CheckedColumn,
  checks: readonly Check[],
  domainChecks: readonly DomainCheck[],
): readonly string[] | null {
  if (column.type.values !== null) return column.type.values;
  const listed = checks.flatMap(({ allowed }) => (allowed?.column === column.row.attname ? [allowed.values] : []));
  const lists = [...listed, ...domainChecks.flatMap((check) => domainValues(check, column))];
  return lists.length === 0 ? null : lists.reduce((left, right) => left.filter((value) => right.includes(value)));
}

function domainValues(check: DomainCheck, column: CheckedColumn): (readonly string[])[] {
  if (!check.convalidated) return [];
  const allowed = readAllowedValues(check.expression, (name) => (name === null ? listKind(column) : null));
  return allowed && fits(allowed, column.type) ? [allowed.values] : [];
}
