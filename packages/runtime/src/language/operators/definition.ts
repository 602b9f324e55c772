/**
 * Declares a filter operator: all that the platform knows about it, regardless of the database. Each dialect adds the SQL
 * of operators that match text.
 *
 * Source: API specification, section 5.2.
 */
import type { Comparison } from '../types/definition.ts';

/** Type as which a value within JSON is compared. */
export type JsonKind = 'text' | 'number' | 'boolean';

/** Answer of an evaluation in memory; undefined where only the database can tell. */
export type Truth = boolean | undefined;

/**
 * Form of an operand.
 *
 * - `flag` true or false; false means the operator `otherwise`
 * - `same` a value or null, which means `_null` or `_nnull`; `value` a value; `text` a part or a pattern of a text
 * - `list` values; `pair` two ends; `span` two ends of a range of which null is none
 * - `box` a geometry or the four numbers of a box; `near` a position or a vector, and a distance
 */
export type OperandForm = 'flag' | 'same' | 'value' | 'text' | 'list' | 'pair' | 'span' | 'box' | 'near';

/** A filter operator. */
export interface OperatorDefinition<Name extends string = string> {
  readonly operand: OperandForm;
  /** Form beside a geometry, where it is another one. */
  readonly geometryOperand?: OperandForm;
  /** Comparisons of the types that have it; `inside` stands for values within JSON. */
  readonly comparisons: readonly (Comparison | 'inside')[];
  /** The operator that a false flag means. */
  readonly otherwise?: Name;
  /** True if it looks among elements. */
  readonly ofElements?: true;
  /** True if validation rules alone may use it. */
  readonly inRulesOnly?: true;
  /** True if it asks whether values are the same, so that texts that only pass for the same count. */
  readonly distinguishes?: true;
  /** True if it holds on null. */
  readonly holdsOnNull?: true;
  /** Kinds of values within JSON that it compares; absent: all. */
  readonly kinds?: readonly JsonKind[];
  /** Makes the pattern of a LIKE of an escaped text; absent: the text is the pattern. */
  readonly pattern?: (escaped: string) => string;
  /** Comparisons that replace a list: how they are joined, and the operator for each value, or for the second. */
  readonly spread?: readonly [kind: 'and' | 'or', each: string, second?: string];
  /** Evaluates it in memory. `order` compares with the value: negative, 0 or positive. */
  readonly meets?: (
    value: string,
    operands: readonly string[],
    order: (operand: string) => number | undefined,
  ) => Truth;
  /** True if an evaluation needs texts that are compared by their characters. */
  readonly needsExact?: true;
  /** Operators that exclude it on the same operand. */
  readonly excludes?: readonly string[];
}

export type OperatorFamily<Name extends string> = Readonly<Record<Name, OperatorDefinition>>;

export function some(parts: readonly Truth[]): Truth {
  if (parts.includes(true)) return true;
  return parts.includes(undefined) ? undefined : false;
}

export function every(parts: readonly Truth[]): Truth {
  return not(some(parts.map(not)));
}

/** The negation of a part. */
export function not(part: Truth): Truth {
  return part === undefined ? undefined : !part;
}

/** True if the sign of an order fits. */
export function isSign(sign: number | undefined, fits: (sign: number) => boolean): Truth {
  return sign === undefined ? undefined : fits(sign);
}
