import type { FieldDescriptor } from './collection.ts';
import { type Operator, operators } from './condition.ts';
import { rangeElement } from './elements.ts';
import type { Comparison } from './types/definition.ts';
import { isTextual, types } from './types/index.ts';
import type { ValueType } from './values.ts';

const presence: readonly Operator[] = ['_null', '_nnull'];
const equality: readonly Operator[] = ['_eq', '_neq', ...presence];
const membership: readonly Operator[] = [...equality, '_in', '_nin'];
const ordering: readonly Operator[] = [...membership, '_lt', '_lte', '_gt', '_gte', '_between', '_nbetween'];
const textual: readonly Operator[] = [
  ...membership,
  ...operators.filter((operator) => /_(?:contains|ncontains|icontains|n?i?starts_with|n?i?ends_with)$/.test(operator)),
  '_empty',
  '_nempty',
];
/** Additions: operators that look among the elements of an array, or of an array within JSON. */
const containing: readonly Operator[] = ['_has', '_nhas', '_has_any', '_nhas_any', '_has_all', '_nhas_all'];
const within: readonly Operator[] = ['_overlaps', '_noverlaps', '_within', '_nwithin'];
/** A value within JSON can be of any kind; `_empty` would not tell other kinds from nothing. */
const anything: readonly Operator[] = [
  ...new Set([...ordering, ...textual.filter((operator) => !/empty$/.test(operator)), ...containing]),
];

/** The operators of each comparison (API specification, section 5.2). */
const fits: Readonly<Record<Comparison, readonly Operator[]>> = {
  text: textual,
  list: textual,
  choice: membership,
  number: ordering,
  time: ordering,
  boolean: equality,
  json: [...presence, ...containing],
  array: [...equality, ...containing],
  range: [...presence, '_has', '_nhas', ...within],
  presence,
};

/**
 * True if an operator is defined for a type; `path` tells that it is a value within JSON. `_regex` is defined for text,
 * and only where rules may use it. JSON as the element of an array has no equality.
 */
export function operatorFits(operator: Operator, type: ValueType, path = false): boolean {
  if (operator === '_regex') return isTextual(type.type);
  if (path) return anything.includes(operator);
  const comparison = comparisonOf(type);
  return comparison !== null && fits[comparison].includes(operator);
}

/** The comparison of a field; null for secrets. JSON as the element of an array has no equality. */
export function comparisonOf({ type, element, range }: ValueType): Comparison | null {
  if (type === 'array' && element === 'json') return 'presence';
  return rangeElement(range) === undefined ? types[type].comparison : 'range';
}

/** The operators that a filter of a request has for a type; `_regex` is not among them. */
export function operatorsOf(type: ValueType): readonly Operator[] {
  return operators.filter((operator) => operator !== '_regex' && operatorFits(operator, type));
}

/** Form of an operator's operand: `true` or `false`, a list of values, or one value. */
export function operatorForm(operator: Operator): 'flag' | 'list' | 'value' {
  if (flags.has(operator)) return 'flag';
  return listed.has(operator) ? 'list' : 'value';
}

/** True if a text names an operator. */
export function isOperator(name: string): name is Operator {
  return operatorNames.has(name);
}

const operatorNames: ReadonlySet<string> = new Set(operators);

/** Operators whose value is a flag: `false` means the other one of the pair. */
export const flags: ReadonlyMap<Operator, Operator> = new Map([
  ['_null', '_nnull'],
  ['_nnull', '_null'],
  ['_empty', '_nempty'],
  ['_nempty', '_empty'],
]);

/** Operators whose value is a list. */
export const listed: ReadonlySet<Operator> = new Set([
  ...(['_in', '_nin', '_between', '_nbetween', '_has_any', '_nhas_any', '_has_all', '_nhas_all'] as const),
  ...within,
]);

/** Operators whose value is a list of exactly two. */
export const paired: ReadonlySet<Operator> = new Set(['_between', '_nbetween', ...within]);

/** Operators that look for elements. */
export const elementwise: ReadonlySet<Operator> = new Set(containing);

/** Operators whose pair is a range: the first value belongs to it, the second does not, and null is no end. */
export const ranged: ReadonlySet<Operator> = new Set(within);

/** True if a field has an order. The database has none for some types, but those compared as text have one. */
export function isOrdered(field: Pick<FieldDescriptor, 'type' | 'element' | 'comparison'>): boolean {
  if (field.comparison !== undefined) return true;
  const type = field.type === 'array' ? (field.element ?? 'unknown') : field.type;
  return types[type].isUnordered !== true;
}

/** A function call in a name: `year(released)`. */
export interface FunctionCall {
  readonly function: string;
  readonly argument: string;
}

/** Splits `year(released)`; undefined when the name has no such form. */
export function parseCall(name: string): FunctionCall | undefined {
  if (!name.endsWith(')')) return undefined;
  const match = /^([A-Za-z_]\w*)\((.*)\)$/s.exec(name);
  return match === null ? undefined : { function: match[1] ?? '', argument: match[2] ?? '' };
}
