import type { Operand, Operator } from '../language/index.ts';
import type { RangeElement } from '../language/values/elements.ts';
import { type OperandType, printValue } from './operand.ts';
import type { StatementBuilder } from './row.ts';

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
