/**
 * The intermediate representation: everything the compiler knows about a database, under a permission configuration.
 *
 * Plain readonly JSON, sorted, referenced by names. `tables` and `enums` are facts read from the catalog; `collections`,
 * `roles` and `permissions` are derived from them and the configuration by pure passes, which may run again on a
 * loaded file. Written to `platform.schema.json`.
 */
import type {
  CollectionDescriptor,
  Condition,
  DeclaredModel,
  Dialect,
  Operand,
  PortableType,
  RowSecurity,
  SoftDelete,
} from '@tablewright/runtime/language';
import type { TableId } from './table-names.ts';
import type { ColumnType, ForeignKey } from './table-parts.ts';

export { type TableId, tableId } from './table-names.ts';
export {
  type ColumnType,
  type ForeignKey,
  isFollowedUnnamed,
  isFollowing,
  type ReferentialAction,
} from './table-parts.ts';

/** The whole IR. */
export interface Schema {
  readonly version: 1;
  /** The database server whose SQL is compiled. */
  readonly dialect: Dialect;
  /** Set where the configuration wants no GraphQL API. */
  readonly graphql?: false;
  /** Set where GraphQL pages through lists by connections. */
  readonly graphqlConnections?: true;
  /** Enums of the GraphQL API, sorted by name. Absent where there are none. */
  readonly graphqlEnums?: readonly GraphqlEnum[];
  /** Digest of roles and rules (`digestPermissions`) where they are those of the platform's own tables. */
  readonly permissionsDigest?: string;
  /** The model as the platform's own tables declare it, if they declare anything. */
  readonly model?: DeclaredModel;
  /** Set where callers are passed on to policies. */
  readonly rowSecurity?: RowSecurity;
  /** Set where no policy binds the role of the connection. */
  readonly seesAllRows?: true;
  /** Sorted by id. Everything in the allowed schemas, also what is hidden by configuration. */
  readonly tables: readonly Table[];
  /** Sorted by schema and name. */
  readonly enums: readonly EnumType[];
  /** Sorted by name. */
  readonly collections: readonly Collection[];
  /** Sorted by name. `public` and `admin` are built in and not listed. */
  readonly roles: readonly Role[];
  /** Sorted by role, collection, action; rules of one action in the order of the file. */
  readonly permissions: readonly Permission[];
  /** Functions and procedures that the configuration names, sorted by name. Absent where there are none. */
  readonly functions?: readonly ServedFunction[];
  /** Rights to call them, sorted by role and function. Absent where there are none. */
  readonly calls?: readonly CallPermission[];
}

/** A relation of the catalog that holds rows. Partitions are not listed: the partitioned table stands for them. */
export interface Table {
  readonly id: TableId;
  readonly schema: string;
  readonly name: string;
  readonly kind: 'table' | 'partitioned' | 'view' | 'materializedView' | 'foreign';
  readonly comment: string | null;
  readonly owner: string;
  readonly rowSecurity: {
    readonly enabled: boolean;
    readonly forced: boolean;
    /** By name; absent where there are none. */
    readonly policies?: readonly Policy[];
  };
  /** Parents by inheritance (not by partitioning). */
  readonly inherits: readonly TableId[];
  /** Set when it also shows the rows of tables that inherit from it, served or not: its keys do not hold for those. */
  readonly inherited?: true;
  /** Actions the database itself allows on the relation: those of a view that can be updated, for example. */
  readonly writable: { readonly insert: boolean; readonly update: boolean; readonly delete: boolean };
  /** Set on views that only triggers write: the database may refuse to lock their rows. */
  readonly unlockable?: true;
  /**
   * Set where triggers or rules, below views too, may change a written row after the write itself has returned it.
   * `hidden`: the server does not show triggers to the user, so there may be some.
   */
  readonly amended?: true | 'hidden';
  /** In catalog order (`attnum`). */
  readonly columns: readonly Column[];
  /**
   * For a view: the primary key of the one table whose rows it shows, if it shows all of its columns. For a
   * materialized view else the shortest unique index whose columns are never null.
   */
  readonly primaryKey: Key | null;
  /** Unique constraints and full, non-partial, expression-free unique indexes that are not the primary key. By name. */
  readonly uniques: readonly Key[];
  /** By name. */
  readonly foreignKeys: readonly ForeignKey[];
  /** Tables with whose rows these change by foreign keys that are not listed; true where it may be any table. */
  readonly follows?: true | readonly TableId[];
  /** Set where its rows take others along in tables that are not listed, whose triggers may change anything. */
  readonly fires?: true;
  /** By name. */
  readonly checks: readonly Check[];
  /** By name. */
  readonly indexes: readonly Index[];
}

