/** The platform's own tables, each declared once for all servers. Released ones never change: they have checksums. */

type ColumnType =
  | 'uuid'
  | 'text'
  | `varchar(${number})`
  | 'boolean'
  | 'smallint'
  | 'integer'
  | 'bigint'
  /** A value that is compared and indexed. */
  | 'json'
  /** The text of a value as it was written. */
  | 'json text'
  /** An instant that is a field of the API. */
  | 'timestamp'
  /** One that is none, and reaches further than 2038 on all servers. */
  | 'datetime'
  /** SHA-256. */
  | 'hash'
  | 'bytes';

/** The action on a row whose parent is deleted, or gets another key. */
type ReferenceAction = 'ON DELETE SET NULL' | 'ON DELETE CASCADE' | 'ON DELETE SET NULL ON UPDATE CASCADE';

export interface OwnColumn {
  readonly type: ColumnType;
  /** Null is refused. */
  readonly required?: boolean;
  readonly key?: boolean;
  readonly unique?: boolean;
  /** A value; the moment of the write (`now`), or one that no other row has (`made`): the next number, a new UUID. */
  readonly default?: string | number | boolean | Made;
  readonly references?: { readonly table: string; readonly column: string; readonly action?: ReferenceAction };
  /** Values that are allowed. */
  readonly among?: readonly string[];
  /** Predicate of other rules. */
  readonly check?: string;
  /** Comment on the column. */
  readonly note?: string;
}

/** Kinds of defaults that differ from row to row. */
export const made = { now: Symbol('now'), key: Symbol('key') } as const;
type Made = (typeof made)[keyof typeof made];

/** A table. Columns without rules are their type alone. */
export interface OwnTable {
  readonly name: string;
  /** Comment on the table. */
  readonly note?: string;
  readonly columns: Readonly<Record<string, OwnColumn | ColumnType>>;
  /** Key of several columns. */
  readonly key?: readonly string[];
  readonly unique?: readonly string[];
  /** Predicate over several columns. */
  readonly check?: string;
  /** Columns of indexes, by their names where these are not those of the column. */
  readonly indexes?: readonly (string | readonly [name: string, ...columns: string[]])[];
}

/** One step from one version of the tables to the next: tables, or a statement. Dialects add what only they need. */
export interface OwnMigration {
  readonly name: string;
  /** In an order in which each refers only to those before it, if possible. */
  readonly tables: readonly OwnTable[];
  readonly up?: string;
  readonly down?: string;
}

export const required = (type: ColumnType, fallback?: OwnColumn['default']): OwnColumn => ({
  ...{ type, required: true },
  ...(fallback !== undefined && { default: fallback }),
});

export const withDefault = (type: ColumnType, fallback: NonNullable<OwnColumn['default']>): OwnColumn => ({
  type,
  default: fallback,
});

/** A key that the server makes. */
export const ownKey = (type: 'uuid' | 'integer' | 'bigint'): OwnColumn => ({ type, key: true, default: made.key });

/** A column that refers to the key of another table, whose type is that of its key. */
export const reference = (table: string, action?: ReferenceAction, type: ColumnType = 'uuid'): OwnColumn => ({
  type,
  references: { table, column: table === 'platform_collections' ? 'collection' : 'id', ...(action && { action }) },
});

export const createdAt = required('datetime', made.now);
