/**
 * Data of the model endpoints: collections, fields and relations as they were compiled, as far as one access class may
 * read them. Source: API specification, sections 10.2, 10.4, 10.9 and 12.
 */
import type { JsonValue } from '../values/json.ts';

/** The model as an access class sees it. */
export interface ModelDocument {
  /** Sorted by name. */
  readonly collections: readonly ModelCollection[];
  /** By collection: those of the key first, then the other columns, then relations without a column. */
  readonly fields: readonly ModelField[];
  /** By collection and field. */
  readonly relations: readonly ModelRelation[];
}

/** A collection. */
export interface ModelCollection {
  readonly collection: string;
  /** The members of `platform_collections`. */
  readonly meta: JsonValue;
  /** The table or view that holds its rows. */
  readonly schema: JsonValue;
}

/** A field, or a relation that has no column. */
export interface ModelField {
  readonly collection: string;
  readonly field: string;
  /** As in section 6, `alias` for relations without a column. */
  readonly type: string;
  /** The members of `platform_fields`. */
  readonly meta: JsonValue;
  /** The column; null for `alias`. */
  readonly schema: JsonValue;
}

/** A relation as the side sees it that holds the key. */
export interface ModelRelation {
  readonly collection: string;
  readonly field: string;
  /** Null where the items are of several collections. */
  readonly related_collection: string | null;
  /** The foreign key; null where the database has none. */
  readonly schema: JsonValue;
  /** The members of `platform_relations`. */
  readonly meta: JsonValue;
}
