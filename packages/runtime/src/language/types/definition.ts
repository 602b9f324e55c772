/**
 * Declares a portable type: all that the platform knows about the values of a column, regardless of its database.
 *
 * Source: API specification, section 6 (types and serialisation).
 */
import type { JsonValue } from '../values/parse-text.ts';

/** Restrictions of a column that decide how its values are read and described. */
export interface ValueFacts {
  /** As `FieldDescriptor.native`; absent: the widest native type. */
  readonly native?: string;
  /** Labels of an enum. */
  readonly values?: readonly string[];
  /** Portable type of the elements of an array. */
  readonly element?: string;
  readonly maxLength?: number;
  readonly precision?: number;
  readonly scale?: number;
  /** As `FieldDescriptor.limits`. */
  readonly limits?: readonly [number, number];
  /** Form in which values arrive; the cast tells whether the server has values beyond those of other servers. */
  readonly wire?: { readonly kind: string; readonly cast?: string };
  readonly geometry?: GeometryForm;
  readonly vector?: VectorForm;
  /** Members of a composite value, or of an array's elements. */
  readonly attributes?: readonly Attribute[];
  /** Composite type of the values, or of an array's elements: `public.address`. */
  readonly composite?: string;
  /** For the reader of elements: the member of a composite value to read. */
  readonly attribute?: Attribute;
}

/** Measures of the distance between two vectors; `inner` is the negative inner product. */
export const vectorMetrics = ['cosine', 'l2', 'inner', 'l1'] as const;

/** One of them. */
export type VectorMetric = (typeof vectorMetrics)[number];

/** Form of the vectors of a column. */
export interface VectorForm {
  /** Numbers of each value; absent: any. */
  readonly dimensions?: number;
  /** Set where numbers have two bytes. */
  readonly half?: true;
  /** The metric of its index, or the usual one. */
  readonly metric: VectorMetric;
  /** Metrics that the server has; absent: all. */
  readonly metrics?: readonly VectorMetric[];
  /** Prefix of operators, ready for SQL; absent: none. */
  readonly library?: string;
  /** Set where a search in an index can go on until enough rows are left by other conditions. */
  readonly iterative?: true;
}

/** A member of composite values: its name, portable type and facts, as a field has them. */
export interface Attribute extends ValueFacts {
  readonly name: string;
  readonly type: string;
  readonly native: string;
  /** Cast of the member in comparisons. */
  readonly comparison?: string;
}

/** Form of the geometries of a column, and the SQL that the database needs for them; `{}` stands for the geometry. */
export interface GeometryForm {
  /** `degrees`: longitude and latitude. `plane`: numbers of a plane, as they are stored. */
  readonly form: 'degrees' | 'plane';
  /** GeoJSON type of all values; absent: any. */
  readonly kind?: string;
  /** Prefix of spatial functions, ready for SQL; absent: none. */
  readonly library?: string;
  /** A geometry whose distances are metres; absent: those of the geometry itself are. */
  readonly measured?: string;
  /** A geometry that has a box; absent: each has. */
  readonly boxed?: string;
  /** Set where an index serves distances by a box around them alone; `bent` where the reference bends its sides. */
  readonly bounded?: true | 'bent';
}

/**
 * The text form of a parameter (null for SQL's null), or why the value is none. Messages follow a field's name; `limit`
 * tells that the value is one of the type, but beyond what a column of it takes.
 */
export type Decoded =
  | { readonly ok: true; readonly value: string | null }
  | { readonly ok: false; readonly message: string; readonly limit?: 'range' | 'enum' };

/** A limit of a field that a value breaks: the type of its FAILED_VALIDATION. */
export interface BrokenLimit {
  readonly type: 'range' | 'enum' | 'max_length' | 'geometry';
  readonly message: string;
}

/** A JSON Schema. */
export type Schema = { readonly [key: string]: JsonValue };

/** Types of one comparison have the same filter operators. */
export type Comparison =
  | 'text'
  | 'list'
  | 'number'
  | 'time'
  | 'choice'
  | 'boolean'
  | 'array'
  | 'range'
  | 'json'
  | 'geometry'
  | 'vector'
  | 'composite'
  | 'presence';

/** Functions that take a field to an integer (API specification, section 5.3). */
export const fieldFunctions = ['year', 'month', 'week', 'day', 'weekday', 'hour', 'minute', 'second', 'count'] as const;

/** One function that takes a field to an integer. */
export type FieldFunction = (typeof fieldFunctions)[number];

/** Functions of types that have a date. */
export const datedFunctions: readonly FieldFunction[] = fieldFunctions.slice(0, 5);

/** Functions of types that have a time of the day. */
export const timedFunctions: readonly FieldFunction[] = fieldFunctions.slice(5, 8);

