/**
 * The TypeScript types of values, filters and relational payloads that generated files share.
 *
 * Generated code names them, so that a filter's type stays a short list of fields. Source: API specification, sections
 * 5.2, 5.3, 6 and 7.
 */

/** A floating-point number as JSON sends it. */
export type FloatValue = number | 'NaN' | 'Infinity' | '-Infinity';

/** A value that the server fills in when it runs the filter: `$NOW(-1 day)`, `$CURRENT_USER`. */
export type DynamicValue = `$${string}`;

/** What every field can be asked. */
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

/** Fields of text. The forms with `i` ignore case. */
export interface TextOperators<Value extends string = string> extends EqualOperators<Value> {
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

/** To-many relations: some related item matches, or none does. */
export interface ManyOperators<Filter> {
  readonly _some?: Filter;
  readonly _none?: Filter;
}

/** Changes of a to-many relation that leave everything unlisted as it is. */
export interface ManyChanges<Key, Create, Update> {
  readonly create?: readonly Create[];
  readonly update?: readonly Update[];
  readonly delete?: readonly Key[];
}
