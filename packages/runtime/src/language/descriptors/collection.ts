import type { Condition } from '../conditions/condition.ts';
import type { WireForm } from '../types/definition.ts';
import type { ComputedValue } from '../types/index.ts';
import type { ValueType } from '../values/value-type.ts';

/** A constant that the database fills a column with, in its text form; `type` is the column's, ready for SQL. */
export interface ConstantDefault {
  readonly text: string;
  readonly type: string;
}

/** A column-backed field of a collection, as generated code states it. */
export interface FieldDescriptor extends ValueType {
  /** API name. */
  readonly name: string;
  /** Quoted column name, ready for SQL: `"author_id"`. */
  readonly column: string;
  /**
   * Type that parameters compared with this column are cast to, ready for SQL: `int8`, `"public"."article_status"`.
   * The expression compared is `column` with `comparison` appended (for example `::text` for `citext`).
   */
  readonly native: string;
  readonly comparison?: string;
  /**
   * Type that a value is cast to when it is written, ready for SQL, where the server does not take `native` for it. It
   * may be an expression with `{}` in the value's place.
   */
  readonly stored?: string;
  readonly wire: WireForm;
  /** SQL that gives a text the column's collation for its index, `{}` being the text. Absent where none is needed. */
  readonly collated?: string;
  /** Set when texts that differ may be equal in the column; filters and keys tell them apart all the same. */
  readonly folds?: true;
  /** Set also on the key of a collection with items that are no rows. */
  readonly nullable: boolean;
  /** Allowed values: labels of an enum, also those of an array's elements, or the list of a `CHECK (col IN (…))`. */
  readonly values?: readonly string[];
  /** Composite type of the values, or of an array's elements: `public.address`. */
  readonly composite?: string;
  /** Source of the column's value when the caller gives none. Absent: a value is required unless `nullable`. */
  readonly filled?: 'default' | 'identity' | 'generated';
  /**
   * Set where the default is an identifier of the database's making that can be guessed. Those tell the time and the
   * machine, so new items get a random one (UUID, version 4) in its place.
   */
  readonly random?: true;
  /** SQL of the value that the database fills in, for an item of a batch that leaves the field to it. */
  readonly fallback?: string;
  /** SQL that computes a generated column from others of its row: every second part is one of these, quoted. */
  readonly formula?: readonly string[];
  /** Set when the configuration requires a value that the database does not. */
  readonly required?: true;
  /** On singletons, which read as their defaults before the first write: the default when it is a constant. */
  readonly default?: ConstantDefault;
  /**
   * False when no payload can write it. Such are generated columns, columns of views that cannot be updated, unknown
   * types, and fields of the platform's own collections that the server fills.
   */
  readonly writable: boolean;
  /** SQL that computes the value: `column` is only its name in subqueries. */
  readonly computed?: ComputedValue;
  /** Set where an index has the parts of the texts, so that it finds those that contain one. */
  readonly trigrams?: true;
  /** Smallest and largest integer, where the column holds fewer than its type does. It takes 0 to 99 in any case. */
  readonly limits?: readonly [number, number];
  readonly maxLength?: number;
  readonly precision?: number;
  readonly scale?: number;
}

/** Constraint of the database, by the name in its errors: a unique key, a foreign key or a check. */
export interface ConstraintDescriptor {
  readonly name: string;
  readonly type: 'unique' | 'foreign_key' | 'check';
  /** API names of its fields; columns that are no fields are left out. */
  readonly fields: readonly string[];
  /** Set when columns were left out, so that the fields alone are not unique. */
  readonly incomplete?: true;
  /** Set on a check that other rows decide: a unique index of some rows or expressions, or an exclusion. */
  readonly exclusive?: true;
  /** For a foreign key: the collection that it leads to, when there is one. */
  readonly target?: string;
  /** Set on a foreign key that rows may break: one that is NOT VALID or NOT ENFORCED. */
  readonly unchecked?: true;
  /** Set on a foreign key whose check may wait for COMMIT. */
  readonly deferrable?: true;
  /** Set on such a key whose check waits unless a transaction says otherwise. */
  readonly deferred?: true;
}

/** Mark of a row whose item is archived: by any time, or by a value. */
export interface SoftDelete {
  readonly field: string;
  readonly value?: string;
}

/** One pair of columns that join two tables, quoted and ready for SQL. */
export interface ColumnPair {
  readonly from: string;
  readonly to: string;
  /** In a link that is no relation: how the database computes `from` out of others, as `FieldDescriptor` has it. */
  readonly formula?: readonly string[];
}

/** Fields shared by every kind of relation. `name` is the API name under which the owning collection reads it. */
interface RelationBase {
  readonly name: string;
  /** API name of the collection that is read; for `m2a` it is the link collection. */
  readonly target: string;
}

/**
 * The owner holds the key of one target. `field` is the column-backed field of the same name, absent for a composite
 * foreign key (then the value is an object of the key fields). `on` pairs owner columns with target columns.
 */
export interface ManyToOne extends RelationBase {
  readonly kind: 'm2o';
  readonly on: readonly ColumnPair[];
  readonly field?: string;
  readonly nullable: boolean;
}

