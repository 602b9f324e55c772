import type { Container } from '../dialects/json.ts';
import type { Operand, Operator } from '../language/index.ts';
import { listed } from '../language/operators/index.ts';
import type { RangeElement } from '../language/values/values.ts';
import { type OperandType, printValue } from './operand.ts';
import type { StatementBuilder } from './row.ts';

/**
 * Prints `_has`, `_has_any`, `_has_all` and their negations. None of them matches null. An empty list has no element that
 * is there, and none that is missing. Without the caller's value no comparison holds, negated or not.
 */
export function printElements(
  statement: StatementBuilder,
  container: Container,
  type: OperandType,
  operator: Operator,
  operand: Operand,
): string {
  const value = printValue(statement, type, operator, operand);
  const literal = operand.kind === 'literal';
  const list = literal ? value : container.one(value);
  const there = listed.has(operator) && operator.endsWith('_any') ? container.any(list) : container.all(list);
  const predicate = operator.startsWith('_n') ? container.guarded(`NOT ${there}`) : there;
  return literal ? predicate : `(${value} IS NOT NULL AND ${predicate})`;
}

/** An array as a container; GIN indexes on the column know its operators. */
export function arrayContainer(expression: string): Container {
  return {
    one: (value) => `ARRAY[${value}]`,
    all: (list) => `(${expression} @> ${list})`,
    any: (list) => `(${expression} && ${list})`,
    guarded: (predicate) => predicate,
  };
}

/**
 * Prints the operators of ranges and multiranges. A pair is a range with its first value and without its second, as
 * their texts are written. A pair the wrong way round is the empty range.
 */
export function printSpan(
  statement: StatementBuilder,
  expression: string,
  { range }: RangeElement,
  type: OperandType,
  operator: Operator,
  operand: Operand,
): string {
  const value = printValue(statement, type, operator, operand);
  if (operator === '_has') return `(${expression} @> ${value})`;
  if (operator === '_nhas') return `(NOT ${expression} @> ${value})`;
  const [from, to] = [`(${value})[1]`, `(${value})[2]`];
  const pair = `(CASE WHEN ${from} > ${to} THEN 'empty'::${range} ELSE pg_catalog.${range}(${from}, ${to}) END)`;
  const predicate = `${expression} ${/overlaps$/.test(operator) ? '&&' : '<@'} ${pair}`;
  return operator.startsWith('_n') ? `(NOT ${predicate})` : `(${predicate})`;
}
