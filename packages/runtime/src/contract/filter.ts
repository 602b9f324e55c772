import type { Condition } from './condition.ts';
import type { JsonValue, PortableType } from './types.ts';

/** What a filter may say about one field. */
export interface NamedField {
  readonly type: PortableType;
  readonly values?: readonly string[];
  readonly element?: PortableType;
}

/** What a filter may say about one relation. `targets` are the allowed collections of a many-to-any. */
export interface NamedRelation {
  readonly kind: 'm2o' | 'o2m' | 'm2m' | 'm2a';
  readonly target: string;
  readonly targets?: readonly string[];
}

/**
 * The names a filter can use. A name that a caller may not use is not found: hidden and unknown take the same way.
 */
export interface FilterNames {
  field(collection: string, name: string): NamedField | undefined;
  relation(collection: string, name: string): NamedRelation | undefined;
}

/**
 * One thing wrong with a filter. Callers answer the first stage that has a problem: `syntax` (unknown operator,
 * malformed), `name` (unknown or hidden), `value` (operator or value does not fit the type).
 */
export interface FilterProblem {
  readonly stage: 'syntax' | 'name' | 'value';
  /** Keys from the root of the filter, for messages: `['author_id', 'name', '_eq']`. */
  readonly path: readonly string[];
  readonly message: string;
}

export type { Condition, JsonValue };
