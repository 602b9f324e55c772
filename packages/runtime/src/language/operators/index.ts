/** The filter operators of the query language. From `_has` on they are additions: for arrays, JSON and ranges. */
import type { Comparison } from '../types/definition.ts';
import { type PortableType, types } from '../types/index.ts';
import type { ValueType } from '../values/value-type.ts';
import { rangeElement } from '../values/values.ts';
import type { OperandForm, OperatorDefinition } from './definition.ts';
import { type ElementOperator, elements, spans } from './elements.ts';
import { equality } from './equality.ts';
import { membership } from './membership.ts';
import { between, order } from './order.ts';
import { presence } from './presence.ts';
import { type SpatialOperator, spatial } from './spatial.ts';
import { emptiness, regex, type TextOperator, text, wordSearch } from './text.ts';

/** One comparison operator. */
export type Operator =
  | keyof typeof equality
  | keyof typeof order
  | keyof typeof membership
  | keyof typeof presence
  | keyof typeof between
  | TextOperator
  | keyof typeof emptiness
  | ElementOperator
  | keyof typeof spans
  | SpatialOperator
  | keyof typeof regex
  | keyof typeof wordSearch;

/** Every operator by its name. */
export const definitions: Readonly<Record<Operator, OperatorDefinition>> = {
  ...equality,
  ...order,
  ...membership,
  ...presence,
  ...between,
  ...text,
  ...emptiness,
  ...elements,
  ...spans,
  ...spatial,
  ...regex,
  ...wordSearch,
};

/** Names of all operators. */
export const operators: readonly Operator[] = Object.keys(definitions).filter(isOperator);

export function isOperator(name: string): name is Operator {
  return Object.hasOwn(definitions, name);
}

/** True if an operator is defined for a type; `path` tells that it is a value within JSON. */
export function operatorFits(operator: Operator, type: ValueType, path = false): boolean {
  const comparison = path && operator !== '_regex' ? 'inside' : comparisonOf(type);
  return comparison !== null && definitions[operator].comparisons.includes(comparison);
}

/** The comparison of a field; null for secrets. JSON as the element of an array has no equality. */
export function comparisonOf({ type, element, range }: ValueType): Comparison | null {
  if (type === 'array' && (element === 'json' || element === 'composite')) return 'presence';
  return rangeElement(range) === undefined ? types[type].comparison : 'range';
}

/** The operators that a filter of a request has for a comparison. */
export function operatorsOf(comparison: Comparison | 'inside'): readonly Operator[] {
  return requested.filter((operator) => definitions[operator].comparisons.includes(comparison));
}

const requested = operators.filter((operator) => definitions[operator].inRulesOnly !== true);

function withForm(...forms: readonly OperandForm[]): ReadonlySet<Operator> {
  return new Set(operators.filter((operator) => forms.includes(definitions[operator].operand)));
}

/** Form of an operand beside a field of a comparison. */
export function operandForm({ operand, geometryOperand }: OperatorDefinition, comparison: string): OperandForm {
  return comparison === 'geometry' ? (geometryOperand ?? operand) : operand;
}

/** Operators whose value is a flag. */
export const flags: ReadonlySet<Operator> = withForm('flag');

/** Operators whose value is a list. */
export const listed: ReadonlySet<Operator> = withForm('list', 'pair', 'span');

/** Operators whose value is a list of exactly two. */
export const paired: ReadonlySet<Operator> = withForm('pair', 'span');

/** Operators whose pair is a range: the first value belongs to it, the second does not, and null is no end. */
export const ranged: ReadonlySet<Operator> = withForm('span');

/** Operators that match a text with a part or a pattern. */
export const matching: ReadonlySet<Operator> = withForm('text');

export const elementwise: ReadonlySet<Operator> = new Set(
  operators.filter((operator) => definitions[operator].ofElements === true),
);

export function operatorNamed(name: string | undefined): Operator {
  if (name !== undefined && isOperator(name)) return name;
  throw new Error(`no operator is named ${name}`);
}

/** A field as far as its order depends on it. */
interface ComparedField {
  readonly type: PortableType;
  readonly element?: PortableType;
  readonly comparison?: string;
}

/** True if a field has an order. Those compared as text have one; the comparison of a geometry makes no text. */
export function isOrdered(field: ComparedField): boolean {
  if (field.comparison !== undefined && field.type !== 'geometry') return true;
  const type = field.type === 'array' ? (field.element ?? 'unknown') : field.type;
  return types[type].isUnordered !== true;
}
