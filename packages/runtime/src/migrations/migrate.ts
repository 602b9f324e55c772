/**
 * Brings the platform's own tables to this version and back, each migration under a lock of the database, so that
 * processes which start together never run one twice. On PostgreSQL a process that dies leaves none half done; on MySQL and
 * MariaDB the next one completes it.
 */

import type { MigrationConnection } from '../database/migration-connection.ts';
import { mysqlMigrator } from '../dialects/mysql/own-tables/migrate.ts';
import { mysqlChecksum } from '../dialects/mysql/own-tables/steps.ts';
import { postgresMigrator } from '../dialects/postgres/own-tables/migrate.ts';
import { defaultSystemSchema } from '../language/index.ts';
import { type AppliedMigration, type Migrator, pendingAfter } from '../system/ledger.ts';
import { checksumOf, type Migration } from '../system/migration.ts';
import { systemMigrations } from './all.ts';

/** Place of the tables, and migrations to run. */
export interface MigrateOptions {
  /**
   * Schema of the tables; made when it does not exist. When absent `platform`, on MySQL and MariaDB the database of the
   * connection, which is also what `public` means there.
   */
  readonly schema?: string;
  /** Migrations of the platform when absent. */
  readonly migrations?: readonly Migration[];
  /** Called after each commit. */
  readonly onDone?: (migration: Migration) => void;
}

/** Migrations that a database has, and those that it lacks. */
export interface MigrationState {
  /** False when there is no ledger, or an empty one. */
  readonly installed: boolean;
  readonly applied: readonly AppliedMigration[];
  readonly pending: readonly Migration[];
}

/**
 * Applies every migration that the database lacks and returns them; those that were committed before a failure stay.
 *
 * Rejects with a `MigrationError` that contains advice.
 */
export async function migrate(
  connection: MigrationConnection,
  options: MigrateOptions = {},
): Promise<readonly Migration[]> {
  const { migrations = systemMigrations, onDone } = options;
  const migrator = migratorOf(connection, options);
  await migrator.check();
  const done: Migration[] = [];
  for (;;) {
    const applied = await migrator.applyNext(migrations);
    if (applied === null) return done;
    done.push(applied);
    onDone?.(applied);
  }
}

/**
 * Undoes the latest migrations, `count` at most, with everything that is in their tables, and returns them.
 *
 * For development. Rejects as `migrate` does, and when other tables refer to those that would go.
 */
export async function undoMigrations(
  connection: MigrationConnection,
  count: number,
  options: MigrateOptions = {},
): Promise<readonly Migration[]> {
  const { migrations = systemMigrations, onDone } = options;
  const migrator = migratorOf(connection, options);
  const done: Migration[] = [];
  while (done.length < count) {
    const undone = await migrator.undoLast(migrations);
    if (undone === null) break;
    done.push(undone);
    onDone?.(undone);
  }
  return done;
}

/**
 * Reads the migrations of the database; changes nothing. Rejects as `migrate` does when the two do not belong together.
 */
export async function readMigrations(
  connection: Pick<MigrationConnection, 'query' | 'family'>,
  options: Omit<MigrateOptions, 'onDone'> = {},
): Promise<MigrationState> {
  const { migrations = systemMigrations } = options;
  const applied = (await migratorOf({ ...connection, script: refuse }, options).read()) ?? [];
  const checksum = connection.family === 'mysql' ? mysqlChecksum : checksumOf;
  return { installed: applied.length > 0, applied, pending: pendingAfter(applied, migrations, checksum) };
}

function migratorOf(connection: MigrationConnection, { schema }: MigrateOptions): Migrator {
  return connection.family === 'mysql'
    ? mysqlMigrator(connection, schema ?? null)
    : postgresMigrator(connection, schema ?? defaultSystemSchema);
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('The ledger is only read.'));
}
