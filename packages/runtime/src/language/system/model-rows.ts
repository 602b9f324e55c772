/** How what a project says about its model is read from the platform's own tables: by the compiler, and by servers. */
import type { JsonValue } from '../values/json.ts';

/** One row of `platform_collections`, `platform_fields` or `platform_relations`, without the number of the row. */
export type DeclaredRow = { readonly [member: string]: JsonValue };

/** Rows of the three tables, sorted. */
export interface DeclaredModel {
  readonly collections: readonly DeclaredRow[];
  readonly fields: readonly DeclaredRow[];
  readonly relations: readonly DeclaredRow[];
  /** SHA-256, in hexadecimal, of all rows and of the migrations that the database has had. */
  readonly digest: string;
}

/** The table in which migrations of the project are written down; made with the first one. */
export const projectLedgerTable = 'platform_project_migrations';

/** Makes it. `schema` is quoted. */
export function createProjectLedgerSql(schema: string): string {
  return `CREATE TABLE IF NOT EXISTS ${schema}.${projectLedgerTable} (
  name varchar(128) PRIMARY KEY,
  checksum char(64) NOT NULL,
  script text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
  version varchar(32) NOT NULL
)`;
}

/** Writes a migration down: name, checksum, text and version. `schema` is quoted. */
export function recordMigrationSql(schema: string): string {
  return `INSERT INTO ${schema}.${projectLedgerTable} (name, checksum, script, version)
VALUES ($1::pg_catalog.text, $2::pg_catalog.text, $3::pg_catalog.text, $4::pg_catalog.text)`;
}

/** Reads name, checksum and text of every migration, by name. `schema` is quoted; the table must exist. */
export function projectMigrationsSql(schema: string): string {
  return `SELECT name::pg_catalog.text, checksum::pg_catalog.text, script::pg_catalog.text
FROM ${schema}.${projectLedgerTable} ORDER BY name COLLATE "C"`;
}

/**
 * Prints whether a name is that of a schema, whose quoted name is a parameter. `to_regclass` would ask less, but fails where
 * the role may not use the schema.
 */
export function isQuotedSchema(name: string, parameter: string): string {
  return `'"' || pg_catalog.replace(${name}::pg_catalog.text, '"', '""') || '"' = ${parameter}::pg_catalog.text`;
}

/**
 * The statement that tells of what a role may read there, as `1` or `0`: the three tables, and the ledger of migrations.
 * Its parameter is the schema, quoted.
 */
export const modelTablesSql: string = `SELECT (pg_catalog.count(*) FILTER (WHERE NOT found.ledger) = 3)::pg_catalog.int4::pg_catalog.text,
  (pg_catalog.count(*) FILTER (WHERE found.ledger) = 1)::pg_catalog.int4::pg_catalog.text
FROM (
  SELECT c.relname = '${projectLedgerTable}' AS ledger
  FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.relname IN ('platform_collections', 'platform_fields', 'platform_relations', '${projectLedgerTable}')
  AND ${isQuotedSchema('n.nspname', '$1')}
  AND pg_catalog.has_table_privilege(c.oid, 'SELECT') AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
) AS found`;

/**
 * The statement that reads what the digest is made of: rows of the three tables as JSON, each with its kind, and of the
 * ledger, where there is one, names and checksums. `schema` is quoted.
 */
export function modelRowsSql(schema: string, hasLedger: boolean): string {
  const part = (kind: string, table: string): string =>
    `SELECT '${kind}'::pg_catalog.text, (pg_catalog.to_jsonb(one) - 'id')::pg_catalog.text COLLATE "C" FROM ${schema}.${table} AS one`;
  const parts = [
    part('collection', 'platform_collections'),
    part('field', 'platform_fields'),
    part('relation', 'platform_relations'),
    ...(hasLedger
      ? [
          `SELECT 'migration'::pg_catalog.text, pg_catalog.jsonb_build_array(one.name, one.checksum)::pg_catalog.text COLLATE "C" FROM ${schema}.${projectLedgerTable} AS one`,
        ]
      : []),
  ];
  return `${parts.join('\nUNION ALL ')}\nORDER BY 1, 2`;
}
