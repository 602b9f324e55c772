import type { CallerOperand, Operand, Operator, PortableType } from '../contract/index.ts';
import { printPath } from './caller-path.ts';
import { cast } from './cell.ts';
import { callerParameter, type OperandType, pattern, printOperand } from './operand.ts';
import type { Printing } from './row.ts';

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
  printing: Printing,
  expression: string,
  type: OperandType,
  operator: Operator,
  operand: Operand,
): string {
  const left = operandSafe(expression);
  const unary = printUnary(left, operator);
  if (unary !== undefined) return unary;
  if (operand.kind === 'caller') return printCallerComparison(printing, left, type, operator, operand);
  const [first = 'NULL', second = 'NULL'] = printOperand(printing.statement, type, operator, operand);
  const match = matches[operator];
  if (match !== undefined) return `${cast(left, text)} ${match} ${first}`;
  if (operator === '_between') return `${left} BETWEEN ${first} AND ${second}`;
  if (operator === '_nbetween') return `${left} NOT BETWEEN ${first} AND ${second}`;
  const list = operand.kind === 'literal';
  if (operator === '_in') return list ? `${left} = ANY (${first})` : `${left} = ${first}`;
  if (operator === '_nin') return list ? `${left} <> ALL (${first})` : `${left} <> ${first}`;
  return `${left} ${comparisons[operator] ?? '='} ${first}`;
}

/** A value of the caller that is missing is null, so that the comparison is. */
function printCallerComparison(
  { statement, scope }: Printing,
  left: string,
  type: OperandType,
  operator: Operator,
  operand: CallerOperand,
): string {
  if (operand.path.length === 0) return compareOne(left, operator, callerParameter(statement, operand.of, type));
  const value = printPath({ statement, scope }, operand, (own) => comparesAsText(type, own));
  if (value === undefined) return 'NULL::pg_catalog.bool';
  const fits = !value.text || plainTexts.has(type.native);
  const one = fits ? left : cast(left, '::pg_catalog.text');
  if (!value.many) return compareOne(one, operator, value.expression);
  return operator === '_nin' ? `${one} <> ALL (${value.expression})` : `${one} = ANY (${value.expression})`;
}

function compareOne(left: string, operator: Operator, value: string): string {
  const match = matches[operator];
  if (match !== undefined) return `${cast(left, text)} ${match} ${patternOf(operator, value)}`;
  if (operator === '_in') return `${left} = ${value}`;
  return operator === '_nin' ? `${left} <> ${value}` : `${left} ${comparisons[operator] ?? '='} ${value}`;
}

/** What a value of the database is matched as: `%`, `_` and the backslash stand for themselves. */
function patternOf(operator: Operator, value: string): string {
  const escaped = `pg_catalog.regexp_replace(${cast(value, '::pg_catalog.text')}, '([\\\\%_])', '\\\\\\1', 'g')`;
  const [before, after] = (pattern[operator]?.('*') ?? '*').split('*');
  return [before && `'${before}'`, escaped, after && `'${after}'`].filter((part) => part).join(' || ');
}

/** Natives that compare with `text` as they are. */
const plainTexts: ReadonlySet<string> = new Set(['text', 'bpchar']);
const numbers: ReadonlySet<PortableType> = new Set(['integer', 'bigInteger', 'decimal', 'float']);
const texts: ReadonlySet<PortableType> = new Set(['string', 'text', 'csv']);

/**
 * Whether values of two types are compared by their texts, a cast that cannot fail. Numbers of all types compare with
 * each other as they are, and so do values of one type.
 */
function comparesAsText(type: OperandType, other: OperandType): boolean {
  if (numbers.has(type.type)) return false;
  return texts.has(type.type) || type.native !== other.native;
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
