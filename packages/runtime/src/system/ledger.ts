/** The ledger: the migrations that a database has, with the checksums of their texts. */

import { hash } from 'node:crypto';
import type { MigrationConnection } from '../database/database.ts';
import { quoteName } from '../language/index.ts';

/** Runs migrations on one family of servers. Every function rejects with a `MigrationError` that contains advice. */
export interface Migrator {
  /** Refuses a database in which the tables cannot be made. */
  check(): Promise<void>;
  /** The ledger in the order of the migrations; null when there is none. */
  read(): Promise<readonly AppliedMigration[] | null>;
  /** Applies the first migration that the database lacks, under the lock, and gives it; null when there is none. */
  applyNext(migrations: readonly Migration[]): Promise<Migration | null>;
  undoLast(migrations: readonly Migration[]): Promise<Migration | null>;
}

/** One row of the ledger. */
export type AppliedMigration = ReturnType<typeof appliedMigration>;

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

export async function findLedger(connection: Pick<MigrationConnection, 'query'>, schema: string) {
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
  return rows.map(appliedMigration);
}

/** A migration as a row tells it: its number, name, checksum, time and version. */
export function appliedMigration([id, name, checksum, appliedAt, version]: readonly (string | null)[]) {
  return {
    id: Number(id),
    name: name ?? '',
    checksum: checksum ?? '',
    /** ISO 8601 in UTC, as the database prints it. */
    appliedAt: appliedAt ?? '',
    version: version ?? '',
  } as const;
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

/**
 * One step of the platform's own tables. Once it is released its `up` never changes: databases remember its checksum.
 *
 * Names in the SQL are unqualified. It runs with the schema of the tables alone on the search path, so the text is the
 * same wherever they lie.
 */
export interface Migration extends MigrationTexts {
  /** Counted from 1, without gaps. */
  readonly id: number;
  /** For people: `accounts`. */
  readonly name: string;
  /** The same for servers that commit every statement that makes a table; absent: the step is not for them. */
  readonly steps?: StepMigration;
}

/** Texts of a step where tables are made in transactions. */
export interface MigrationTexts {
  readonly tables: readonly string[];
  /** Statements that make the step, starting from the state after the migrations before. */
  readonly up: string;
  /** Statements that undo it, with all that is in its tables. */
  readonly down: string;
}

/**
 * A migration where every statement that makes a table is committed at once. Each statement therefore does nothing if it was run before, and an interrupted migration is run again from the start.
 *
 * `{uuid}` stands for the type of keys, `{table}` for engine and collation. Keys are not checked meanwhile, so tables
 * may refer to each other in any order.
 */
export interface StepMigration {
  readonly up: readonly string[];
  /** The tables that it makes, and undoing it drops. A step without tables is not undone. */
  readonly tables: readonly string[];
}

/** SHA-256 of a migration's statements, hexadecimal. `down` is not part of it, because databases do not store it. */
export function checksumOf({ up }: Pick<Migration, 'up'>): string {
  return hash('sha256', up);
}

/** The same for its statements in steps, as they stand here. */
export function stepChecksumOf({ up }: Pick<StepMigration, 'up'>): string {
  return hash('sha256', up.join(';\n'));
}

/** Problems between the platform's own tables in a database and this version of the platform. */
export type MigrationProblem =
  /** The text of a migration that was applied is another one now. */
  | 'changed'
  /** The database has migrations that this version does not know. */
  | 'ahead'
  /** The role has no permission for a statement of a migration. */
  | 'forbidden'
  /** The database takes no writes. */
  | 'readOnly'
  /** Another transaction held a lock for too long. */
  | 'locked'
  /** Other tables refer to those that a migration would drop. */
  | 'needed'
  /** The database is not in UTF-8. */
  | 'encoding';

/** Error of a migration that is not a bug: the migration that it names has changed nothing, those before it stay. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  readonly problem: MigrationProblem;
  /** Action that solves the problem. */
  readonly hint: string;

  constructor(problem: MigrationProblem, message: string, hint: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.problem = problem;
    this.hint = hint;
  }
}

/** Converts errors of the database to advice; others stay as they are. `doing` ends a sentence: "apply …". */
export function toMigrationError(error: unknown, doing: string): unknown {
  if (!(error instanceof Error) || error instanceof MigrationError || !('code' in error)) return error;
  const reason = error.message.replace(/\.$/, '');
  switch (error.code) {
    case '42501': {
      const hint = 'Run it as a role with CREATE on the database (for the schema) and on the schema, or ask its owner.';
      return new MigrationError('forbidden', `The database role may not ${doing}: ${reason}.`, hint, error);
    }
    case '25006': {
      const hint = 'Connect to the primary server, as a role whose transactions may write.';
      return new MigrationError('readOnly', `The database cannot ${doing}: ${reason}.`, hint, error);
    }
    case '55P03': {
      const hint = 'Another process migrates, or a long transaction uses the tables. Try again when it has ended.';
      return new MigrationError('locked', `The database did not come to ${doing} in time: ${reason}.`, hint, error);
    }
    case '2BP01': {
      const hint = 'Drop the foreign keys and views that lead to the tables of the platform first.';
      return new MigrationError('needed', `The database cannot ${doing}: ${reason}.`, hint, error);
    }
    default:
      return error;
  }
}
