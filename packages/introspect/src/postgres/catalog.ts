/**
 * The rows of PostgreSQL's catalog as the database reports them, in PostgreSQL's own words.
 *
 * Object identifiers are texts. They hold within one catalog only: nothing is sorted by them and none reaches the IR.
 * Fields are explained in the manual, chapter "System Catalogs", under the name they have there.
 */

/** The oldest server that is read, as `server_version_num`: 14. */
export const oldestVersion = 140000;

/** Everything that is read of one database, plain JSON, its rows in no particular order. */
export interface Catalog extends CatalogRows {
  /** `server_version_num`: 180004 is 18.4. */
  readonly version: number;
  readonly selection: Selection;
  /** Functions and procedures of the allowed schemas; absent where none was asked for. */
  readonly functions?: FunctionCatalog;
}

/** Functions and procedures, and the types that they take and return. */
export interface FunctionCatalog {
  readonly functions: readonly FunctionRow[];
  readonly types: readonly TypeRow[];
}

/** `pg_proc` without functions of extensions. */
export interface FunctionRow {
  readonly nspname: string;
  readonly proname: string;
  /** `f` function, `p` procedure, `a` aggregate, `w` window function. */
  readonly prokind: string;
  /** `i` immutable, `s` stable, `v` volatile. */
  readonly provolatile: string;
  readonly prosecdef: boolean;
  /** True if it sets a `search_path` of its own. */
  readonly ownPath: boolean;
  readonly proretset: boolean;
  readonly variadic: boolean;
  readonly prorettype: string;
  /** As `canonicalTypeSql` prints it. */
  readonly resultType: string;
  /** In their order; mode `i` in, `o` out, `b` both, `v` variadic, `t` column of a table. */
  readonly parameters: readonly {
    readonly name: string | null;
    readonly mode: string;
    readonly type: string;
    readonly nativeType: string;
    /** Schema and name of the table or view whose rows it takes. */
    readonly row: readonly [string, string] | null;
  }[];
  /** Number of input parameters with a default, which are the last. */
  readonly pronargdefaults: number;
  /** Table, view or composite type whose rows it returns. */
  readonly relationSchema: string | null;
  readonly relation: string | null;
  /** Columns of that relation. */
  readonly attributes:
    | readonly {
        readonly name: string;
        readonly type: string;
        readonly typmod: number;
        readonly nativeType: string;
      }[]
    | null;
  readonly description: string | null;
}

/** The part of the database that was asked for. Patterns are `name` or `schema.name`, with `*` for any characters. */
export interface Selection {
  /** Null: every schema that is not PostgreSQL's own. */
  readonly schemas: readonly string[] | null;
  /** Null: every relation. */
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[];
  /** Schema of the platform's own tables, which are always read. */
  readonly system: string;
}

/** The rows by kind. */
export interface CatalogRows {
  readonly namespaces: readonly NamespaceRow[];
  readonly relations: readonly RelationRow[];
  readonly columns: readonly ColumnRow[];
  readonly constraints: readonly ConstraintRow[];
  readonly indexes: readonly IndexRow[];
  readonly inherits: readonly InheritsRow[];
  readonly rules: readonly RuleRow[];
  readonly types: readonly TypeRow[];
  readonly objects: readonly ObjectRow[];
}

/** `pg_namespace` without PostgreSQL's own schemas and those of temporary objects. */
export interface NamespaceRow {
  readonly nspname: string;
  /** True when the schema is one of those asked for. */
  readonly allowed: boolean;
}

/** `pg_class` of relations with rows: in the allowed schemas, or read by a view there. */
export interface RelationRow {
  readonly oid: string;
  readonly nspname: string;
  readonly relname: string;
  /** `r` table, `p` partitioned table, `v` view, `m` materialized view, `f` foreign table. */
  readonly relkind: string;
  readonly allowed: boolean;
  readonly owner: string;
  readonly relrowsecurity: boolean;
  readonly relforcerowsecurity: boolean;
  /** Policies of a table under row-level security; null for every other. */
  readonly security: SecurityRow | null;
  readonly relispartition: boolean;
  readonly extension: string | null;
  readonly description: string | null;
  /** `pg_relation_is_updatable` without and with triggers: 4 update, 8 insert, 16 delete. */
  readonly updatable: number;
  readonly updatableByTriggers: number;
  /** The views that a view reads, where they are too many on top of each other; null for every other relation. */
  readonly towersOver: readonly string[] | null;
}

/** Row-level security of a table as the role of the connection meets it. */
export interface SecurityRow {
  readonly role: string;
  /** `row_security_active`: false for superusers, BYPASSRLS, and owners without FORCE. */
  readonly active: boolean;
  readonly bypasses: boolean;
  readonly policies: readonly PolicyRow[];
}

/** `pg_policy` of a table. */
export interface PolicyRow {
  readonly polname: string;
  readonly polpermissive: boolean;
  /** `r` select, `a` insert, `w` update, `d` delete, `*` all. */
  readonly polcmd: string;
  /** Names of the roles that it is for; `public` is all of them. */
  readonly roles: readonly string[];
  /** True if it is for the role of the connection. */
  readonly applies: boolean;
  readonly using: string | null;
  readonly check: string | null;
}

