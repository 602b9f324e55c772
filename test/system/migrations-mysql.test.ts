/** The ledger of the platform's own tables on MariaDB and MySQL, where every table is committed by itself. */
import {
  type Migration,
  type MigrationConnection,
  MigrationError,
  migrate,
  readMigrations,
  undoMigrations,
} from '@tablewright/runtime/tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import { servers } from '../support/servers.ts';
import { installMysqlSystem, mysqlMigrationConnection } from '../support/system.ts';

const names = ['accounts', 'sessions', 'activity', 'model', 'requests', 'files', 'product-name', 'activity-actions'];

describe.each(servers)('on $name', ({ missing, start }) => {
  let server: MysqlServer;
  beforeAll(async () => {
    if (!missing) server = await start();
  });
  afterAll(() => server?.stop());

  /** Runs work on a connection to a database of its own. */
  async function inDatabase<T>(work: (connection: MigrationConnection, url: string) => Promise<T>): Promise<T> {
    const url = await createMysqlDatabase(server, 'SELECT 1');
    return withMysql(url, (connection) => work(mysqlMigrationConnection(connection), url));
  }

  async function tablesOf({ query }: MigrationConnection): Promise<readonly string[]> {
    const rows = await query(
      'SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1',
      [],
    );
    return rows.map(([name]) => name ?? '');
  }

  async function problemOf(work: Promise<unknown>): Promise<MigrationError> {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error instanceof MigrationError) return error;
    throw new Error(`No MigrationError, but ${String(error)}.`);
  }

  it.skipIf(missing)('installs once, goes down and up again to the same tables, and leaves the session as it was', () =>
    inDatabase(async (connection) => {
      const session = () =>
        connection.query('SELECT @@SESSION.sql_mode, @@SESSION.foreign_key_checks, @@SESSION.lock_wait_timeout', []);
      const before = await session();
      expect(await readMigrations(connection)).toMatchObject({ installed: false, applied: [] });
      const done = await migrate(connection);
      expect(done.map(({ name }) => name)).toEqual(names);
      const tables = await tablesOf(connection);
      const made = done.flatMap(({ steps }) => steps?.tables ?? []);
      expect(tables.toSorted()).toEqual([...made, 'platform_migrations'].sort());
      expect(await migrate(connection)).toEqual([]);
      const { installed, applied, pending } = await readMigrations(connection);
      expect([installed, pending]).toEqual([true, []]);
      expect(applied.map(({ id, name }) => [id, name])).toEqual(names.map((name, index) => [index + 1, name]));
      expect(applied[0]?.appliedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect((await undoMigrations(connection, 3)).map(({ name }) => name)).toEqual([
        'activity-actions',
        'product-name',
        'files',
      ]);
      expect((await readMigrations(connection)).pending.map(({ name }) => name)).toEqual([
        'files',
        'product-name',
        'activity-actions',
      ]);
      await undoMigrations(connection, 99);
      expect(await tablesOf(connection)).toEqual(['platform_migrations']);
      await migrate(connection);
      expect(await tablesOf(connection)).toEqual(tables);
      expect(await session()).toEqual(before);
    }),
  );

  it.skipIf(missing)('completes what was interrupted after any statement', () =>
    inDatabase(async (connection) => {
      let left = 0;
      const dying: MigrationConnection = {
        ...connection,
        async script(text) {
          if (/CREATE TABLE IF NOT EXISTS platform_(?!migrations)|INSERT IGNORE/.test(text) && left-- <= 0) {
            throw new Error('The process dies.');
          }
          await connection.script(text);
        },
      };
      // One statement more each time, and behind each death a ledger that says what is not finished.
      for (let statements = 0; statements < 6; statements++) {
        left = statements;
        await expect(migrate(dying)).rejects.toThrow('The process dies.');
        expect((await readMigrations(connection)).applied).toEqual([]);
      }
      expect((await migrate(connection)).map(({ name }) => name)).toEqual(names);
      expect(await tablesOf(connection)).toHaveLength(24);
    }),
  );

  it.skipIf(missing)('lets one of many that come at once make each table', () =>
    inDatabase(async (connection, url) => {
      const done = await Promise.all(Array.from({ length: 4 }, () => installMysqlSystem(url)));
      expect(
        done
          .flat()
          .map(({ name }) => name)
          .sort(),
      ).toEqual([...names].sort());
      expect((await readMigrations(connection)).pending).toEqual([]);
    }),
  );

  it.skipIf(missing)('refuses what does not fit, and what others need', () =>
    inDatabase(async (connection) => {
      const table = (name: string): Migration => ({
        id: 1,
        name: 'first',
        ...{ tables: [], up: '', down: '' },
        steps: { up: [`CREATE TABLE IF NOT EXISTS ${name} (id int PRIMARY KEY) {table}`], tables: [name] },
      });
      await migrate(connection, { migrations: [table('a')] });
      expect((await problemOf(migrate(connection, { migrations: [table('b')] }))).problem).toBe('changed');
      expect((await problemOf(readMigrations(connection, { migrations: [] }))).problem).toBe('ahead');
      await connection.script('CREATE TABLE mine (a int, CONSTRAINT mine_a FOREIGN KEY (a) REFERENCES a (id))');
      const needed = await problemOf(undoMigrations(connection, 1, { migrations: [table('a')] }));
      expect([needed.problem, needed.message]).toEqual(['needed', expect.stringContaining('"mine_a"')]);
      expect(await tablesOf(connection)).toContain('a');
      await connection.script('SET SESSION TRANSACTION READ ONLY');
      expect((await problemOf(migrate(connection, { migrations: [table('a')] }))).problem).toBe('readOnly');
    }),
  );

  it.skipIf(missing)('takes addresses for one that differ in the case of ASCII, and tokens as they are', () =>
    inDatabase(async (connection) => {
      await migrate(connection);
      await connection.script("INSERT INTO platform_users (email, token) VALUES ('Eve@example.com', 'abc')");
      const add = (email: string) => connection.query('INSERT INTO platform_users (email) VALUES (?)', [email]);
      await expect(add('eve@EXAMPLE.com')).rejects.toMatchObject({ errno: 1062 });
      for (const other of ['éve@example.com', 'eve@example.com ']) await add(other);
      const found = await connection.query(
        "SELECT email FROM platform_users WHERE token IN ('ABC', 'abc ', 'äbc')",
        [],
      );
      expect(found).toEqual([]);
    }),
  );
});