/** A policy of row-level security. */
export interface Policy {
  readonly name: string;
  /** False: one that narrows what the others let through. */
  readonly permissive: boolean;
  readonly command: 'all' | 'select' | 'insert' | 'update' | 'delete';
  /** Roles of the database that it is for; `public` is all of them. */
  readonly roles: readonly string[];
  /** Condition of the rows that are seen, and that of written rows. */
  readonly using: string | null;
  readonly check: string | null;
}

/** One column as the catalog has it. */
export interface Column {
  readonly name: string;
  /** As `canonicalTypeSql` of the contract prints it: `bigint`, `numeric(10,2)`, `public.article_status`. */
  readonly nativeType: string;
  readonly type: ColumnType;
  /** Views: false also where the column is traced to a base column that cannot be null. */
  readonly nullable: boolean;
  readonly fill: ColumnFill;
  readonly collation: string | null;
  /** Set when texts that differ may be equal in the column: its collation is not deterministic. */
  readonly folds?: true;
  readonly comment: string | null;
  /** Base column of a view's column, where the catalog has it. */
  readonly source: { readonly table: TableId; readonly column: string } | null;
  /** False for columns of a view that an INSERT or UPDATE cannot set. */
  readonly updatable: boolean;
  /** Set on a field that the configuration makes of a function of the row: the table has no such column. */
  readonly computed?: Routine;
}

/** Source of a column's value that a statement leaves out. `default` keeps the expression's text. */
export type ColumnFill =
  | { readonly kind: 'none' }
  | { readonly kind: 'default'; readonly expression: string }
  | { readonly kind: 'identity'; readonly always: boolean }
  | { readonly kind: 'serial'; readonly sequence: string }
  | { readonly kind: 'generated'; readonly expression: string; readonly stored: boolean };

/** A primary key or unique key. */
export interface Key {
  readonly name: string;
  /** In key order. */
  readonly columns: readonly string[];
  readonly deferrable: boolean;
  readonly nullsNotDistinct: boolean;
}

/** A check that the database enforces, or an exclusion constraint, with the list of values when it says `column IN (…)`. */
export interface Check {
  readonly name: string;
  readonly expression: string;
  readonly columns: readonly string[];
  readonly allowed: { readonly column: string; readonly values: readonly string[] } | null;
}

/** An index; expressions stand as text between parentheses in `columns`. */
export interface Index {
  readonly name: string;
  readonly method: string;
  readonly columns: readonly string[];
  readonly include: readonly string[];
  readonly unique: boolean;
  readonly nullsNotDistinct?: true;
  readonly predicate: string | null;
  /** Distance of an index of vectors, as its operator class names it: `l2`, `ip`, `cosine`, `l1`. */
  readonly distance?: string;
}

/** An enum type. */
export interface EnumType {
  readonly schema: string;
  readonly name: string;
  /** In sort order of the type. */
  readonly labels: readonly string[];
  readonly comment: string | null;
}

/** An enum of the GraphQL API. */
export interface GraphqlEnum {
  /** Name in GraphQL: `article_status_enum`. */
  readonly name: string;
  /** The enum type by its id, or else the column: `public.articles.status`. */
  readonly source: string;
  /** All of them are names of GraphQL. */
  readonly labels: readonly string[];
}

/** Facts that the descriptor of a collection states as they are. */
type DescribedFacts = 'name' | 'singleton' | 'implied' | 'accountability' | 'reads' | 'cache' | 'search';

/** One table in the API. */
export interface Collection extends Pick<CollectionDescriptor, DescribedFacts> {
  readonly table: TableId;
  readonly note: string | null;
  /** Reason why it should not be used any more. */
  readonly deprecated?: string;
  /** Set on collections of the platform itself: the writes that payloads can ask for. */
  readonly system?: { readonly writes: readonly ('create' | 'update' | 'delete')[] };
  /** Field names of the key in key order; empty when there is none. */
  readonly key: readonly string[];
  readonly sort: string | null;
  /** Field by which apps archive items, and its values, as far as they are declared. */
  readonly archive: ({ readonly field: string } & Readonly<Record<'value' | 'unarchiveValue', string | null>>) | null;
  /** Way in which DELETE archives items; absent where it removes them. */
  readonly softDelete?: SoftDelete & { readonly restore?: string };
  /** Rows of the caller's tenant; absent where rows belong to all, and where the configuration has no tenants. */
  readonly tenant?: Condition;
  /** In column order; hidden fields are absent. */
  readonly fields: readonly Field[];
  /** Sorted by name. */
  readonly relations: readonly Relation[];
}

