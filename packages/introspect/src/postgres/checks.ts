import { sortedBy } from '../order.ts';
import type { Check, ColumnType } from '../schema.ts';
import type { ColumnRow, ConstraintRow, DomainCheck } from './catalog.ts';
import { type CheckNode, parseCheck } from './check-parser.ts';

export interface CheckedColumn {
  readonly row: ColumnRow;
  readonly type: ColumnType;
}

/** The enforced checks and the exclusion constraints of one table, by name. `names` leads from a column's number to its name. */
export function buildChecks(
  constraints: readonly ConstraintRow[],
  columns: readonly CheckedColumn[],
  names: ReadonlyMap<number, string>,
): Check[] {
  const checks = constraints.filter((row) => (row.contype === 'c' && row.conenforced) || row.contype === 'x');
  return sortedBy(checks, (row) => row.conname).map((row) => ({
    name: row.conname,
    expression: row.expression ?? '',
    columns: (row.conkey ?? []).flatMap((number) => names.get(number) ?? []),
    allowed: allowedOf(row, columns),
  }));
}

/** A check must hold for existing rows and inheriting tables, too; any other promises nothing about values. */
function allowedOf(row: ConstraintRow, columns: readonly CheckedColumn[]): Check['allowed'] {
  if (row.contype === 'x' || !row.convalidated || row.connoinherit || row.expression === null) return null;
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

/** Values that all lists of a column's and its domains' checks allow, in the first order. Null without a list. */
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

/** Comparison of a column's values as texts: by their characters, or as whole numbers. Null for all other types. */
export type ListKind = 'text' | 'integer';

/** The column (null: a domain's VALUE) and the values, in the order of the list. */
interface AllowedValues {
  readonly column: string | null;
  readonly values: readonly string[];
}

/** Casts of a column that keep the value, and equality with it, as it is. */
const plainCasts: Readonly<Record<ListKind, ReadonlySet<string>>> = {
  text: new Set(['text', 'character varying']),
  integer: new Set(['smallint', 'integer', 'bigint', 'numeric']),
};

/**
 * Reads a check expression, as `pg_get_expr` prints it. `kindOf` tells how a column compares.
 *
 * Null when the expression says anything else than that one column is one of a list of values (or null).
 *
 * Reads the list of values out of a check: `(status = ANY (ARRAY['draft'::text, 'published'::text]))`. PostgreSQL
 * prints checks in one normal form; a check without the shape of a list gives null. A list is only taken where the
 * values are exactly the texts the column can then hold: no numeric scales, no case folding.
 */
export function readAllowedValues(
  expression: string,
  kindOf: (column: string | null) => ListKind | null,
): AllowedValues | null {
  const node = parseCheck(expression);
  if (!node) return null;
  const [list, ...others] = [...allowedBy(node, kindOf)].filter(([, values]) => values.length > 0);
  return list && others.length === 0 ? { column: list[0], values: [...new Set(list[1])] } : null;
}

/** Values beside null that an expression allows, by the column; none of a column that must be null. */
type Allowed = ReadonlyMap<string | null, readonly string[]>;

function allowedBy(node: CheckNode, kindOf: (column: string | null) => ListKind | null): Allowed {
  switch (node.kind) {
    case 'or':
      return node.of.map((part) => allowedBy(part, kindOf)).reduce(either);
    case 'and':
      return node.of.map((part) => allowedBy(part, kindOf)).reduce(both);
    case 'isNull':
      return new Map(node.of.kind === 'column' ? [[node.of.name, []]] : []);
    case 'equals':
      return listOf(node.left, node.right.kind === 'array' ? node.right.items : [node.right], kindOf);
    default:
      return new Map();
  }
}

/** A column that one of two alternatives says nothing about may hold anything. */
function either(left: Allowed, right: Allowed): Allowed {
  const common = [...left].filter(([column]) => right.has(column));
  return new Map(common.map(([column, values]) => [column, [...values, ...(right.get(column) ?? [])]]));
}

/** Every part of a conjunction holds, so a part that is no list only narrows what the others allow. */
function both(left: Allowed, right: Allowed): Allowed {
  const narrowed = new Map(right);
  for (const [column, values] of left) {
    const others = right.get(column);
    narrowed.set(column, others ? values.filter((value) => others.includes(value)) : values);
  }
  return narrowed;
}

function listOf(
  left: CheckNode,
  items: readonly CheckNode[],
  kindOf: (column: string | null) => ListKind | null,
): Allowed {
  const { node: target, casts } = withoutCasts(left);
  if (target.kind !== 'column') return new Map();
  const kind = kindOf(target.name);
  if (kind === null || !casts.every((cast) => plainCasts[kind].has(cast))) return new Map();
  const values = items.map((item) => literalOf(item, kind));
  return new Map(values.every((value) => value !== null) ? [[target.name, values]] : []);
}

/** The value of a literal; null for anything else, also for NULL: `x IN (…, NULL)` never fails. */
function literalOf(item: CheckNode, kind: ListKind): string | null {
  const { node, casts } = withoutCasts(item);
  if (node.kind !== 'literal' || !casts.every((cast) => keepsLiteral(cast, kind))) return null;
  if (kind === 'integer') return /^-?\d{1,18}$/.test(node.value) ? String(BigInt(node.value)) : null;
  return node.value;
}

/**
 * True when the literal's text is the value after the cast. Types of a schema are enums and domains; a modifier may cut
 * the value: `'abc'::character varying(2)`.
 */
function keepsLiteral(cast: string, kind: ListKind): boolean {
  if (plainCasts[kind].has(cast)) return true;
  return kind === 'text' && (cast === 'bpchar' || (cast.includes('.') && !cast.includes('(')));
}

function withoutCasts(node: CheckNode): { readonly node: CheckNode; readonly casts: readonly string[] } {
  const casts: string[] = [];
  let inner = node;
  while (inner.kind === 'cast') {
    casts.push(inner.type);
    inner = inner.of;
  }
  return { node: inner, casts };
}
