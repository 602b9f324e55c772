/**
 * The TypeScript types of values and filters, printed of the declarations in `language/operators`: `npm run golden`
 * prints them anew. Source: API specification, sections 5.2 and 5.3.
 */

/** A floating-point number as JSON sends it. */
export type FloatValue = number | 'NaN' | 'Infinity' | '-Infinity';

/** An array as it is written: of elements, or of arrays of these where it has several dimensions. */
export type ArrayValue<Value> = readonly (Value | null | ArrayValue<Value>)[];

/** A value that the server fills in when it runs the filter: `$NOW(-1 day)`, `$CURRENT_USER`. */
export type DynamicValue = `$${string}`;

/** Longitude and latitude, or a pair of numbers of a plane. */
export type Position = readonly [x: number, y: number];

/** A geometry of GeoJSON (RFC 7946). */
export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: Position }
  | { readonly type: 'MultiPoint' | 'LineString'; readonly coordinates: readonly Position[] }
  | { readonly type: 'MultiLineString' | 'Polygon'; readonly coordinates: readonly (readonly Position[])[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly (readonly Position[])[])[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] };

/** Measure of the distance between vectors; `inner` is the negative inner product. */
export type DistanceMetric = 'cosine' | 'l2' | 'inner' | 'l1';

/** From the first value up to the second, which is left out; null is no end. */
export type Span<Value> = readonly [Value | null, Value | null];

/** Operators of every field. */
export interface NullOperators {
  readonly _null?: boolean;
  readonly _nnull?: boolean;
}

/** Fields that are equal or not: uuid, enum. */
export interface EqualOperators<Value> extends NullOperators {
  readonly _eq?: Value | DynamicValue | null;
  readonly _neq?: Value | DynamicValue | null;
  readonly _in?: readonly (Value | DynamicValue)[] | DynamicValue;
  readonly _nin?: readonly (Value | DynamicValue)[] | DynamicValue;
}

/** Fields that are true or false. */
export interface BooleanOperators extends NullOperators {
  readonly _eq?: boolean | DynamicValue | null;
  readonly _neq?: boolean | DynamicValue | null;
}

/** Fields with an order: numbers, dates, times, intervals. */
export interface OrderOperators<Value> extends EqualOperators<Value> {
  readonly _lt?: Value | DynamicValue;
  readonly _lte?: Value | DynamicValue;
  readonly _gt?: Value | DynamicValue;
  readonly _gte?: Value | DynamicValue;
  readonly _between?: readonly [Value | DynamicValue, Value | DynamicValue];
  readonly _nbetween?: readonly [Value | DynamicValue, Value | DynamicValue];
}

/** Fields of text, and lists of texts. The forms with `i` ignore case. */
export interface TextOperators<Value extends string | readonly string[] = string> extends EqualOperators<Value> {
  readonly _contains?: string;
  readonly _ncontains?: string;
  readonly _icontains?: string;
  readonly _starts_with?: string;
  readonly _nstarts_with?: string;
  readonly _istarts_with?: string;
  readonly _nistarts_with?: string;
  readonly _ends_with?: string;
  readonly _nends_with?: string;
  readonly _iends_with?: string;
  readonly _niends_with?: string;
  readonly _empty?: boolean;
  readonly _nempty?: boolean;
}

/** Looks for elements; the forms with `n` are their negations. */
export interface ElementOperators<Value> extends NullOperators {
  readonly _has?: Value | DynamicValue;
  readonly _nhas?: Value | DynamicValue;
  readonly _has_any?: readonly (Value | DynamicValue)[];
  readonly _nhas_any?: readonly (Value | DynamicValue)[];
  readonly _has_all?: readonly (Value | DynamicValue)[];
  readonly _nhas_all?: readonly (Value | DynamicValue)[];
}

/** Fields that are arrays: as a whole, and by their elements. */
export interface ArrayOperators<Value> extends ElementOperators<Value> {
  readonly _eq?: ArrayValue<Value> | null;
  readonly _neq?: ArrayValue<Value> | null;
}

/** Fields of geometries. */
export interface GeometryOperators extends NullOperators {
  readonly _within?: Geometry;
  readonly _nwithin?: Geometry;
  readonly _intersects?: Geometry;
  readonly _nintersects?: Geometry;
  readonly _intersects_bbox?: Geometry | readonly [west: number, south: number, east: number, north: number];
  readonly _nintersects_bbox?: Geometry | readonly [west: number, south: number, east: number, north: number];
  readonly _near?: { readonly to: Position | Geometry; readonly within: number };
}

/** Fields of vectors. */
export interface VectorOperators extends NullOperators {
  readonly _near?: { readonly to: readonly number[]; readonly metric?: DistanceMetric; readonly within?: number };
}

/** Fields that are ranges, or several ranges. */
export interface RangeOperators<Value> extends NullOperators {
  readonly _has?: Value | DynamicValue;
  readonly _nhas?: Value | DynamicValue;
  readonly _overlaps?: Span<Value>;
  readonly _noverlaps?: Span<Value>;
  readonly _within?: Span<Value>;
  readonly _nwithin?: Span<Value>;
}

/** Values within JSON that can be compared. */
export type JsonScalar = string | number | boolean;

/** Fields of JSON, and values in it by their JSON Pointer: `'/address/city'`. */
export interface JsonOperators extends ElementOperators<JsonScalar> {
  readonly [path: `/${string}`]: JsonValueOperators | JsonScalar | null;
}

/** Fields that are objects of a type of the database, and their members by path: `'/city'`. */
export interface CompositeOperators extends NullOperators {
  readonly [path: `/${string}`]: JsonValueOperators | JsonScalar | null;
}

/** A value within JSON: it is compared as what stands beside the operator. */
export type JsonValueOperators = JsonOperators &
  OrderOperators<JsonScalar> &
  Omit<TextOperators, keyof OrderOperators<string> | '_empty' | '_nempty'>;

/** Relations to many items: some related item matches, or none does. */
export interface ManyOperators<Filter> {
  readonly _some?: Filter;
  readonly _none?: Filter;
}
