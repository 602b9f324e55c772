/** Migrations on PostgreSQL: one transaction each, under an advisory lock. */
import { hash } from 'node:crypto';
import type { MigrationConnection } from '../../../database/database.ts';
import { quoteName } from '../../../language/index.ts';
import {
  checksumOf,
  createLedgerSql,
  findLedger,
  type Migration,
  MigrationError,
  type Migrator,
  pendingAfter,
  readLedger,
  toMigrationError,
} from '../../../system/ledger.ts';
import { platformVersion } from '../../../version.ts';

export function postgresMigrator(connection: MigrationConnection, schema: string): Migrator {
  return {
    check: () => refuseEncoding(connection),
    async read() {
      const { hasLedger } = await findLedger(connection, schema);
      return hasLedger ? readLedger(connection, schema).catch(rethrow('read the ledger')) : null;
    },
    applyNext: (migrations) => applyNext(connection, schema, migrations),
    undoLast: (migrations) => undoLast(connection, schema, migrations),
  };
}

async function applyNext(
  connection: MigrationConnection,
  schema: string,
  migrations: readonly Migration[],
): Promise<Migration | null> {
  return inTransaction(connection, schema, 'create the tables of the platform', async () => {
    const { hasSchema, hasLedger } = await findLedger(connection, schema);
    if (!hasSchema) await connection.script(`CREATE SCHEMA ${quoteName(schema)}`);
    if (!hasLedger) await connection.script(createLedgerSql);
    const [next] = pendingAfter(await readLedger(connection, schema), migrations);
    if (next === undefined) return null;
    await connection.script(next.up);
    await connection.query(
      'INSERT INTO platform_migrations (id, name, checksum, version) VALUES ($1::int, $2, $3, $4)',
      [String(next.id), next.name, checksumOf(next), platformVersion()],
    );
    return next;
  });
}

async function undoLast(
  connection: MigrationConnection,
  schema: string,
  migrations: readonly Migration[],
): Promise<Migration | null> {
  return inTransaction(connection, schema, 'drop the tables of the platform', async () => {
    const { hasLedger } = await findLedger(connection, schema);
    const applied = hasLedger ? await readLedger(connection, schema) : [];
    // Also refuses to undo migrations of another version.
    pendingAfter(applied, migrations);
    const last = migrations.findLast(({ id }) => applied.at(-1)?.id === id);
    if (last === undefined) return null;
    await connection.script(last.down);
    await connection.query('DELETE FROM platform_migrations WHERE id = $1::int', [String(last.id)]);
    return last;
  });
}

/** Time that a migration waits for the lock and for tables that are in use, as PostgreSQL writes it. */
const lockTimeout = '60s';

/**
 * Runs one step under the lock. Every statement after it sees earlier commits of others, independent of the database's
 * default isolation. The lock ends with the transaction, so poolers that share connections do not matter.
 */
async function inTransaction<T>(
  connection: MigrationConnection,
  schema: string,
  doing: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    await connection.script(
      `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
       SET LOCAL lock_timeout = '${lockTimeout}';
       SET LOCAL statement_timeout = 0;
       SET LOCAL search_path = ${quoteName(schema)}`,
    );
    await connection.query('SELECT pg_catalog.pg_advisory_xact_lock($1::bigint)', [lockKey(schema)]);
    const result = await work();
    await connection.script('COMMIT');
    return result;
  } catch (error) {
    // The connection may be broken; the first error is the one to report.
    await connection.script('ROLLBACK').catch(() => undefined);
    throw toMigrationError(error, doing);
  }
}

/** One number per schema, far from the small ones that applications choose. */
function lockKey(schema: string): string {
  return String(hash('sha256', `platform migrations ${schema}`, 'buffer').readBigInt64BE(0));
}

/** Normalising e-mail addresses needs Unicode. */
async function refuseEncoding(connection: MigrationConnection): Promise<void> {
  const [row] = await connection.query("SELECT pg_catalog.current_setting('server_encoding')", []);
  if (row?.[0] === 'UTF8') return;
  const hint = "Create the database with ENCODING 'UTF8'.";
  throw new MigrationError('encoding', `The platform's tables need a database in UTF-8, not ${row?.[0]}.`, hint);
}

function rethrow(doing: string): (error: unknown) => never {
  return (error) => {
    throw toMigrationError(error, doing);
  };
}
