/** The ledger: the migrations that a database has, with the checksums of their texts. */
import type { MigrationConnection } from '../database/migration-connection.ts';
import { checksumOf, type Migration, MigrationError } from './migration.ts';

/** Runs migrations on one family of servers. Every function rejects with a `MigrationError` that contains advice. */
export interface Migrator {
  /** Refuses a database in which the tables cannot be made. */
  check(): Promise<void>;
  /** The ledger in the order of the migrations; null when there is none. */
  read(): Promise<readonly AppliedMigration[] | null>;
  /** Applies the first migration that the database lacks, under the lock, and gives it; null when there is none. */
  applyNext(migrations: readonly Migration[]): Promise<Migration | null>;
  /** Undoes the last one in the same way. */
  undoLast(migrations: readonly Migration[]): Promise<Migration | null>;
}

/** One row of the ledger. */
export interface AppliedMigration {
  readonly id: number;
  readonly name: string;
  readonly checksum: string;
  /** ISO 8601 in UTC, as the database prints it. */
  readonly appliedAt: string;
  /** Version of the platform that applied it. */
  readonly version: string;
}

/** Makes the ledger, which no migration does because each is written into it. */
export const createLedgerSql = `
CREATE TABLE platform_migrations (
  id integer PRIMARY KEY,
  name varchar(64) NOT NULL,
  checksum char(64) NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now(),
  version varchar(32) NOT NULL
)`;

/** Reads if the schema exists, if the ledger exists, and if this connection may read it. */
const ledgerStateSql = `
SELECT n.oid IS NOT NULL, c.oid IS NOT NULL,
  c.oid IS NOT NULL AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
    AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
FROM (VALUES ($1::text)) AS wanted(schema)
LEFT JOIN pg_catalog.pg_namespace AS n ON n.nspname = wanted.schema
LEFT JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = 'platform_migrations'`;

/** State of a ledger. */
interface LedgerState {
  readonly hasSchema: boolean;
  readonly hasLedger: boolean;
  readonly isReadable: boolean;
}

/** Looks whether there is a ledger in a schema. */
export async function findLedger(connection: Pick<MigrationConnection, 'query'>, schema: string): Promise<LedgerState> {
  const [row = []] = await connection.query(ledgerStateSql, [schema]);
  const [hasSchema = false, hasLedger = false, isReadable = false] = row.map((value) => /^t(rue)?$/.test(value ?? ''));
  return { hasSchema, hasLedger, isReadable };
}

/** Reads the ledger of a schema, in the order of the migrations. It must exist. */
export async function readLedger(
  connection: Pick<MigrationConnection, 'query'>,
  schema: string,
): Promise<readonly AppliedMigration[]> {
  const rows = await connection.query(
    `SELECT id::text, name, checksum,
       pg_catalog.to_char(applied_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), version
     FROM ${quoteName(schema)}.platform_migrations ORDER BY id`,
    [],
  );
  return rows.map(([id, name, checksum, appliedAt, version]) => ({
    id: Number(id),
    name: name ?? '',
    checksum: checksum ?? '',
    appliedAt: appliedAt ?? '',
    version: version ?? '',
  }));
}

/**
 * The migrations that a ledger lacks, in their order.
 *
 * Throws a `MigrationError` when the ledger holds one that is unknown here (`ahead`) or was made from another text
 * (`changed`).
 */
export function pendingAfter(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  checksum: (migration: Migration) => string = checksumOf,
): readonly Migration[] {
  const byId = new Map(migrations.map((migration) => [migration.id, migration]));
  for (const row of applied) {
    const migration = byId.get(row.id);
    if (migration === undefined) throw ahead(row);
    if (checksum(migration) !== row.checksum) throw changed(row);
  }
  const done = new Set(applied.map(({ id }) => id));
  return migrations.filter(({ id }) => !done.has(id));
}

function ahead({ id, name, version }: AppliedMigration): MigrationError {
  return new MigrationError(
    'ahead',
    `The platform's tables are newer than this version: version ${version} applied the migration ${id} "${name}".`,
    `Run version ${version} or a later one. Tables go forward only: an older version needs a backup from before.`,
  );
}

/** A migration that was applied from another text than the one that is here. */
export function changed({ id, name, version, appliedAt }: AppliedMigration): MigrationError {
  return new MigrationError(
    'changed',
    `The migration ${id} "${name}" is not the one that was applied on ${appliedAt} by version ${version}: its checksum differs.`,
    'A released migration never changes: restore its text, and put the change into a migration of its own.',
  );
}

/** A name as SQL writes it. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
