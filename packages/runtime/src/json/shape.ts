import type { WireKind } from '../language/index.ts';

/**
 * JSON form of one column (or record field) of a statement's result.
 *
 * Nested data arrives as binary records: a to-one as one record or null, a to-many as an array of records. So one
 * transcoder serves every depth, and response names never reach SQL. Records of two columns or more may also arrive as
 * one record that has an array for each column, or nulls for no records.
 */
export type Shape =
  | { readonly kind: 'scalar'; readonly wire: WireKind }
  | { readonly kind: 'array'; readonly element: WireKind }
  | { readonly kind: 'record'; readonly fields: readonly ShapeField[] }
  | { readonly kind: 'records'; readonly fields: readonly ShapeField[] }
  /** One record of alternatives: the first column that is not null is the value, without the record around it. */
  | { readonly kind: 'first'; readonly of: readonly Shape[] }
  /** An array of records, each a key of several fields, written in path form: `"17,3"`. */
  | { readonly kind: 'paths'; readonly parts: readonly WireKind[] }
  /** The same JSON for every item, among fields only. No column stands for it. */
  | { readonly kind: 'constant'; readonly json: string };

/** One response name with what stands under it. The order is that of the columns, constants in between. */
export interface ShapeField {
  readonly key: string;
  readonly shape: Shape;
}
