import { cast } from '../dialects/fragment.ts';
import type { SqlDialect } from '../dialects/index.ts';
import { type CallerOperand, isNumber, isTextual, type Operand, type Operator } from '../language/index.ts';
import { definitions, matching } from '../language/operators/index.ts';
import { printPath } from './caller-path.ts';
import { callerParameter, type OperandType, printOperand } from './operand.ts';
import type { Printing } from './row.ts';

const comparisons: Readonly<Partial<Record<Operator, string>>> = {
  _eq: '=',
  _neq: '<>',
  _lt: '<',
  _lte: '<=',
  _gt: '>',
  _gte: '>=',
};

/**
 * Prints one comparison of an expression. Every operator is defined for null and for the empty list (security property
 * P7). Negative operators do not match null, an empty `_in` matches nothing and an empty `_nin` everything.
 */
export function printComparison(
  printing: Printing,
  expression: string,
  type: OperandType,
  operator: Operator,
  operand: Operand,
): string {
  const left = bracketed(expression);
  const unary = printUnary(left, operator);
  if (unary !== undefined) return unary;
  if (operand.kind === 'caller') return printCallerComparison(printing, left, type, operator, operand);
  const [first = 'NULL', second = 'NULL'] = printOperand(printing.statement, type, operator, operand);
  const { dialect } = printing.statement;
  if (matching.has(operator)) return dialect.matches(operator, left, first);
  if (operator === '_between') return `${left} BETWEEN ${first} AND ${second}`;
  if (operator === '_nbetween') return `${left} NOT BETWEEN ${first} AND ${second}`;
  const list = operand.kind === 'literal';
  const value = cast(first, type.collated);
  if (operator === '_in') return list ? dialect.among(left, first, type, false) : `${left} = ${value}`;
  if (operator === '_nin') return list ? dialect.among(left, first, type, true) : `${left} <> ${value}`;
  return `${left} ${comparisons[operator] ?? '='} ${value}`;
}

/** A value of the caller that is missing is null, so that the comparison is. */
function printCallerComparison(
  { statement, scope }: Printing,
  left: string,
  type: OperandType,
  operator: Operator,
  operand: CallerOperand,
): string {
  const { dialect } = statement;
  if (operand.path.length === 0)
    return compareOne(dialect, left, operator, cast(callerParameter(statement, operand.of, type), type.collated));
  const value = printPath({ statement, scope }, operand, (pathType) => comparesAsText(type, pathType));
  if (value === undefined) return dialect.nothing('pg_catalog.bool');
  const fits = !value.text || plainTexts.has(type.native);
  const compared = fits ? left : cast(left, dialect.asText);
  if (!value.many) return compareOne(dialect, compared, operator, value.expression);
  return dialect.amongPath(compared, value.expression, operator === '_nin');
}

function compareOne(dialect: SqlDialect, left: string, operator: Operator, value: string): string {
  if (matching.has(operator)) return dialect.matches(operator, left, patternOf(dialect, operator, value));
  if (operator === '_in') return `${left} = ${value}`;
  return operator === '_nin' ? `${left} <> ${value}` : `${left} ${comparisons[operator] ?? '='} ${value}`;
}

/** Turns a value of the database into the pattern to match. */
function patternOf(dialect: SqlDialect, operator: Operator, value: string): string {
  const [before = '', after = ''] = (definitions[operator].pattern?.('*') ?? '*').split('*');
  return dialect.patternOf(before, value, after);
}

/** Natives that compare with `text` as they are. */
const plainTexts: ReadonlySet<string> = new Set(['text', 'bpchar']);

/** True if values of two types compare as texts, a cast that cannot fail. Numbers, and one type, compare as such. */
function comparesAsText(type: OperandType, other: OperandType): boolean {
  if (isNumber(type.type)) return false;
  return isTextual(type.type) || type.native !== other.native;
}

function printUnary(left: string, operator: Operator): string | undefined {
  if (operator === '_null') return `${left} IS NULL`;
  if (operator === '_nnull') return `${left} IS NOT NULL`;
  if (operator === '_empty') return `(${left} IS NULL OR ${left} = '')`;
  return operator === '_nempty' ? `${left} <> ''` : undefined;
}

/** CASE needs brackets on the left of an operator. */
export function bracketed(expression: string): string {
  return expression.startsWith('CASE ') ? `(${expression})` : expression;
}
