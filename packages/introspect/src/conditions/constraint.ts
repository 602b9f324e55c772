import {
  type Condition,
  decodeValue,
  definitions,
  flags,
  type JsonValue,
  listed,
  literalValue,
  type Operand,
  type Operator,
  type Truth,
  types,
} from '@tablewright/runtime/language';
import type { ColumnFacts } from './column-facts.ts';

export type Comparison = Extract<Condition, { kind: 'compare' }>;

/** One comparison of a column with its values in text form; null when they depend on the request. */
export interface Constraint {
  readonly operator: Operator;
  readonly operand: Operand;
  readonly values: readonly string[] | null;
}

/** Reads a comparison. Values that do not fit the type are reported elsewhere and say nothing here. */
export function readConstraint(facts: ColumnFacts, { operator, operand }: Comparison): Constraint {
  if (operand.kind !== 'literal')
    return { operator, operand, values: holdsNoKey(facts, operator, operand) ? [] : null };
  // Elsewhere an array is one value: that of an array, or of a csv field.
  const value = literalValue(operand);
  const written: readonly JsonValue[] = listed.has(operator) && Array.isArray(value) ? value : [value];
  const values = written.flatMap((value) => {
    const decoded = decodeValue(facts.type, value);
    return decoded.ok && decoded.value !== null ? [decoded.value] : [];
  });
  return { operator, operand, values: values.length === written.length ? values : null };
}

/** True where a column cannot equal the key of a user or a role, which is a uuid. */
function holdsNoKey({ type }: ColumnFacts, operator: Operator, operand: Operand): boolean {
  const { family = 'uuid' } = types[type.type];
  const isKey = operand.kind === 'caller' && operand.path.length === 0;
  return isKey && (operator === '_eq' || operator === '_in') && family !== 'uuid' && family !== 'text';
}

/** True if a comparison holds on null: it asks for null, or excludes nothing. */
export function holdsOnNull({ operator, operand }: Pick<Constraint, 'operator' | 'operand'>): boolean {
  if (definitions[operator].holdsOnNull === true) return true;
  const nothing = operand.kind === 'literal' && Array.isArray(operand.value) && operand.value.length === 0;
  return operator !== '_in' && nothing;
}

/** True if a value meets a constraint; undefined where only the database can tell. */
export function meets(facts: ColumnFacts, value: string, { operator, values }: Constraint): Truth {
  const { meets: evaluate, needsExact } = definitions[operator];
  if (evaluate === undefined || (needsExact === true && !facts.exact)) return undefined;
  if (values === null && !flags.has(operator)) return undefined;
  return evaluate(value, values ?? [], (operand) => compareValues(facts, value, operand));
}

/** A constraint as people write it: `_between [5,3]`, `_eq $CURRENT_USER`. */
export function constraintText({ operator, operand }: Pick<Constraint, 'operator' | 'operand'>): string {
  if (flags.has(operator)) return operator;
  if (operand.kind === 'literal') return `${operator} ${JSON.stringify(literalValue(operand))}`;
  if (operand.kind === 'now') return `${operator} $NOW${operand.offset === 'P0D' ? '' : '(…)'}`;
  return `${operator} ${[operand.of === 'user' ? '$CURRENT_USER' : '$CURRENT_ROLE', ...operand.path].join('.')}`;
}

/** Compares two values in text form, as the database: negative, 0, positive; undefined where only it knows. */
export function compareValues({ type, exact }: ColumnFacts, left: string, right: string): number | undefined {
  if (left === right) return 0;
  const { order } = types[type.type];
  if (order !== undefined) return order(left, right);
  if (!exact) return undefined;
  return left < right ? -1 : 1;
}
