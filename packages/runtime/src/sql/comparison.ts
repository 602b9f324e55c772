import type { Operand, Operator } from '../contract/index.ts';
import { cast } from './cell.ts';
import { type OperandType, printOperand } from './operand.ts';
import type { StatementBuilder } from './statement.ts';

const comparisons: Readonly<Partial<Record<Operator, string>>> = {
  _eq: '=',
  _neq: '<>',
  _lt: '<',
  _lte: '<=',
  _gt: '>',
  _gte: '>=',
};

const matches: Readonly<Partial<Record<Operator, string>>> = {
  _contains: 'LIKE',
  _ncontains: 'NOT LIKE',
  _icontains: 'ILIKE',
  _starts_with: 'LIKE',
  _nstarts_with: 'NOT LIKE',
  _istarts_with: 'ILIKE',
  _nistarts_with: 'NOT ILIKE',
  _ends_with: 'LIKE',
  _nends_with: 'NOT LIKE',
  _iends_with: 'ILIKE',
  _niends_with: 'NOT ILIKE',
  _regex: '~',
};

/**
 * What patterns are matched with. The database's own collation, because PostgreSQL matches none with a collation in which
 * different texts are equal, and because that of a column may know only the case of ASCII.
 */
const text = '::pg_catalog.text COLLATE pg_catalog."default"';

/**
 * Prints one comparison of an expression. Every operator is defined for null and for the empty list (security property
 * P7): negative operators do not match null, an empty `_in` matches nothing and an empty `_nin` everything.
 */
export function printComparison(
  statement: StatementBuilder,
  expression: string,
  type: OperandType,
  operator: Operator,
  operand: Operand,
): string {
  const left = operandSafe(expression);
  const unary = printUnary(left, operator);
  if (unary !== undefined) return unary;
  const [first = 'NULL', second = 'NULL'] = printOperand(statement, type, operator, operand);
  const match = matches[operator];
  if (match !== undefined) return `${cast(left, text)} ${match} ${first}`;
  if (operator === '_between') return `${left} BETWEEN ${first} AND ${second}`;
  if (operator === '_nbetween') return `${left} NOT BETWEEN ${first} AND ${second}`;
  const list = operand.kind === 'literal';
  if (operator === '_in') return list ? `${left} = ANY (${first})` : `${left} = ${first}`;
  if (operator === '_nin') return list ? `${left} <> ALL (${first})` : `${left} <> ${first}`;
  return `${left} ${comparisons[operator] ?? '='} ${first}`;
}

function printUnary(left: string, operator: Operator): string | undefined {
  if (operator === '_null') return `${left} IS NULL`;
  if (operator === '_nnull') return `${left} IS NOT NULL`;
  if (operator === '_empty') return `(${left} IS NULL OR ${left} = '')`;
  return operator === '_nempty' ? `${left} <> ''` : undefined;
}

/** CASE needs brackets on the left of an operator. */
function operandSafe(expression: string): string {
  return expression.startsWith('CASE ') ? `(${expression})` : expression;
}
