/**
 * Brings the platform's own tables to this version and back. Each migration runs under a lock of the database, so that
 * processes which start together never run one twice. A process that dies leaves none half done, or the next one
 * completes it where tables are made outside of transactions.
 */
import type { Database, MigrationConnection } from '../database/database.ts';
import { printMigration, serverOfFamily } from '../dialects/index.ts';
import { ownMigrations } from '../dialects/migrations/index.ts';
import type { ServerDialect } from '../dialects/server-dialect.ts';
import { type CompiledApi, dialectFacts, familyOf, type NamedTable } from '../language/index.ts';
import type { Log } from '../operate/log.ts';
import {
  type AppliedMigration,
  type Migration,
  MigrationError,
  type Migrator,
  pendingAfter,
} from '../system/ledger.ts';
import { systemSchemaOf } from '../system/place.ts';

/** Place of the tables, and migrations to run. */
export interface MigrateOptions {
  /**
   * Schema of the tables; made when it does not exist. When absent `platform`, without schemas the database of the
   * connection, which is also what `public` means there.
   */
  readonly schema?: string;
  /** Default: those of the platform. */
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

/** Applies and returns migrations that the database lacks; each commits alone. Rejects with a `MigrationError`. */
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

/** Reads the migrations of the database. Rejects as `migrate` does when the two do not belong together. */
export async function readMigrations(
  connection: Pick<MigrationConnection, 'query' | 'family'>,
  options: Omit<MigrateOptions, 'onDone'> = {},
): Promise<MigrationState> {
  const { migrations = systemMigrations } = options;
  const applied = (await migratorOf({ ...connection, script: refuse }, options).read()) ?? [];
  const { checksumOf } = serverFor(connection);
  return { installed: applied.length > 0, applied, pending: pendingAfter(applied, migrations, checksumOf) };
}

function serverFor({ family = familyOf('') }: Pick<MigrationConnection, 'family'>): ServerDialect {
  return serverOfFamily(family);
}

function migratorOf(connection: MigrationConnection, { schema = null }: { readonly schema?: string | null }): Migrator {
  return serverFor(connection).migrator(connection, schema);
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('The ledger is only read.'));
}

/** Rejects with a `MigrationError` where tables are newer than this version. False while no database answers. */
export async function refuseNewerTables(
  api: Pick<CompiledApi, 'collections' | 'dialect'>,
  database: Pick<Database, 'query'>,
  log: Pick<Log, 'warn'>,
): Promise<boolean> {
  const schema = systemSchemaOf(api);
  if (schema === null) return true;
  const state = await readState(database, api.dialect, schema);
  const pending = state?.pending ?? [];
  if (pending.length > 0) {
    const names = pending.map(({ id, name }) => `${id} ${name}`);
    log.warn({ pending: names }, 'The tables of the platform are older than this version. Run `platform migrate`.');
  }
  return state !== null;
}

/** Tables that the ledger names, beside those of the compiled API. None where it cannot be read. */
export async function readMadeTables(
  { collections, dialect, fingerprint: { objects } }: Pick<CompiledApi, 'collections' | 'dialect' | 'fingerprint'>,
  { query }: Pick<Database, 'query'>,
): Promise<readonly NamedTable[]> {
  const users = objects.find(({ name }) => name === 'platform_users');
  const schema = systemSchemaOf({ collections });
  if (schema === null || users === undefined) return [];
  const connection = { query, family: dialectFacts[dialect].family, script: refuse };
  const applied = await migratorOf(connection, placeOptions(schema))
    .read()
    .catch(() => null);
  const ids = new Set(applied?.map(({ id }) => id));
  return systemMigrations
    .filter(({ id }) => ids.has(id))
    .flatMap(serverFor(connection).tablesOf)
    .map((name) => ({ schema: users.schema, name }))
    .filter((table) => !objects.some((object) => object.schema === table.schema && object.name === table.name));
}

/** Null where the ledger cannot be read, for a lack of rights or of a database: requests say that better. */
async function readState(
  { query }: Pick<Database, 'query'>,
  dialect: CompiledApi['dialect'],
  schema: string,
): Promise<MigrationState | null> {
  try {
    return await readMigrations({ query, family: dialectFacts[dialect].family }, placeOptions(schema));
  } catch (error) {
    if (error instanceof MigrationError && error.problem === 'ahead') throw error;
    return null;
  }
}

function placeOptions(schema: string): Pick<MigrateOptions, 'schema'> {
  const name = schema.replace(/^"|"$/g, '').replaceAll('""', '"');
  return name === '' ? {} : { schema: name };
}

/** Every migration of the platform's own tables, in their order. */
export const systemMigrations: readonly Migration[] = ownMigrations.map((migration, index) => ({
  ...{ id: index + 1, name: migration.name },
  ...printMigration(migration),
}));
