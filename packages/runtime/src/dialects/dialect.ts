import type { ParameterForm, Statement } from '../database/database.ts';
import type { Binder } from '../database/parameter-forms.ts';
import type { AggregateFunction } from '../language/descriptors/aggregates.ts';
import type { Dialect, FieldDescriptor, FieldFunction, Operator, PortableType, WireForm } from '../language/index.ts';
import type { JsonKind } from '../language/operators/definition.ts';
import type { GeometryForm, VectorForm, VectorMetric } from '../language/types/definition.ts';
import type { OrderedTerm } from './fragment.ts';

/** An expression of a select list. */
export interface Value {
  readonly expression: string;
  /** True if it is already a record or list, made by `record` or `list`. */
  readonly nested: boolean;
  /** True if it stands for a column that is never null. Default: false. */
  readonly present?: boolean;
}

/**
 * The parameter of a key field, whether one value or a list of them. An array of arrays is unnested to the elements of them
 * all, so keys that are arrays are sent as texts, and each is `cast`.
 */
export interface ListedKey extends ListedType {
  readonly list: string;
  readonly cast: string;
}

/** The type of listed values; `collated` brings a text into the character set of the column beside them. */
export interface ListedType {
  readonly native: string;
  readonly collated?: string;
}

/** Rows as one value: the element made of each row, their source, and how they are ordered and cut. */
export interface ListParts {
  readonly element: Value;
  /** Table or derived table with its alias. */
  readonly from: string;
  /** WHERE and LIMIT, each with a leading space, or empty. */
  readonly where: string;
  readonly bounds: string;
  readonly order: readonly ListTerm[];
}

/** A term that orders a list. Its values can be null, unless `value` denies it. */
export interface ListTerm extends OrderedTerm {
  readonly value?: { readonly nullable: boolean };
}

/** Predicates on two geometries of one form, and the distance between them. */
export interface SpatialDialect {
  intersects(form: GeometryForm, left: string, right: string): string;
  within(form: GeometryForm, left: string, right: string): string;
  /** The boxes around them have a point in common. */
  boxes(form: GeometryForm, left: string, right: string): string;
  /** The distance, a text, is at least as far. */
  near(form: GeometryForm, left: string, right: string, distance: string): string;
  distance(form: GeometryForm, left: string, right: string): string;
}

/** The distance between two vectors of one form, and a predicate on it. */
export interface VectorDialect {
  distance(form: VectorForm, metric: VectorMetric, left: string, right: string): string;
  /** The distance is at most another, a text. */
  within(distance: string, greatest: string): string;
}

/**
 * Differences between the SQL of database servers. Everything else is printed alike for all of them; identifiers are in
 * double quotes everywhere.
 *
 * Types of parameters and columns go by the same names in every dialect (`int4`, `timestamptz`, `text[]`).
 */
