/**
 * Migrations on MySQL and MariaDB, which commit every statement that makes a table. The ledger records a migration
 * before its first statement and after its last. A server that finds one unfinished runs it again, which is harmless.
 */
import { hash } from 'node:crypto';
import type { MigrationConnection } from '../../../database/database.ts';
import { quoteName } from '../../../language/index.ts';
import {
  type AppliedMigration,
  appliedMigration,
  changed,
  type Migration,
  MigrationError,
  type Migrator,
  pendingAfter,
  type StepMigration,
  stepChecksumOf,
} from '../../../system/ledger.ts';
import { platformVersion } from '../../../version.ts';
import { tableOptions } from '../texts.ts';
import { errorNumber, noAccess, toMysqlMigrationError } from './errors.ts';

/** Makes the ledger. A migration that has begun and not ended has no time. */
const ledgerSql = `CREATE TABLE IF NOT EXISTS platform_migrations (
  id int NOT NULL PRIMARY KEY,
  name varchar(64) NOT NULL,
  checksum char(64) NOT NULL,
  applied_at datetime(6),
  version varchar(32) NOT NULL
) {table}`;

/** Time that a migration waits for the others, and for tables that are in use, in seconds. */
const lockSeconds = 60;

/** A row of the ledger; one that has not ended has an empty time. */
type Row = AppliedMigration;

/** Makes the migrator for a database of the server; null and `public`: that of the connection. */
export function mysqlMigrator(connection: MigrationConnection, schema: string | null): Migrator {
  return new MysqlMigrator(connection, schema);
}

class MysqlMigrator implements Migrator {
  readonly #connection: MigrationConnection;
  readonly #named: string | null;

  constructor(connection: MigrationConnection, schema: string | null) {
    this.#connection = connection;
    this.#named = schema === null || schema === 'public' ? null : schema;
  }

  async check(): Promise<void> {}

