import type { Operand } from '../conditions/condition.ts';
import type { Dialect } from '../dialects.ts';
import type { JsonValue } from '../values/parse-text.ts';
import type { AccessClass } from './access.ts';
import type { CollectionDescriptor } from './collection.ts';
import type { CustomRoute, Extension } from './extension.ts';
import type { FunctionDescriptor } from './function.ts';
import type { GraphqlScope } from './graphql-names.ts';

/** One operation of the compiled REST API on one collection. */
export interface Route {
  readonly method: 'GET' | 'SEARCH' | 'POST' | 'PATCH' | 'DELETE';
  readonly operation: 'list' | 'search' | 'read' | 'create' | 'update' | 'delete';
  readonly collection: CollectionDescriptor;
  readonly byKey: boolean;
}

/** An operation of a document that was compiled with the API. */
export interface KnownOperation {
  readonly name: string;
  /** The role that asks it, and the access class and scope that it is asked in. */
  readonly role: string;
  readonly accessClass: string;
  readonly scope: GraphqlScope;
  /** SHA-256 of its text, in hexadecimal. */
  readonly hash: string;
}

/**
 * Number of what generated code and the runtime agree on. It rises whenever files that were generated before no longer
 * work with the runtime; `manifest.json` of the generated files has it, too.
 */
export const contract = 3;

/** Changes that the database makes beside the rows of a statement. All tables are quoted, as descriptors name them. */
export interface CachedTables {
  /** Tables whose rows change with others: views, foreign and inherited tables, those with policies or computed fields. */
  readonly derived: readonly string[];
  /** Tables whose writes may change any other: by triggers, or through a view. */
  readonly unbounded: readonly string[];
  /** Tables whose rows go or change with those of a table that are deleted, by foreign keys. */
  readonly cascades: Readonly<Record<string, readonly string[]>>;
  /** The same with those whose keys change; absent in files of before, where both are one. */
  readonly keyCascades?: Readonly<Record<string, readonly string[]>>;
}

/** Everything that generated code hands to the runtime. */
export interface CompiledApi {
  /** The contract that the files were generated for; the runtime refuses every other. */
  readonly contract: number;
  readonly dialect: Dialect;
  readonly collections: readonly CollectionDescriptor[];
  readonly access: readonly AccessClass[];
  readonly routes: readonly Route[];
  readonly fingerprint: Fingerprint;
  /**
   * Digest of roles and rules as they were compiled from the platform's own tables, so that a server knows if these
   * have changed since. Default: they come from a file.
   */
  readonly permissionsDigest?: string;
  /** `DeclaredModel.digest` of the platform's own tables when it was compiled. Default: nothing. */
  readonly modelDigest?: string;
  /** Functions and procedures of the database, sorted by name. Default: none. */
  readonly functions?: readonly FunctionDescriptor[];
  /** Default: callers are not passed on to the database. */
  readonly rowSecurity?: RowSecurity;
  /** Facts for tags of answers. Default: no collection lets shared caches keep answers. */
  readonly caching?: CachedTables;
  /** Extensions: the project's own code. Default: none. */
  readonly extensions?: readonly Extension[];
  /** The routes of the extensions, as their types say. Default: none. */
  readonly customRoutes?: readonly CustomRoute[];
  /** Data of the model endpoints for an access class, by its name; read when asked for. */
  readonly model: (accessClass: string) => Promise<ModelDocument>;
  /** OpenAPI documents of access classes by their names. Read when asked for, so start stays cheap. */
  readonly openapi: (accessClass: string) => Promise<JsonValue>;
  /**
   * The GraphQL schema of an access class as text, both scopes in one (`graphqlRootTypes`), by the class's name; read when
   * asked for. Absent where the configuration wants no GraphQL.
   */
  readonly graphql?: (accessClass: string) => Promise<string>;
  /** The documents that were compiled with the API, each by the SHA-256 of its text in hexadecimal. Default: none. */
  readonly graphqlDocuments?: () => Promise<Readonly<Record<string, string>>>;
  /** The operations of these documents, by role and name. Default: none. */
  readonly graphqlOperations?: () => Promise<readonly KnownOperation[]>;
}

/**
 * Parts of the database that the compiled API relies on. Compared with the live catalog at start and on a timer; a
 * difference closes the collections that use the object and is reported by name.
 */
export interface Fingerprint {
  /** SHA-256 over `objects` as canonical JSON, hexadecimal. */
  readonly hash: string;
  /** Sorted by schema and name. */
  readonly objects: readonly FingerprintObject[];
}

/** A relation of the catalog (table, view, …) with the columns that the compiled API uses. */
export interface FingerprintObject {
  readonly schema: string;
  readonly name: string;
  /** `pg_class.relkind`. */
  readonly kind: string;
  /** Collections that read or write it: those that close when it drifts. */
  readonly collections: readonly string[];
  /** True if it is switched on; `unbound` where no policy binds the role of the connection. */
  readonly rowSecurity: boolean | 'unbound';
  /** Column names of the primary key in key order; empty when there is none. */
  readonly key: readonly string[];
  readonly columns: readonly FingerprintColumn[];
}

/** A table or view by its names, as the catalog has them. */
export type NamedTable = Pick<FingerprintObject, 'schema' | 'name'>;

/** An object of a fingerprint as the database has it now, with all of its columns. */
export type LiveObject = Omit<FingerprintObject, 'collections'>;

/** Composite types within composite types, arrays and domains aside, that are looked into at most. */
export const deepestMember = 8;

/** One used column. `labels` are those of its enum type in order, also for arrays of an enum. */
export interface FingerprintColumn {
  readonly name: string;
  /** As `canonicalTypeSql` prints it. */
  readonly type: string;
  readonly nullable: boolean;
  readonly labels?: readonly string[];
  /** Members of its composite type in their order, each before those of its own type; also for arrays of such. */
  readonly members?: readonly FingerprintMember[];
}

/** A member of a composite type: the path to the value that has it, its name, and its type as that of a column. */
export type FingerprintMember = readonly [path: string, name: string, type: string];

/**
 * SQL that prints a column's type independently of the search path.
 *
 * Expects the aliases `a` (pg_attribute), `t` (its pg_type) and `tn` (the type's pg_namespace). Built-in types print as
 * `format_type` does, all others as `schema.name` with the modifier when there is one.
 */
export const canonicalTypeSql = `CASE WHEN tn.nspname = 'pg_catalog' THEN pg_catalog.format_type(a.atttypid, a.atttypmod)
  ELSE pg_catalog.quote_ident(tn.nspname) || '.' || pg_catalog.quote_ident(t.typname)
    || CASE WHEN a.atttypmod = -1 THEN '' ELSE '(' || a.atttypmod || ')' END END`;

/** Settings that pass callers on to policies of row-level security. */
export interface RowSecurity {
  /** Setting of the database that holds the claims of the caller as JSON. */
  readonly claims: string;
  /** Roles of the database by role of the API. Default: the role of the connection for all. */
  readonly roles?: Readonly<Record<string, string>>;
  /** Claims beside `sub` and `role`, by name; names that begin with `/` are paths of nested ones. */
  readonly extraClaims?: Readonly<Record<string, Operand>>;
}

/** Bytes that the claims of a caller may have. */
export const maxClaimsBytes = 4_096;

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
