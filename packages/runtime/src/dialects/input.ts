import type { Binder } from '../database/binder.ts';
import type { FieldDescriptor } from '../language/index.ts';

/** A column of a table of input. */
export interface InputField {
  readonly name: string;
  /** Type of an element, as that of a parameter. */
  readonly native: string;
  /** Where the values of a statement have the list, as the text of an array. */
  readonly list: number;
  /** True if its values are stored, and not compared with stored ones. */
  readonly stored?: boolean;
}

/** Rows that a statement is given. */
interface InputTable {
  readonly columns: readonly InputField[];
  /** Where the values have the number of rows; needed without columns only. */
  readonly count?: number;
  readonly alias: string;
  /** True if `n` numbers the rows from 1. */
  readonly numbered: boolean;
  /** True if AS stands before the alias. */
  readonly as: boolean;
}

/** Many values as one text. */
interface JoinedValues {
  readonly value: string;
  readonly order?: string;
  /** Which rows count. Default: all. */
  readonly only?: string;
  /** An order for servers that keep none by themselves. Default: `order`. */
  readonly settled?: string;
  /** Field that the values belong to, where they are no numbers. */
  readonly field?: Pick<FieldDescriptor, 'native'> | undefined;
}

/**
 * Lock on a row. An update keeps other transactions from changing the row. It does not keep them from making items that
 * link to it, unless it changes a value by which they might link.
 */
export type RowLock = 'UPDATE' | 'NO KEY UPDATE' | 'KEY SHARE';

/** Differences between servers where statements take rows as input, and return many rows in one. */
export interface InputDialect {
  /** A table of input with its alias; `take` gives a placeholder. */
  table(shape: (binder: Binder, native: string) => string, table: InputTable): string;
  /** Join of a table of input with the table that is looked up for each of its rows. */
  readonly join: ' JOIN ' | ' STRAIGHT_JOIN ';
  /** The same join where the table may stand in front. */
  lookUp(table: string, input: string, on: string): string;
  /** SQL predicate that is true if a column has the value of a column of input. */
  equal(column: string, input: string, field: Field): string;
  /** The value of a column of input as its field stores it. */
  stored(input: string, field: FieldDescriptor): string;
  /** The same with its type told in any case. */
  kept(input: string, field: FieldDescriptor): string;
  /** The same as an index of the column finds it. */
  sought(input: string, field: FieldDescriptor): string;
  /** An expression with its type told, where the server needs that. */
  typed(expression: string, native: string): string;
  /** Values as the text of an array of texts; null, or an empty one, for none. */
  collectedArray(arrayOf: JoinedValues): string;
  /** True if an INSERT can return the rows that it made. */
  readonly returning: boolean;
  /** A part of the key of a new row as a text: a column after RETURNING, or the value that it will have. */
  keyText(value: string, field: FieldDescriptor): string;
  /** A value that is gathered as a text. */
  text(expression: string): string;
  /** An UPDATE of one column of a table, `t`, by rows of input that are joined to it. */
  update(table: string, column: string, value: string, input: string, on: string): string;
  /** Which column of the answer of such an UPDATE has the number of rows. */
  readonly updated: 0 | 1;
  /** Statement that lets foreign keys wait until COMMIT, as far as they may; null where none ever do. */
  readonly deferral: string | null;
  /** The number of rows, or of those for which a predicate holds, as text. */
  count(only?: string): string;
  /** Clause that locks the rows of a SELECT, with a leading space. */
  lock(lock: RowLock, alias: string): string;
  /** A column that numbers rows in their order, where the order of a table does not last; with a leading comma. */
  place(order: string): string;
}

/** Field that an input is compared with; undefined where a column is no field. */
type Field = Pick<FieldDescriptor, 'native' | 'comparison' | 'collated' | 'folds'> | undefined;

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
interface Copies {
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