export interface SqlDialect {
  readonly name: Dialect;
  /** Name that OpenTelemetry has for the server. */
  readonly systemName: string;
  /** False where parameters have numbers, true where each is a question mark of its own. */
  readonly positional: boolean;
  /** A parameter as an expression of a type; `mark` gives a placeholder for the value in some form. */
  placeholder(native: string, marker: (form: ParameterForm) => string): string;
  readonly boundType: string;
  /** OFFSET without LIMIT, as the LIMIT that it needs, with a leading space. */
  readonly noLimit: string;
  /** End of a subquery that should not be turned into a join, with a leading space. */
  readonly fence: '' | ' OFFSET 0';
  /** Place of nulls in ascending orders. */
  readonly nulls: 'first' | 'last';
  /** Makes one group of all rows, where nothing else does. */
  readonly oneGroup: string;
  /** A select list without a column. */
  readonly noColumns: string;
  /** The number of rows. */
  readonly countRows: string;
  /** Cast of a value to text: a suffix, or a text with `{}` in the value's place. */
  readonly asText: string;
  /** A value of a type as a text that a parameter of this type is read from, without loss. */
  exactText(expression: string, native: string | undefined): string;
  /** The place of a cell in the order of its column; undefined where comparisons have the same order. */
  placeOf(cell: string, field: Pick<FieldDescriptor, 'type' | 'native'>): string | undefined;
  readonly datePart: WireForm;
  /** Form in which the average of integers arrives. */
  readonly average: WireForm;
  /**
   * Use of a page of its own for lists within rows. `needed`: where their selection needs it. `never`: where no
   * subquery in FROM can see the row around it. `always`: where nothing else limits them.
   */
  readonly pages: 'needed' | 'never' | 'always';
  /** True if calls name the arguments of functions. Else they stand in their order, and procedures answer rows. */
  readonly namesArguments: boolean;
  /** True if selected columns are computed after ORDER BY and LIMIT, even nested ones: then a list needs no page. */
  readonly selectsLast: boolean;
  /** Rows of a search by words that are ranked; absent where the index of words has the rank. */
  readonly rankedRows?: number;
  /** True if the far side of an m2m is looked up link by link, in a subquery that is not turned into a join. */
  readonly looksUp: boolean;
  /** True if rows always obey foreign keys. False where a session may switch them off, as dumps do. */
  readonly keepsForeignKeys: boolean;
  /**
   * Comparison of the first column that leads to the rows of a page, where the page is ordered by it first. That lets
   * an index give the order. Undefined where that does not help, or where the type of the column does not allow it.
   */
  pageLink(reached: string, start: string, native: string | undefined): string | undefined;
  /** True if columns that a foreign key joins always have the same order, regardless of their other declarations. */
  sortsAlike(native: string | undefined): boolean;
  /** True if parts of a query can write, and writes return the rows that they wrote. */
  readonly returnsWrites: boolean;
  /** True if constraints may be deferred to the end of a transaction. */
  readonly defersConstraints: boolean;
  /** Statement that waits until every other transaction that named the same text has ended. */
  readonly namedLock: Statement;
  /** Null of a type. */
  nothing(native: string): string;
  /** A predicate that is never null, as a column that arrives as a boolean. */
  flag(predicate: string): string;
  /** Text compared by its characters, even if its column takes different texts for equal. */
  exactly(expression: string): string;
  /** The cell of a field whose texts may be equal without being the same, as groups tell it apart. */
  grouped(expression: string, field: FieldDescriptor): string;
  /** SQL predicate that is true if a text matches a pattern; the operator is one of those that do. */
  matches(operator: Operator, left: string, pattern: string): string;
  /** Search of a document for the words of a text: a predicate, and a rank that is higher where they fit better. */
  wordSearch(document: string, text: string, language: string): { readonly matches: string; readonly rank: string };
  /** A value of the database as a pattern: `%`, `_` and the backslash in it stand for themselves. */
  patternOf(before: string, value: string, after: string): string;
  /** SQL predicate that is true if a value is in a list, which is a parameter of the type `native[]`; or is in none. */
  among(left: string, list: string, type: ListedType, negated: boolean): string;
  /** SQL predicate that is true if a key is one of those that `KeyList` asks for; `take` gives a placeholder. */
  byKeyList(left: string, native: string, shape: (native: string) => string): string;
  /** SQL predicate that is true if the values of some columns are a row of lists side by side. */
  rowAmong(columns: readonly string[], keys: readonly ListedKey[]): string;
  /** A value that a path from the caller leads to, as a text that compares with every other. */
  pathText(value: string): string;
  /** All values of a query, in the form that `amongPath` takes; null when there are none. */
  pathValues(select: string): string;
  amongPath(left: string, values: string, negated: boolean): string;
  /** The start of the transaction, moved by an interval, as a type. */
  now(offset: string, type: PortableType, native: string): string;
  /** A function of a field other than counting rows; `count` is that of the elements. */
  field(name: FieldFunction, expression: string, field: FieldDescriptor): string;
  /** An aggregate function; without an argument it counts rows. `field` is what the argument is of. */
  aggregate(name: AggregateFunction, argument: string | null, field: FieldDescriptor | null): string;
  /** A text as a key of a type, null where it is none; undefined for types that are compared by their texts. */
  keyOf(text: string, type: PortableType, native: string): string | undefined;
  /** Some values as one. It may be null itself where a column that is never null belongs to a row that is missing. */
  record(values: readonly Value[]): string;
  list(parts: ListParts): string;
  /** The list of a row that is everything after FROM, aggregated to one, or of none. */
  single(element: Value, rows: string): string;
  /** Comparison of geometries. */
  readonly spatial: SpatialDialect;
  readonly vectors: VectorDialect;
  /** Comparison of parts of JSON. */
  readonly json: JsonDialect;
  /** Rows that a statement is given, and rows that it tells of. */
  readonly input: InputDialect;
  /** Items that are kept as JSON. */
  readonly copies: CopyDialect;
  /** Names a column of the answer where its reader must know that it is nested, or how it is spelled. */
  answer(value: Value): string;
}

export interface JsonPath {
  /** One per level. */
  readonly segments: readonly string[];
  /** A placeholder for the path, or what the type `native` makes of it. */
  take(native: string): string;
}

