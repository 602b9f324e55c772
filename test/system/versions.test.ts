/** Servers beside the tables of other versions: those of a later one are refused, those of the minor before are served. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemMigrations } from '../../packages/runtime/src/system/migrations/index.ts';
import { createDatabase, withClient } from '../support/database.ts';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import { administrator, createProject, runPlatform, secret, startUnchecked } from '../support/platform.ts';
import { servers } from '../support/servers.ts';
import { installMysqlSystem, installSystem } from '../support/system.ts';

const books = 'CREATE TABLE books (id int PRIMARY KEY, title varchar(20)); ';
const rows = "INSERT INTO books VALUES (1, 'one')";
const before = { migrations: systemMigrations.slice(0, -1) };
const ledger = (table: string): string =>
  `INSERT INTO ${table} (id, name, checksum, applied_at, version) VALUES (99, 'later', repeat('0', 64), now(), '9.9.9')`;

interface Place {
  readonly url: string;
  /** Brings the tables to this version. */
  migrate(): Promise<unknown>;
  /** Leaves the mark of a later version. */
  advance(): Promise<unknown>;
}

describe('on PostgreSQL', () => {
  suite('PostgreSQL', false, async () => {
    const { url } = await createDatabase(books + rows);
    await installSystem(url, before);
    return {
      url,
      migrate: () => installSystem(url),
      advance: () => withClient(url, (client) => client.query(ledger('platform.platform_migrations'))),
    };
  });
});

describe.each(servers)('on $name', ({ name, missing, start }) => {
  let server: MysqlServer;
  beforeAll(async () => {
    if (!missing) server = await start();
  });
  afterAll(() => server?.stop());

  suite(name, missing, async () => {
    const url = await createMysqlDatabase(server, books + rows);
    await installMysqlSystem(url, before);
    return {
      url,
      migrate: () => installMysqlSystem(url),
      advance: () => withMysql(url, (connection) => connection.query(ledger('platform_migrations'))),
    };
  });
});

function suite(name: string, missing: boolean, make: () => Promise<Place>): void {
  it.skipIf(missing)(
    `${name}: serves tables of the minor before, goes on when they are migrated, refuses later ones`,
    async () => {
      const place = await make();
      const [older, newer] = [await createProject(), await createProject()];
      const generate = (folder: string) => runPlatform(['generate', '--project', folder], { DATABASE_URL: place.url });
      try {
        // Compiled beside the tables of before: the first step of an upgrade.
        expect((await generate(older.folder)).code).toBe(0);
        const server = await startUnchecked(older.folder, place.url, { LOG_LEVEL: 'warn' }, []);
        expect(server.log()).toContain('older than this version. Run `platform migrate`');
        const serves = async (): Promise<void> => {
          expect((await server.ask('/server/ready')).status).toBe(200);
          expect((await server.admin('/items/books')).json.data).toEqual([{ id: 1, title: 'one' }]);
          const login = await server.ask('/auth/login', {
            method: 'POST',
            body: { email: administrator.email, password: administrator.password },
          });
          expect(login.status).toBe(200);
        };
        await serves();
        await place.migrate();
        await serves();
        expect(await server.stop()).toBe(0);
        expect((await generate(newer.folder)).code).toBe(0);
        await place.advance();
        for (const args of [[], ['--workers', '2']]) {
          const environment = { DATABASE_URL: place.url, SECRET: secret, PORT: '0' };
          const refused = await runPlatform(['start', '--project', newer.folder, ...args], environment);
          expect(refused.code).toBe(1);
          expect(refused.stderr).toContain(
            'The platform\'s tables are newer than this version: version 9.9.9 applied the migration 99 "later".',
          );
        }
      } finally {
        await older.remove();
        await newer.remove();
      }
    },
    120_000,
  );
}
