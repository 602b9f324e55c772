import type { JsonValue } from '../values/parse-text.ts';
import type { ValueType } from '../values/value-type.ts';

/** A relation as filters see it. `targets` are the allowed collections of a many-to-any. */
export interface NamedRelation {
  readonly kind: 'm2o' | 'o2m' | 'm2m' | 'm2a';
  readonly target: string;
  readonly targets?: readonly string[];
}

/** Names a filter can use. One that a caller may not use is not found: hidden and unknown take the same way. */
export interface FilterNames {
  field(collection: string, name: string): ValueType | undefined;
  relation(collection: string, name: string): NamedRelation | undefined;
  /** Field names of the key of a collection; empty when it has none. */
  key(collection: string): readonly string[];
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
  /** The value that does not fit: one of a list, where there is one. */
  readonly value?: JsonValue;
  /** The name that does not exist, when it is a step of a path from the caller and so no key of the filter. */
  readonly name?: { readonly collection: string; readonly name: string };
}

/** Values in messages are cut: they may be as long as a request. */
const longestValue = 60;

/**
 * Prints the problem as a predicate, whose subject is the place in the filter.
 * @example `"_in" ${printProblem(problem)}.` // "_in" has "gone", which is not one of the allowed values.
 */
export function printProblem({ message, value }: FilterProblem): string {
  if (value === undefined) return message;
  const text = JSON.stringify(value);
  return `has ${text.length > longestValue ? `${text.slice(0, longestValue).toWellFormed()}…` : text}, which ${message}`;
}
