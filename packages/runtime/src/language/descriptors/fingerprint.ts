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
  readonly rowSecurity: boolean;
  /** Column names of the primary key in key order; empty when there is none. */
  readonly key: readonly string[];
  readonly columns: readonly FingerprintColumn[];
}

/** An object of a fingerprint as the database has it now, with all of its columns. */
export type LiveObject = Omit<FingerprintObject, 'collections'>;

/** One used column. `labels` are those of its enum type in order, also for arrays of an enum. */
export interface FingerprintColumn {
  readonly name: string;
  /** As `canonicalTypeSql` prints it. */
  readonly type: string;
  readonly nullable: boolean;
  readonly labels?: readonly string[];
}

/**
 * SQL that prints a column's type independently of the search path.
 *
 * Expects the aliases `a` (pg_attribute), `t` (its pg_type) and `tn` (the type's pg_namespace). Built-in types print as
 * `format_type` does, all others as `schema.name` with the modifier when there is one.
 */
export const canonicalTypeSql = `CASE WHEN tn.nspname = 'pg_catalog' THEN pg_catalog.format_type(a.atttypid, a.atttypmod)
  ELSE pg_catalog.quote_ident(tn.nspname) || '.' || pg_catalog.quote_ident(t.typname)
    || CASE WHEN a.atttypmod = -1 THEN '' ELSE '(' || a.atttypmod || ')' END END`;
