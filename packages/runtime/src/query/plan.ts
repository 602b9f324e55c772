import type { Statement } from '../database/database.ts';
import type { WireKind } from '../language/index.ts';
import type { Binder } from './binder.ts';
import type { CursorPlan } from './cursor.ts';
import type { FixedField } from './plan-fixed.ts';
import type { OwnRead, WholeRead } from './plan-returned.ts';
import type { NestedRows } from './row-bound.ts';

/**
 * JSON form of one column (or record field) of a statement's result.
 *
 * Nested data arrives as binary records: a to-one as one record or null, a to-many as an array of records. So one
 * transcoder serves every depth, and response names never reach SQL.
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

/** Formats in which a list can be had as a file (API specification, section 5.6; `ndjson` is an addition). */
export const exportFormats = ['csv', 'json', 'xml', 'yaml', 'ndjson'] as const;

/** One of `exportFormats`; also the ending of the file's name. */
export type ExportFormat = (typeof exportFormats)[number];

/** A list as a file: its format, and its name without the extension. */
export interface Exported {
  readonly format: ExportFormat;
  readonly name: string;
}

/**
 * One planned read: one statement, at any depth.
 *
 * With `meta` the first columns of every row are the counts in that order, followed by one boolean column that is false
 * on the single row that stands for an empty list. Then the item's columns follow, as without `meta`. With `cursor`,
 * the texts that a cursor is made of stand in front of the item's columns. One row more than the limit tells that there
 * are more.
 *
 * With `countsNamed` one more column stands in front: how many of the items named by key there are; and the boolean is
 * there without `meta` too.
 */
export interface ReadPlan {
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  /** Cost of everything that it selects and looks for: see `cost.ts`. */
  readonly cost: number;
  readonly many: boolean;
  readonly fields: readonly ShapeField[];
  /** Set where fields are the same in every item, by the request: `settlePlan` makes the plan that writes them. */
  readonly fixed?: readonly FixedField[];
  readonly meta: readonly ('total_count' | 'filter_count')[];
  /** For `planTargets`: true if the statement locks the rows that it finds. */
  readonly held?: boolean;
  /** Set for aggregations of items named by key. */
  readonly countsNamed?: boolean;
  /** The lists within its rows, when there are any. */
  readonly nested?: readonly NestedRows[];
  /** Set where it reads all of the items that it names. */
  readonly whole?: WholeRead;
  /** Set where it also reads nothing but columns of their rows. */
  readonly own?: OwnRead;
  /** True for `limit=-1` and large limits: run by `Database.stream`. */
  readonly streamed: boolean;
  /** Set when the list is paged by cursor. */
  readonly cursor?: CursorPlan;
  /** Set when the answer is a file. */
  readonly exported?: Exported;
}