  async read(): Promise<readonly Row[] | null> {
    const rows = await this.#readAll().catch((error: unknown) => {
      throw toMysqlMigrationError(error, 'read the ledger');
    });
    return rows === null ? null : rows.filter(isFinished);
  }

  applyNext(migrations: readonly Migration[]): Promise<Migration | null> {
    return this.#locked('create the tables of the platform', async (server) => {
      await this.#connection.script(mysqlStatement(ledgerSql, server));
      const rows = (await this.#readAll()) ?? [];
      const [next] = pendingAfter(rows.filter(isFinished), migrations, mysqlChecksum);
      if (next === undefined) return null;
      const begun = rows.find(({ id }) => id === next.id);
      if (begun === undefined) await note(this.#connection, next);
      else if (begun.checksum !== mysqlChecksum(next)) throw changed(begun);
      for (const text of mysqlStepsOf(next).up) await this.#connection.script(mysqlStatement(text, server));
      await this.#connection.query('UPDATE platform_migrations SET applied_at = UTC_TIMESTAMP(6) WHERE id = ?', [
        String(next.id),
      ]);
      return next;
    });
  }

  undoLast(migrations: readonly Migration[]): Promise<Migration | null> {
    return this.#locked('drop the tables of the platform', async () => {
      const rows = (await this.#readAll()) ?? [];
      // Also refuses to undo migrations of another version.
      pendingAfter(rows.filter(isFinished), migrations, mysqlChecksum);
      const last = migrations.findLast(({ id }) => rows.at(-1)?.id === id);
      if (last === undefined) return null;
      const { tables } = mysqlStepsOf(last);
      await refuseNeeded(this.#connection, tables);
      const id = String(last.id);
      await this.#connection.query('UPDATE platform_migrations SET applied_at = NULL WHERE id = ?', [id]);
      if (tables.length > 0) await this.#connection.script(`DROP TABLE IF EXISTS ${tables.map(quoteName).join(', ')}`);
      await this.#connection.query('DELETE FROM platform_migrations WHERE id = ?', [id]);
      return last;
    });
  }

  async #hasLedger(): Promise<boolean> {
    const rows = await this.#connection.query(
      `SELECT TABLE_NAME FROM information_schema.TABLES
       WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = 'platform_migrations'`,
      [this.#named],
    );
    return rows.length > 0;
  }

  async #readAll(): Promise<readonly Row[] | null> {
    // Names in backticks: the session may be one whose double quotes are those of texts.
    const table =
      this.#named === null ? 'platform_migrations' : `\`${this.#named.replaceAll('`', '``')}\`.platform_migrations`;
    const isThere = await this.#hasLedger();
    if (!isThere) return this.#refuseHidden(table);
    const rows = await this.#connection.query(
      `SELECT CAST(id AS CHAR), name, checksum, DATE_FORMAT(applied_at, '%Y-%m-%dT%H:%i:%sZ'), version
       FROM ${table} ORDER BY id`,
      [],
    );
    return rows.map(appliedMigration);
  }

  /** Rejects if the ledger may be there: the servers hide tables, and name the reason if they are asked for their rows. */
  async #refuseHidden(table: string): Promise<null> {
    await this.#connection.query(`SELECT 1 FROM ${table} LIMIT 0`, []).catch((error: unknown) => {
      if (errorNumber(error) === noAccess) throw toMysqlMigrationError(error, 'see the ledger, which may be there');
    });
    return null;
  }

  async #server(): Promise<MysqlServer> {
    return mysqlServer((await this.#connection.query('SELECT VERSION()', []))[0]?.[0] ?? '');
  }

  /** Runs one step under the lock, which every connection to the server sees, in a session that is left as it was. */
  async #locked<T>(doing: string, work: (server: MysqlServer) => Promise<T>): Promise<T> {
    const [[database] = []] = await this.#connection.query('SELECT DATABASE()', []);
    const lock = `platform ${hash('sha256', `${database} ${this.#named}`).slice(0, 48)}`;
    try {
      await begin(this.#connection, this.#named);
      const [row] = await this.#connection.query(`SELECT CAST(GET_LOCK(?, ${lockSeconds}) AS CHAR)`, [lock]);
      if (row?.[0] !== '1') throw lockedError(doing);
      return await work(await this.#server());
    } catch (error) {
      throw toMysqlMigrationError(error, doing);
    } finally {
      // The connection may be broken; the first error is the one to report.
      await end(this.#connection, lock, this.#named === null ? null : (database ?? null)).catch(() => undefined);
    }
  }
}

function isFinished({ appliedAt }: Row): boolean {
  return appliedAt !== '';
}

async function note(connection: MigrationConnection, migration: Migration): Promise<void> {
  await connection.query('INSERT INTO platform_migrations (id, name, checksum, version) VALUES (?, ?, ?, ?)', [
    String(migration.id),
    migration.name,
    mysqlChecksum(migration),
    platformVersion(),
  ]);
}

async function begin({ script: sql }: MigrationConnection, named: string | null): Promise<void> {
  await sql(
    `SET @platform_sql_mode = @@SESSION.sql_mode, @platform_wait = @@SESSION.lock_wait_timeout,
     @platform_checks = @@SESSION.foreign_key_checks`,
  );
  await sql(
    `SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', foreign_key_checks = 0,
     lock_wait_timeout = ${lockSeconds}`,
  );
  if (named === null) return;
  await sql(`CREATE DATABASE IF NOT EXISTS ${quoteName(named)} CHARACTER SET utf8mb4`);
  await sql(`USE ${quoteName(named)}`);
}

async function end({ query, script: sql }: MigrationConnection, lock: string, database: string | null): Promise<void> {
  await query('SELECT RELEASE_LOCK(?)', [lock]);
  if (database !== null) await sql(`USE ${quoteName(database)}`);
  await sql(
    `SET SESSION sql_mode = @platform_sql_mode, lock_wait_timeout = @platform_wait,
     foreign_key_checks = @platform_checks`,
  );
}

/** With keys unchecked the servers would drop tables that others refer to. */
async function refuseNeeded({ query }: MigrationConnection, tables: readonly string[]): Promise<void> {
  if (tables.length === 0) return;
  const marks = tables.map(() => '?').join(', ');
  const [row] = await query(
    `SELECT TABLE_NAME, CONSTRAINT_NAME FROM information_schema.KEY_COLUMN_USAGE
     WHERE REFERENCED_TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME IN (${marks})
       AND NOT (TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${marks})) LIMIT 1`,
    [...tables, ...tables],
  );
  if (row === undefined) return;
  const message = `The database cannot drop the tables of the platform: "${row[1]}" of the table "${row[0]}" leads to them.`;
  throw new MigrationError('needed', message, 'Drop the foreign keys that lead to the tables of the platform first.');
}

function lockedError(doing: string): MigrationError {
  const message = `The database did not come to ${doing} in time: another process holds the lock of migrations.`;
  return new MigrationError('locked', message, 'Another process migrates. Try again when it has ended.');
}

interface MysqlServer {
  readonly isMariadb: boolean;
  /** True if it has the type `uuid`: MariaDB 10.7 and later. */
  readonly hasUuid: boolean;
}

/** Reads the answer of `SELECT VERSION()`. */
function mysqlServer(version: string): MysqlServer {
  const isMariadb = /mariadb/i.test(version);
  const [major = 0, minor = 0] = (/\d+\.\d+/.exec(version.replace(/^5\.5\.5-/, ''))?.[0] ?? '').split('.').map(Number);
  return { isMariadb, hasUuid: isMariadb && (major > 10 || (major === 10 && minor >= 7)) };
}

function mysqlStepsOf({ id, name, steps }: Migration): StepMigration {
  if (steps === undefined) throw new Error(`The migration ${id} "${name}" has no steps for MySQL and MariaDB.`);
  return steps;
}

/** The checksum of a migration's statements there. */
export function mysqlChecksum(migration: Migration): string {
  return stepChecksumOf(mysqlStepsOf(migration));
}

/** A statement of a migration for a server. Texts are compared by their characters, so that no two tokens are one. */
function mysqlStatement(text: string, { isMariadb, hasUuid }: MysqlServer): string {
  return text
    .replaceAll('{uuid}', hasUuid ? 'uuid' : 'char(36) CHARACTER SET ascii COLLATE ascii_bin')
    .replaceAll('{table}', tableOptions(isMariadb ? 'mariadb' : 'mysql'));
}
