import type { FieldDescriptor } from '../../contract/index.ts';

/** Gives the placeholder of a fixed value, as a type. */
export type FixedValue = (value: string, native: string) => string;

/** What a caller can read of the copies of one collection's items. */
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
  /** Of the collection that an item is of. */
  readonly collection: string;
  /** Of the item, a JSON object. */
  readonly contents: string;
  /** Collections that the caller can read; of others nothing is left. */
  readonly readable: readonly CopiedFields[];
}

/** What differs between servers where items are kept as JSON. Every expression is null where the JSON is of no use. */
export interface CopyDialect {
  /** A member of a JSON object, as a text. */
  member(fixed: FixedValue, contents: string, name: string): string;
  /** Whether a column of a key has the value that a text of the API says; never an error, whatever the text is. */
  keyMatches(column: string, text: string, field: FieldDescriptor): string;
  /** The copies without what the caller cannot read, as JSON of the same type. */
  reduced(copies: Copies): string;
}
