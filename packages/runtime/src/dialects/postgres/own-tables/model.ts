/** The model in the platform's own tables: how servers and the compiler read it, and where migrations of a project are kept. */
import { projectLedgerTable } from '../../../language/index.ts';
import type { ModelParts, ModelTables } from '../../own-tables.ts';

/** Makes the ledger of a project's migrations. `schema` is quoted. */
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

/** True if a name is the schema of a quoted parameter; `to_regclass` fails where the role may not use it. */
function isQuotedSchema(name: string, parameter: string): string {
  return `'"' || pg_catalog.replace(${name}::pg_catalog.text, '"', '""') || '"' = ${parameter}::pg_catalog.text`;
}

/**
 * The statement that tells of what a role may read there, as `1` or `0`: the three tables, and the ledger of migrations.
 * Null means that there is no ledger. Its parameter is the schema, quoted.
 */
const modelTablesSql = `SELECT
  (pg_catalog.count(*) FILTER (WHERE found.may_read AND NOT found.ledger) = 3)::pg_catalog.int4::pg_catalog.text,
  (pg_catalog.bool_or(found.may_read) FILTER (WHERE found.ledger))::pg_catalog.int4::pg_catalog.text
FROM (
  SELECT c.relname = '${projectLedgerTable}' AS ledger,
    pg_catalog.has_table_privilege(c.oid, 'SELECT') AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS may_read
  FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.relname IN ('platform_collections', 'platform_fields', 'platform_relations', '${projectLedgerTable}')
  AND ${isQuotedSchema('n.nspname', '$1')}
) AS found`;

/**
 * The statement that reads what the digest is made of: rows of the three tables as JSON, each with its kind. Names and
 * checksums of the ledger follow, where there is one. `schema` is quoted.
 */
function modelRowsSql(schema: string, hasLedger: boolean): string {
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

/** Reads roles by name: key, name, description, admin and app access as `1` or `0`. `schema` is quoted. */
function roleRowsSql(schema: string): string {
  return `SELECT id::pg_catalog.text, name::pg_catalog.text, description::pg_catalog.text,
  admin_access::pg_catalog.int4::pg_catalog.text, app_access::pg_catalog.int4::pg_catalog.text
FROM ${schema}.platform_roles ORDER BY name COLLATE "C", id`;
}

/**
 * The statement that reads rules in their order: key, key of the role, collection and action. The three parts that are
 * JSON and the fields as csv follow; all are texts or null. `schema` is quoted.
 */
function permissionRowsSql(schema: string): string {
  return `SELECT id::pg_catalog.text, role::pg_catalog.text, collection::pg_catalog.text, action::pg_catalog.text,
  permissions::pg_catalog.text, validation::pg_catalog.text, presets::pg_catalog.text, fields::pg_catalog.text
FROM ${schema}.platform_permissions ORDER BY id`;
}

/** Statement by which transactions take turns that name the same text. */
export function transactionTurn(name = '$1'): string {
  return `SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(${name}::pg_catalog.text, 0))::pg_catalog.text`;
}

/** A table in a schema that the role may not use counts as missing. */
const readablePermissionsSql = `SELECT COALESCE(pg_catalog.bool_and(pg_catalog.has_table_privilege(found.oid, 'SELECT')
  AND pg_catalog.has_schema_privilege(found.relnamespace, 'USAGE')), false) AND pg_catalog.count(*) = 2
FROM pg_catalog.pg_class AS found JOIN pg_catalog.pg_namespace AS n ON n.oid = found.relnamespace
WHERE found.relname IN ('platform_permissions', 'platform_roles') AND ${isQuotedSchema('n.nspname', '$1')}`;

/** The version is a counter that never begins anew. */
const versionKey = "'rules', ''::bytea";

export function postgresModel(schema: string): ModelTables {
  const statements = ({ permissions, model, ledger }: ModelParts): readonly string[] => [
    ...(permissions ? [roleRowsSql(schema), permissionRowsSql(schema)] : []),
    ...(model ? [modelRowsSql(schema, ledger)] : []),
  ];
  return {
    // The transaction gets the time that compiling takes. The server would end it as one that has lost its client, as
    // the session says for all others.
    lock: `SELECT pg_catalog.set_config('idle_in_transaction_session_timeout', '300000', true)
FROM (${transactionTurn()}) AS lock`,
    announce: `WITH raised AS (
  INSERT INTO ${schema}.platform_auth_attempts AS a (purpose, subject, attempts, expires_at)
  VALUES (${versionKey}, 1, 'infinity')
  ON CONFLICT (purpose, subject) DO UPDATE SET attempts = a.attempts % 1000000000 + 1
)
SELECT pg_catalog.pg_notify($1::pg_catalog.text, $2::pg_catalog.text)::pg_catalog.text`,
    version: `SELECT attempts::pg_catalog.text FROM ${schema}.platform_auth_attempts WHERE (purpose, subject) = (${versionKey})`,
    readable: [modelTablesSql, [schema]],
    mayBeHidden: async () => false,
    async arePermissionsReadable(run) {
      const [row] = await run(readablePermissionsSql, [schema]);
      return /^t(rue)?$/.test(row?.[0] ?? '');
    },
    migrations: projectMigrationsSql(schema),
    // Migrations are transactions, so none is half done.
    underWay: null,
    roles: roleRowsSql(schema),
    rules: permissionRowsSql(schema),
    rows: (hasLedger) => modelRowsSql(schema, hasLedger),
    mark: (parts) => postgresMark(statements(parts)),
  };
}

function postgresMark(statements: readonly string[]): string {
  const parts = statements.map(
    (text) => `(SELECT pg_catalog.md5(pg_catalog.string_agg(one::pg_catalog.text, E'\\n')) FROM (${text}) AS one)`,
  );
  return `SELECT pg_catalog.concat_ws(' ', ${["'mark'", ...parts].join(', ')})`;
}