/** One column in the API. */
export interface Field {
  readonly name: string;
  readonly column: string;
  /** Differs from the column's type where the configuration reads it as another (`csv`, `hash`, …). */
  readonly type: PortableType;
  readonly note: string | null;
  /** Reason why it should not be used any more. */
  readonly deprecated?: string;
  readonly required: boolean;
  /** Set on fields of the platform's own collections that the server fills and that are in no input. */
  readonly serverOwned?: true;
  /** Set on geometries that stay in the spatial reference of their column. */
  readonly keepsReference?: true;
}

/** A pair of columns, by their database names. */
export interface JoinPair {
  readonly from: string;
  readonly to: string;
}

/** Way from one collection to another. Names are API names, columns are database names. */
export type Relation = RelationFacts & {
  /** Reason for its deprecation; a many-to-one is deprecated by its field. */
  readonly deprecated?: string;
};

/** Facts of a relation, by its kind. */
export type RelationFacts =
  | {
      readonly kind: 'm2o';
      readonly name: string;
      readonly target: string;
      readonly foreignKey: string;
      readonly on: readonly JoinPair[];
      /** Field of the same name for a single-column foreign key, else null. */
      readonly field: string | null;
      readonly nullable: boolean;
    }
  | {
      readonly kind: 'o2m';
      readonly name: string;
      readonly target: string;
      readonly on: readonly JoinPair[];
      readonly inverse: string;
      readonly single: boolean;
      readonly sort: string | null;
      readonly onDeselect: 'nullify' | 'delete';
      readonly language: string | null;
    }
  | {
      readonly kind: 'm2m';
      readonly name: string;
      readonly target: string;
      readonly junction: string;
      readonly near: readonly JoinPair[];
      readonly far: readonly JoinPair[];
      readonly sort: string | null;
    }
  | {
      readonly kind: 'm2a';
      readonly name: string;
      readonly target: string;
      readonly on: readonly JoinPair[];
      readonly collectionField: string;
      readonly itemField: string;
      readonly allowed: readonly string[];
      readonly sort: string | null;
    };

/** A role of the permission configuration. */
export interface Role {
  readonly name: string;
  readonly description: string | null;
  readonly admin: boolean;
  readonly app: boolean;
  /** Set where it sees the rows of all tenants. */
  readonly exempt?: true;
}

/** One rule of one role. `fields` are resolved names, `*` already expanded to columns and relations that exist now. */
export interface Permission {
  readonly role: string;
  readonly collection: string;
  readonly action: 'create' | 'read' | 'update' | 'delete';
  readonly fields: readonly string[];
  readonly where: Condition;
  /** Null: the written row must still match `where`. Only for create and update. */
  readonly check: Condition | null;
  readonly presets: readonly { readonly field: string; readonly value: Operand }[];
  /** Set on rules for delete that also remove items for good where DELETE archives them. */
  readonly purge?: true;
}

/** A function or procedure of the database. */
export interface Routine {
  readonly schema: string;
  readonly name: string;
  /** `public.place_order(integer, jsonb)`: the types of its arguments. */
  readonly signature: string;
  readonly kind: 'function' | 'procedure';
  /** True if it only reads: it is stable or immutable. */
  readonly reads: boolean;
  /** Set on SECURITY DEFINER: `fixed` where it sets its own `search_path`. */
  readonly definer?: 'fixed' | 'open';
  /** In their order; those of OUT only are members of the result. */
  readonly arguments: readonly RoutineArgument[];
  /** Names of all parameters of a procedure in their order, where calls do not name them. */
  readonly parameters?: readonly string[];
  readonly returns: RoutineResult;
  /** Set where its one argument is a row of a table, which may have no name. */
  readonly row?: TableId;
  /** Reason why it cannot be served, as the end of a sentence. */
  readonly unsupported?: string;
  readonly comment: string | null;
}

/** One value that a function takes or gives. */
export type RoutineValue = Pick<Column, 'name' | 'nativeType' | 'type'>;

/** An argument; `optional` where it has a default. */
export interface RoutineArgument extends RoutineValue {
  readonly optional: boolean;
}

/** Result of a function; `many` is true for a set. */
export type RoutineResult =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'value'; readonly many: boolean; readonly value: RoutineValue }
  | {
      readonly kind: 'rows';
      readonly many: boolean;
      readonly table: TableId;
      readonly members: readonly RoutineValue[];
    }
  | { readonly kind: 'objects'; readonly many: boolean; readonly members: readonly RoutineValue[] };

/** A function in the API. */
export interface ServedFunction {
  /** API name. */
  readonly name: string;
  readonly routine: Routine;
  /** Collection whose rows it returns; their readable items are the answer. */
  readonly collection?: string;
}

/** The right of a role to call a function, with the arguments that the server sets. */
export interface CallPermission {
  readonly role: string;
  readonly function: string;
  readonly args: readonly { readonly name: string; readonly value: Operand }[];
}