/** Predicates that look for elements in a container: all of a list, or any of it. */
export interface Container {
  /** The list of one value, as an expression of the container's type. */
  readonly one: (value: string) => string;
  readonly all: (list: string) => string;
  readonly any: (list: string) => string;
  /** A predicate that is null where the container is none; then its negation does not hold either. */
  readonly guarded: (predicate: string) => string;
}

/** Differences between servers where comparisons look into JSON. */
export interface JsonDialect {
  /** The cell of a field as functions take it; null where they cannot. */
  document(cell: string, field: FieldDescriptor): string;
  /** The JSON at a path, null where nothing is. */
  at(document: string, path: JsonPath): string;
  /** A value that is null where nothing is at a path, or JSON's null. */
  presence(document: string, path: JsonPath): string;
  /** The value at a path, as what it is compared as; null where it is of another kind. */
  scalar(document: string, path: JsonPath, kind: JsonKind): string;
  /** An array as a container; `alias` gives names that no other part of the statement has. */
  container(document: string, alias: () => string): Container;
}

/** True if a segment of a path names an element where it meets an array; where it meets an object it is a key. */
export function isIndex(segment: string): boolean {
  return /^\s*[+-]?\d{1,10}$/.test(segment) && Math.abs(Number(segment)) < 2 ** 31;
}

/** A column of a table of input. */
export interface InputField {
  readonly name: string;
  /** Type of an element, as that of a parameter. */
  readonly native: string;
  /** Type to which each element is cast; absent: the element's own. */
  readonly cast?: string;
  /** Index of the list among the values of a statement, as the text of an array. */
  readonly list: number;
  /** True if its values are stored, and not compared with stored ones. */
  readonly stored?: boolean;
}

/** Rows that a statement is given. */
interface InputTable {
  readonly columns: readonly InputField[];
  /** Index of the number of rows among the values; needed without columns only. */
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
  /** Predicate of the rows that count. Default: all. */
  readonly only?: string;
  /** An order for servers that keep none by themselves. Default: `order`. */
  readonly settled?: string;
  /** Field that the values belong to, where they are no numbers. */
  readonly field?: Pick<FieldDescriptor, 'type' | 'native' | 'maxLength' | 'values'> | undefined;
}

/** Lock on a row. An update does not keep others from linking to it, unless it changes a value of links. */
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
  stored(input: string, field: FieldDescriptor): string;
  /** The same with its type told in any case. */
  kept(input: string, field: FieldDescriptor): string;
  /** The same as an index of the column finds it. */
  sought(input: string, field: FieldDescriptor): string;
  /** A value of the column's type as an index of the column finds it. */
  indexed(value: string, field: FieldDescriptor): string;
  /** An expression with its type told, where the server needs that. */
  typed(expression: string, native: string): string;
  /** Values as the text of an array of texts; null, or an empty one, for none. */
  collectedArray(arrayOf: JoinedValues): string;
  /** True if an INSERT can return the rows that it made. */
  readonly returning: boolean;
  /** True if ORDER BY comes before the locks on rows. Otherwise rows are locked as they are read: in the order of input. */
  readonly locksSorted: boolean;
  /** A part of the key of a new row as a text: a column after RETURNING, or the value that it will have. */
  keyText(value: string, field: FieldDescriptor): string;
  /** A value that is gathered as a text. */
  text(expression: string): string;
  /** An UPDATE of one column of a table, `t`, by rows of input that are joined to it. */
  update(table: string, column: string, value: string, input: string, on: string): string;
  /** Column of the number of rows in the answer of such an UPDATE. */
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
type Field =
  | Pick<FieldDescriptor, 'type' | 'native' | 'stored' | 'comparison' | 'wire' | 'collated' | 'folds'>
  | undefined;

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
  readonly collection: string;
  /** Expression for the item, a JSON object. */
  readonly contents: string;
  /** Collections that the caller can read; copies of items of other ones become empty. */
  readonly readable: readonly CopiedFields[];
}

/** Differences between servers where items are kept as JSON. Every expression is null where the JSON is of no use. */
export interface CopyDialect {
  /** SQL predicate that is true if a column of a key has the value that a JSON object has for its field. Never fails. */
  memberMatches(fixed: FixedValue, contents: string, column: string, field: FieldDescriptor): string;
  /** SQL predicate that is true if a column of a key has the value of a text of the API. Never fails, for any text. */
  keyMatches(column: string, text: string, field: FieldDescriptor): string;
  /** The copies without what the caller cannot read, as JSON of the same type. */
  reduced(copies: Copies): string;
}
