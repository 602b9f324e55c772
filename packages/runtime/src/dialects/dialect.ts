import type { ParameterForm, Statement } from '../database/database.ts';
import type { AggregateFunction } from '../language/descriptors/aggregates.ts';
import type { Dialect, FieldDescriptor, FieldFunction, Operator, PortableType, WireForm } from '../language/index.ts';
import type { GeometryForm, VectorForm, VectorMetric } from '../language/types/definition.ts';
import type { CopyDialect, InputDialect } from './input.ts';
import type { JsonDialect } from './json.ts';

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
export interface ListedKey {
  readonly list: string;
  readonly cast: string;
  readonly native: string;
}

/** Rows as one value: the element made of each row, their source, and how they are ordered and cut. */
export interface ListParts {
  readonly element: Value;
  /** Table or derived table with its alias. */
  readonly from: string;
  /** WHERE, ORDER BY and LIMIT, each with a leading space, or empty. */
  readonly where: string;
  readonly order: string;
  readonly bounds: string;
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
  /** Type of the parameters of LIMIT and OFFSET. */
  readonly boundType: string;
  /** OFFSET without LIMIT, as the LIMIT that it needs, with a leading space. */
  readonly noLimit: string;
  /** End of a subquery that should not be turned into a join, with a leading space. */
  readonly fence: '' | ' OFFSET 0';
  /** Where ascending orders have nulls. */
  readonly nulls: 'first' | 'last';
  /** Makes one group of all rows, where nothing else does. */
  readonly oneGroup: string;
  /** A select list without a column. */
  readonly noColumns: string;
  /** The number of rows. */
  readonly countRows: string;
  /** Cast of a value to text: a suffix, or a text with `{}` in the value's place. */
  readonly asText: string;
  /** How a part of a date arrives, which is an integer. */
  readonly datePart: WireForm;
  /** How the average of integers arrives. */
  readonly average: WireForm;
  /**
   * Use of a page of its own for lists within rows. `needed`: where their selection needs it. `never`: where no
   * subquery in FROM can see the row around it. `always`: where nothing else limits them.
   */
  readonly pages: 'needed' | 'never' | 'always';
  /** True if calls name the arguments of functions. Else they stand in their order, and procedures answer rows. */
  readonly namesArguments: boolean;
  /**
   * True if columns selected from one table are computed after ORDER BY and LIMIT, even nested ones: then such a list
   * needs no page.
   */
  readonly selectsLast: boolean;
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
  among(left: string, list: string, native: string, negated: boolean): string;
  /**
   * SQL predicate that is true if a key is one of those that `KeyList` asks for; `take` gives a placeholder for
   * them.
   */
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
  /** How geometries are compared. */
  readonly spatial: SpatialDialect;
  readonly vectors: VectorDialect;
  /** How comparisons look into JSON. */
  readonly json: JsonDialect;
  /** Rows that a statement is given, and rows that it tells of. */
  readonly input: InputDialect;
  /** Items that are kept as JSON. */
  readonly copies: CopyDialect;
  /** Names a column of the answer where its reader must know that it is nested, or how it is spelled. */
  answer(value: Value): string;
}