/** Rows of the target that hold the owner's key. `on` pairs owner columns with target columns. */
export interface OneToMany extends RelationBase {
  readonly kind: 'o2m';
  readonly on: readonly ColumnPair[];
  /** True when the foreign key is unique: at most one row. */
  readonly single?: true;
  /** API name of the m2o on the target whose inverse this is. */
  readonly inverse: string;
  /** Sort field of the target for this relation. */
  readonly sort?: string;
  /** Quoted columns that follow those of `on` in an index, which so gives the order of a list. */
  readonly ordered?: readonly string[];
  readonly onDeselect: 'nullify' | 'delete';
  /** Set on translations: the m2o field of the target that points at the languages. */
  readonly language?: string;
}

/** Targets reached through a junction. `near` pairs owner with junction columns, `far` junction with target columns. */
export interface ManyToMany extends RelationBase {
  readonly kind: 'm2m';
  /** Collection name of the junction. */
  readonly junction: string;
  /** Quoted, qualified table of the junction. */
  readonly junctionTable: string;
  readonly near: readonly ColumnPair[];
  readonly far: readonly ColumnPair[];
  /** Set when the database makes sure that every link leads to a target, and hides none: there are as many of both. */
  readonly unbroken?: true;
  /** Set when at most one link leads from an item to a target. */
  readonly paired?: true;
  /**
   * Fields of the target that have an index of their own, where the junction has one of both sides. If few targets have
   * a value, the links are found by them. Absent where there are none.
   */
  readonly sought?: readonly string[];
  /** Sort field of the junction. */
  readonly sort?: string;
}

/** Link rows that name a collection and a key in it. `on` pairs owner columns with link columns. */
export interface ManyToAny extends RelationBase {
  readonly kind: 'm2a';
  readonly on: readonly ColumnPair[];
  readonly collectionField: string;
  readonly itemField: string;
  readonly allowed: readonly string[];
  readonly sort?: string;
  /** Quoted columns that follow those of `on` in an index, which so gives the order of a list. */
  readonly ordered?: readonly string[];
}

/** A relation of a collection, told apart by `kind`. */
export type RelationDescriptor = ManyToOne | OneToMany | ManyToMany | ManyToAny;

/** Search for words by an index. */
export interface SearchDescriptor {
  /** Fields that the words are of: who cannot read each of them on every row searches without the index. */
  readonly fields: readonly string[];
  readonly language: string;
  /** SQL of the indexed document, with quoted columns in braces. */
  readonly document: string;
}

/** Facts of a collection, as generated code states them: API names, and texts for SQL quoted by the compiler. */
export interface CollectionDescriptor {
  readonly name: string;
  /** Quoted and qualified: `"public"."articles"`. */
  readonly table: string;
  /** Set on views and foreign tables: nothing tells how long it takes to find a row by its key. */
  readonly opaque?: true;
  /** Set where rows of child tables appear: a key may find several. */
  readonly inherited?: true;
  /** API names of the key fields in key order; empty for a table without a key, which can only be listed. */
  readonly key: readonly string[];
  readonly singleton: boolean;
  /** Set on collections of the platform itself: they have routes and services of their own, and none below `/items`. */
  readonly system?: true;
  /**
   * Roles whose rules by app access are items of lists beside the rows of the table, by their names. These items have no
   * key. Absent where all items are rows.
   */
  readonly implied?: readonly string[];
  /** History that is kept of its changes when it is not everything: activity without revisions, or nothing. */
  readonly accountability?: 'activity' | 'none';
  /** Rows of the caller's tenant, for classes that do not see all; absent where rows belong to all tenants. */
  readonly tenant?: Condition;
  /** Set where replicas may answer reads whose rules look at other tables. */
  readonly reads?: 'replica';
  /** Seconds for which shared caches may keep answers to requests without a token. Default: none are kept. */
  readonly cache?: { readonly public: number };
  /** Set where DELETE archives items: it sets this field, to the time where there is no value. */
  readonly softDelete?: SoftDelete;
  /** Field that orders lists by default, before the key. */
  readonly sort?: string;
  /** Set where `search` looks for words by an index. */
  readonly search?: SearchDescriptor;
  /** False for views and materialized views that cannot be written. */
  readonly writable: boolean;
  /** Set where policies of the database may hide rows from a caller whom rules show all. */
  readonly policies?: true;
  /** Set on views that only triggers write: the database may refuse to lock their rows. */
  readonly unlockable?: true;
  /** Set where triggers or rules may change a row behind what the write itself returns, so that it has to be read again. */
  readonly amended?: true;
  /** In the order of the table's columns. */
  readonly fields: readonly FieldDescriptor[];
  /** m2o relations carry the name of their foreign-key field; all other names are no field's. Sorted by name. */
  readonly relations: readonly RelationDescriptor[];
  /** Foreign keys that writes set and that are no relations, by the names of their constraints; absent where there are none. */
  readonly links?: readonly ManyToOne[];
  /** Sorted by name; absent where nothing can be written. */
  readonly constraints?: readonly ConstraintDescriptor[];
}

/** A link of a many-to-any as payloads have it: `Set` are the fields that it, or the item above, stands for. */
export type LinkTo<Link, Set extends PropertyKey, Collection extends string, Item> = Omit<Link, Set> & {
  readonly collection: Collection;
  readonly item: Item;
};

/** Changes of a to-many relation that leave everything unlisted as it is. */
export interface ManyChanges<Key, Create, Update> {
  readonly create?: readonly Create[];
  readonly update?: readonly Update[];
  /** Items that are made, or changed where there is one with their key. */
  readonly upsert?: readonly (Create | Update)[];
  readonly delete?: readonly Key[];
}