/** `pg_attribute` of these relations. Those of partitions are read only when a view names the partition. */
export interface ColumnRow {
  readonly attrelid: string;
  readonly attnum: number;
  readonly attname: string;
  readonly atttypid: string;
  readonly atttypmod: number;
  readonly attnotnull: boolean;
  /** `` none, `a` always, `d` by default. */
  readonly attidentity: string;
  /** `` none, `s` stored, `v` virtual (from 18). */
  readonly attgenerated: string;
  /** As `canonicalTypeSql` prints it. */
  readonly nativeType: string;
  /** Text of the default or of the generation expression. */
  readonly expression: string | null;
  /** Sequence that the column owns and its default reads. */
  readonly sequence: ObjectName | null;
  /** Collation other than the type's own. */
  readonly collation: ObjectName | null;
  /** False: texts that differ may be equal in this column. */
  readonly collisdeterministic: boolean;
  readonly description: string | null;
  readonly isUpdatable: boolean;
  /** True if the role of the connection may read it. */
  readonly isReadable: boolean;
}

/** A name with its schema. */
export interface ObjectName {
  readonly nspname: string;
  readonly name: string;
}

/** `pg_constraint` of tables. For partitions only the foreign keys that are their own. */
export interface ConstraintRow {
  readonly conrelid: string;
  readonly conname: string;
  /** `p` primary key, `u` unique, `f` foreign key, `c` check, `x` exclusion, `n` not null that is not valid (from 18), `t` trigger. */
  readonly contype: string;
  readonly conkey: readonly number[] | null;
  readonly confrelid: string;
  readonly confkey: readonly number[] | null;
  readonly confupdtype: string;
  readonly confdeltype: string;
  readonly confmatchtype: string;
  /** Columns that ON DELETE SET … is limited to (from 15). */
  readonly confdelsetcols: readonly number[] | null;
  readonly condeferrable: boolean;
  readonly condeferred: boolean;
  readonly convalidated: boolean;
  /** True for a check that does not hold in the tables that inherit. */
  readonly connoinherit: boolean;
  /** False: NOT ENFORCED (from 18). */
  readonly conenforced: boolean;
  /** True: WITHOUT OVERLAPS or PERIOD (from 18). */
  readonly conperiod: boolean;
  readonly indnullsnotdistinct: boolean;
  /** Expression of a check, definition of an exclusion constraint. */
  readonly expression: string | null;
  /** Target of a foreign key and the names of its columns in key order: it may lie outside what was read. */
  readonly target: (ObjectName & { readonly columns: readonly string[] }) | null;
}

/** `pg_index`. Key columns come first in `keys`. */
export interface IndexRow {
  readonly indrelid: string;
  readonly relname: string;
  readonly amname: string;
  readonly indisunique: boolean;
  readonly indisvalid: boolean;
  readonly indimmediate: boolean;
  readonly indnullsnotdistinct: boolean;
  readonly indnkeyatts: number;
  /** Column numbers, 0 for an expression. */
  readonly indkey: readonly number[];
  /** SQL of every column or expression. */
  readonly keys: readonly string[];
  readonly predicate: string | null;
  /** Operator class of the first column where an extension brought the method. */
  readonly opclass: string | null;
  /** True when a primary key, unique or exclusion constraint stands on it. */
  readonly ofConstraint: boolean;
}

/** `pg_inherits`: inheritance and partitioning. */
export interface InheritsRow {
  readonly inhrelid: string;
  readonly inhparent: string;
  readonly inhseqno: number;
  readonly child: ObjectName;
  readonly parent: ObjectName;
  /** True: the child is a partition. */
  readonly relispartition: boolean;
}

/** `pg_rewrite`, the definitions of views: `action` is the query as PostgreSQL's node tree. */
export interface RuleRow {
  readonly ev_class: string;
  readonly action: string;
}

/** `pg_type`: every type that the columns lead to, and those of the allowed schemas. */
export interface TypeRow {
  readonly oid: string;
  readonly nspname: string;
  readonly typname: string;
  /** `b` base, `c` composite, `d` domain, `e` enum, `p` pseudo, `r` range, `m` multirange. */
  readonly typtype: string;
  /** Element type of a true array, else null. */
  readonly element: string | null;
  readonly typbasetype: string;
  readonly typtypmod: number;
  readonly typnotnull: boolean;
  readonly typdefault: string | null;
  readonly extension: string | null;
  readonly extversion: string | null;
  /** True when the type lies in an allowed schema and was made there by itself (not the row type of a table). */
  readonly allowed: boolean;
  readonly labels: readonly string[] | null;
  /** Members of a composite type that is no table's, in their order. */
  readonly attributes: readonly AttributeRow[] | null;
  readonly checks: readonly DomainCheck[] | null;
  readonly description: string | null;
}

/** A member of a composite type. */
export interface AttributeRow {
  readonly name: string;
  readonly type: string;
  readonly typmod: number;
  readonly nativeType: string;
}

/** A check of a domain; the value stands as `VALUE` in the expression. */
export interface DomainCheck {
  readonly conname: string;
  readonly expression: string;
  readonly convalidated: boolean;
}

/** An object that has no place in the IR and is only named: a sequence, a function, a trigger, a policy … */
export interface ObjectRow {
  readonly nspname: string;
  /** Table it is attached to, for triggers, policies, rules and extended statistics. */
  readonly relation: string | null;
  /** Kind of the object, in the singular: `trigger`. */
  readonly kind: string;
  readonly name: string;
}
