import type { Condition, JsonValue, Operand, Operator } from '@tablewright/runtime/language';
import { decodeValue, literalValue } from '@tablewright/runtime/language';
import type { ColumnFacts } from './column-facts.ts';
import { compareValues } from './order-of-values.ts';

/** A comparison, as a condition states it. */
export type Comparison = Extract<Condition, { kind: 'compare' }>;

/** One comparison of a column with its values in text form; null when they depend on the request. */
export interface Constraint {
  readonly operator: Operator;
  readonly operand: Operand;
  readonly values: readonly string[] | null;
}

const listed: ReadonlySet<Operator> = new Set(['_in', '_nin', '_between', '_nbetween']);

/** Reads a comparison. Values that do not fit the type are reported elsewhere and say nothing here. */
export function readConstraint(facts: ColumnFacts, { operator, operand }: Comparison): Constraint {
  if (operand.kind !== 'literal') return { operator, operand, values: null };
  // Elsewhere an array is one value: that of an array, or of a csv field.
  const value = literalValue(operand);
  const written: readonly JsonValue[] = listed.has(operator) && Array.isArray(value) ? value : [value];
  const values = written.flatMap((value) => {
    const decoded = decodeValue(facts.type, value);
    return decoded.ok && decoded.value !== null ? [decoded.value] : [];
  });
  return { operator, operand, values: values.length === written.length ? values : null };
}

/** True if a comparison holds on null: it asks for null, or excludes nothing. */
export function holdsOnNull({ operator, operand }: Pick<Constraint, 'operator' | 'operand'>): boolean {
  if (operator === '_null' || operator === '_empty') return true;
  const nothing = operand.kind === 'literal' && Array.isArray(operand.value) && operand.value.length === 0;
  return operator !== '_in' && nothing;
}

/** True if a value meets a constraint; undefined where only the database can tell. */
export function meets(facts: ColumnFacts, value: string, { operator, values }: Constraint): boolean | undefined {
  switch (operator) {
    case '_null':
      return false;
    case '_nnull':
      return true;
    case '_empty':
      return facts.exact ? value === '' : undefined;
    case '_nempty':
      return facts.exact ? value !== '' : undefined;
  }
  if (values === null) return undefined;
  const [first = '', second = ''] = values;
  const order = (other: string) => compareValues(facts, value, other);
  const is = (sign: number | undefined, wanted: (sign: number) => boolean) =>
    sign === undefined ? undefined : wanted(sign);
  switch (operator) {
    case '_eq':
    case '_in':
      return some(values.map((other) => is(order(other), (sign) => sign === 0)));
    case '_neq':
    case '_nin':
      return not(some(values.map((other) => is(order(other), (sign) => sign === 0))));
    case '_lt':
      return is(order(first), (sign) => sign < 0);
    case '_lte':
      return is(order(first), (sign) => sign <= 0);
    case '_gt':
      return is(order(first), (sign) => sign > 0);
    case '_gte':
      return is(order(first), (sign) => sign >= 0);
    case '_between':
      return every([is(order(first), (sign) => sign >= 0), is(order(second), (sign) => sign <= 0)]);
    case '_nbetween':
      return some([is(order(first), (sign) => sign < 0), is(order(second), (sign) => sign > 0)]);
    default:
      return facts.exact ? matches(operator, value, first) : undefined;
  }
}

/** Matches that ignore case depend on the language of the database. */
function matches(operator: Operator, value: string, part: string): boolean | undefined {
  switch (operator) {
    case '_contains':
      return value.includes(part);
    case '_ncontains':
      return !value.includes(part);
    case '_starts_with':
      return value.startsWith(part);
    case '_nstarts_with':
      return !value.startsWith(part);
    case '_ends_with':
      return value.endsWith(part);
    case '_nends_with':
      return !value.endsWith(part);
    default:
      return undefined;
  }
}

type Truth = boolean | undefined;

function some(parts: readonly Truth[]): Truth {
  if (parts.includes(true)) return true;
  return parts.includes(undefined) ? undefined : false;
}

function every(parts: readonly Truth[]): Truth {
  return not(some(parts.map(not)));
}

function not(part: Truth): Truth {
  return part === undefined ? undefined : !part;
}

const unary: ReadonlySet<Operator> = new Set(['_null', '_nnull', '_empty', '_nempty']);

/** A constraint as people write it: `_between [5,3]`, `_eq $CURRENT_USER`. */
export function constraintText({ operator, operand }: Pick<Constraint, 'operator' | 'operand'>): string {
  if (unary.has(operator)) return operator;
  if (operand.kind === 'literal') return `${operator} ${JSON.stringify(literalValue(operand))}`;
  if (operand.kind === 'now') return `${operator} $NOW${operand.offset === 'P0D' ? '' : '(…)'}`;
  return `${operator} ${[operand.of === 'user' ? '$CURRENT_USER' : '$CURRENT_ROLE', ...operand.path].join('.')}`;
}
