import type { FieldDescriptor } from '../language/index.ts';

/** Gives the placeholder of a fixed value, as a type. */
export type FixedValue = (value: string, native: string) => string;

/** Fields that a caller can read in the copies of one collection's items. */
export interface CopiedFields {
  readonly collection: string;
  /** Fields that can be read on every readable item. */
  readonly always: readonly string[];
  /** Fields that can be read where a predicate holds on the item. */
  readonly sometimes: readonly { readonly fields: readonly string[]; readonly predicate: string }[];
}

/** Copies of items as a statement sees them. */
export interface Copies {
  readonly fixed: FixedValue;
  /** Expression for the name of the item's collection. */
  readonly collection: string;
  /** Expression for the item, a JSON object. */
  readonly contents: string;
  /** Collections that the caller can read; copies of items of other ones become empty. */
  readonly readable: readonly CopiedFields[];
}

/** Differences between servers where items are kept as JSON. Every expression is null where the JSON is of no use. */
export interface CopyDialect {
  /** A member of a JSON object, as a text. */
  member(fixed: FixedValue, contents: string, name: string): string;
  /** SQL predicate that is true if a column of a key has the value of a text of the API. Never fails, for any text. */
  keyMatches(column: string, text: string, field: FieldDescriptor): string;
  /** The copies without what the caller cannot read, as JSON of the same type. */
  reduced(copies: Copies): string;
}
