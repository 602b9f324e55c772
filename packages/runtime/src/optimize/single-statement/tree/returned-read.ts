/**
 * Answer of a nested write assembled from the request and the values that the database filled in: where its columns are
 * found.
 */

/** Answer of such a nested write: where the columns of its items at the top are found. */
export interface ReturnedRead {
  /** The position of their group. */
  readonly at: number;
  readonly cells: readonly Cell[];
  /** How many arrays the statement answers of each group. */
  readonly arrays: readonly number[];
  /** For each group: the positions of the groups whose keys its items hold. */
  readonly holds: readonly (readonly number[])[];
  /** The name of the collection at the top. */
  readonly collection: string;
}

/** Where a column of an item, or of a record in it, is found. */
export type Cell =
  /** In a column of the batch, every text of which is stored as it came. */
  | { readonly kind: 'sent'; readonly column: number }
  /** Among what the database answers of the item's group; `wrapped` in a record of nothing else. */
  | { readonly kind: 'database'; readonly at: number; readonly wrapped?: true }
  /** A list without items. */
  | { readonly kind: 'empty' }
  /** A record of the item itself. */
  | { readonly kind: 'own'; readonly cells: readonly Cell[] }
  /** The item whose key it holds: by which of the keys, and the group of that item. */
  | { readonly kind: 'held'; readonly group: number; readonly hold: number; readonly cells: readonly Cell[] }
  | ListCell;

/**
 * The items of a group that hold the item's key, as records, or their keys; ordered by their own keys. `limit` -1 for all of
 * them.
 */
export interface ListCell {
  readonly kind: 'list' | 'keys';
  readonly group: number;
  readonly hold: number;
  readonly cells: readonly Cell[];
  readonly key: { readonly at: number; readonly wire: 'i2' | 'i4' | 'i8' };
  readonly limit: number;
}