/** Comparison of a column's values, and the form in which they arrive (`FieldDescriptor`). */
export interface ColumnForm {
  readonly native: string;
  readonly comparison?: string;
  readonly wire: WireForm;
}

/** Casts of columns whose values are selected as text; `{}` stands for the column. */
export const castToText = 'CAST({} AS CHAR)';

/** The length tells the runtime that the text is an integer, whose digits it makes by itself where nothing is nested. */
export const castToDigits = 'CAST({} AS CHAR(20))';

/** A time without fractions of a second. */
export const castToTime = "DATE_FORMAT({}, '%Y-%m-%dT%H:%i:%s')";

/** A portable type. */
export interface TypeDefinition {
  /** Reads a JSON value as the text of a parameter. `elements` reads those of an array. */
  readonly decode: (
    value: JsonValue,
    facts: ValueFacts,
    elements: (facts: ValueFacts) => (element: JsonValue) => Decoded,
  ) => Decoded;
  /** Finds the limit of a field that a text breaks. */
  readonly limit?: (facts: ValueFacts, text: string) => BrokenLimit | undefined;
  /** Orders two different texts as databases do; undefined where only the database can. */
  readonly order?: (left: string, right: string) => number | undefined;
  /** Returns the one text of all that databases hold to be the same value. */
  readonly spelling?: (text: string) => string;
  /** Values of types of one family can be compared; absent: with none. */
  readonly family?: string;
  /** Decides the filter operators; null for secrets, which can be selected, and named nowhere else. */
  readonly comparison: Comparison | null;
  readonly functions?: readonly FieldFunction[];
  /** TypeScript type of a value, or of the parts of a `list`; `also` is what payloads take besides. */
  readonly typescript: { readonly value: string; readonly list?: true; readonly also?: string };
  /** JSON Schema of values as the server writes them. A format is promised only where every value keeps it. */
  readonly schema: Schema | ((facts: ValueFacts) => Schema);
  /** JSON Schema of values as payloads take them; absent: the same. */
  readonly input?: Schema | ((facts: ValueFacts) => Schema);
  /** GraphQL type of values, of a key alone, and the input that compares them (`number` of `number_filter_operators`). */
  readonly graphql: { readonly value: string; readonly key?: string; readonly filter: string | null };
  /** Usual forms of columns: where rows arrive in the binary form of their types, and where all is selected as text. */
  readonly forms: { readonly binary: ColumnForm; readonly text: ColumnForm };
  /** Kind of a key whose text is the same everywhere. */
  readonly key?: 'integer' | 'uuid';
  /** Types of columns that the configuration can declare to be of this one. */
  readonly readFrom?: readonly string[];
  /** True if `$NOW` is a value of the type. */
  readonly isMoment?: true;
  /** True if an order needs the text form: the database compares none of its own. */
  readonly isUnordered?: true;
  /** True if a column has few values, so that an index on it helps little. */
  readonly hasFewValues?: true;
  /** True if a column with a list of values is described by the list. */
  readonly isListable?: true;
  /** True if databases keep a value as it is written, neither rounded nor cut. */
  readonly isKept?: true;
  /** True if databases write texts that no request may write. */
  readonly hasWiderTexts?: true;
}

/**
 * Form of one value in the binary form of rows (`docs/decisions`), and so how its bytes become JSON.
 *
 * A column whose native type has no entry here is cast in SQL (`WireForm.cast`) to one that has: `numeric` is read as
 * `text`, `money[]` as `numeric[]::text[]`. The same form serves at every depth, so the bytes never depend on nesting.
 *
 * - `bool` 1 byte; `i2`, `i4` JSON numbers; `i8` a quoted decimal string
 * - `number` text of a number: unquoted when finite, quoted for NaN and infinities
 * - `text` UTF-8, escaped and quoted; `json` UTF-8 passed through; `jsonb` the same after one version byte
 * - `date` days, `time` microseconds, `timestamp` and `timestamptz` microseconds, each since 2000-01-01
 * - `uuid` 16 bytes; `bytes` base64
 * - `csv` UTF-8 text that reads as a JSON array of strings, split at every comma; the empty text is `[]`
 * - `masked` any value that is not null reads `"**********"`
 */
export type WireKind =
  | 'bool'
  | 'i2'
  | 'i4'
  | 'i8'
  | 'number'
  | 'text'
  | 'json'
  | 'jsonb'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'uuid'
  | 'bytes'
  | 'csv'
  | 'masked';

/** Selection of a column: the cast chain appended to its expression (for example `::numeric::text`), and what arrives. */
export interface WireForm {
  readonly kind: WireKind;
  /** True when `kind` is that of the elements of a (possibly multi-dimensional) array. */
  readonly array?: true;
  readonly cast?: string;
}
