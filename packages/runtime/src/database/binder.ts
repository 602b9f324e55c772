import type { ValueType } from '../language/index.ts';

/** How one bind parameter of a plan gets its value in a request. */
export type Binder =
  | { readonly kind: 'fixed'; readonly value: string | null }
  /** `index` into the values that the request's shape left open; already encoded as text. */
  | { readonly kind: 'value'; readonly index: number }
  /** Lists of values side by side, as the JSON of their rows; without lists, so many rows as the value at `count` says. */
  | { readonly kind: 'rows'; readonly of: readonly ListedValues[]; readonly count?: number }
  /** A value of the caller, written as `type`; null when it is missing or no value of that type. */
  | { readonly kind: 'caller'; readonly of: 'user' | 'role'; readonly type: ValueType };

/** A list among the values, as the text of an array, of elements of a type. */
export interface ListedValues {
  readonly index: number;
  readonly native: string;
}
