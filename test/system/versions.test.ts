/** Servers beside the tables of other versions: those of a later one are refused, those of the minor before are served. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MigrateOptions } from '@tablewright/runtime/tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemMigrations } from '../../packages/runtime/src/migrations/migrate.ts';
import { createDatabase, withClient } from '../support/database.ts';
import { generateHosted } from '../support/host.ts';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import {
  type Ask,
  administrator,
  createProject,
  type Platform,
  runPlatform,
  secret,
  startUnchecked,
} from '../support/platform.ts';
import { servers } from '../support/servers.ts';
import { installMysqlSystem, installSystem } from '../support/system.ts';

const tables = `CREATE TABLE books (id int PRIMARY KEY, title varchar(20));
  CREATE TABLE shelves (id int PRIMARY KEY, state varchar(10));`;
const config = `export default { permissionSource: 'tables', functions: { touch: {} },
  collections: { shelves: { softDelete: { field: 'state', value: 'gone' } } } };\n`;
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
  suite('PostgreSQL', false, async (options) => {
    const { url } = await createDatabase(
      `${tables} CREATE FUNCTION touch() RETURNS integer LANGUAGE sql VOLATILE AS 'SELECT 1';`,
    );
    await installSystem(url, options);
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

  suite(name, missing, async (options) => {
    const url = await createMysqlDatabase(
      server,
      `${tables} CREATE FUNCTION touch() RETURNS int DETERMINISTIC RETURN 1;`,
    );
    await installMysqlSystem(url, options);
    return {
      url,
      migrate: () => installMysqlSystem(url),
      advance: () => withMysql(url, (connection) => connection.query(ledger('platform_migrations'))),
    };
  });
});

function suite(name: string, missing: boolean, make: (options?: MigrateOptions) => Promise<Place>): void {
  it.skipIf(missing)(
    `${name}: serves tables of the minor before, goes on when they are migrated, refuses later ones`,
    async () => {
      const [place, newest] = [await make(before), await make()];
      const project = await createProject();
      const running: Platform[] = [];
      const start = async (): Promise<Platform> => {
        const server = await startUnchecked(project.folder, place.url, { LOG_LEVEL: 'warn' }, []);
        running.push(server);
        return server;
      };
      try {
        await writeFile(join(project.folder, 'platform.config.ts'), config);
        // Compiled beside the tables of this version, as the developer of an upgrade has them.
        await generateHosted(project.folder, newest.url);
        const [first, second] = [await start(), await start()];
        expect(first.log()).toContain('older than this version. Run `platform migrate`');
        const session = await useTogether(first, second, 1, ['delete', 'create']);
        await place.migrate();
        await useTogether(second, first, 2, ['archive', 'create', 'call']);
        await useTogether(first, await start(), 3, ['archive', 'create', 'call']);
        const kept = await second.ask('/users/me?fields=email', { token: session });
        expect([kept.status, kept.json]).toEqual([200, { data: { email: administrator.email } }]);
        for (const server of running) expect(await server.stop()).toBe(0);
        await place.advance();
        for (const args of [[], ['--workers', '2']]) {
          const environment = { DATABASE_URL: place.url, SECRET: secret, PORT: '0' };
          const refused = await runPlatform(['start', '--project', project.folder, ...args], environment);
          expect(refused.code).toBe(1);
          expect(refused.stderr).toContain(
            'The platform\'s tables are newer than this version: version 9.9.9 applied the migration 99 "later".',
          );
        }
      } finally {
        for (const server of running) await server.stop();
        await project.remove();
      }
    },
    180_000,
  );
}

/**
 * Signs in and writes at one server, and reads the item, its history and a rule that was made for it at another one. The
 * actions are those of an item that is archived, latest first, and of a call. Resolves to the token.
 */
async function useTogether(
  writer: Platform,
  reader: Platform,
  id: number,
  actions: readonly string[],
): Promise<string> {
  const done = async (path: string, ask: Ask, server = writer): Promise<unknown> => {
    const { status, text, json } = await server.ask(path, ask);
    expect([path, status < 300 ? 'done' : text]).toEqual([path, 'done']);
    return json?.data;
  };
  const { email, password } = administrator;
  const signedIn = await done('/auth/login', { method: 'POST', body: { email, password } });
  const [, token = ''] = /"access_token":"(.*?)"/.exec(JSON.stringify(signedIn)) ?? [];
  const book = { id, title: `book ${id}` };
  await done('/items/books', { method: 'POST', token, body: book });
  await done(`/items/books/${id}`, { method: 'PATCH', token, body: { title: 'changed' } });
  expect(await done(`/items/books/${id}`, { token }, reader)).toEqual({ id, title: 'changed' });
  const history = `/revisions?filter[item]=${id}&filter[collection]=books&fields=delta&sort=id`;
  expect(await done(history, { token }, reader)).toEqual([{ delta: book }, { delta: { title: 'changed' } }]);
  await done('/items/shelves', { method: 'POST', token, body: { id } });
  await done(`/items/shelves/${id}`, { method: 'DELETE', token });
  const calls = (await done('/functions/touch', { method: 'POST', token })) === 1;
  const archived = `/activity?filter[item]=${id}&filter[collection]=shelves&fields=action&sort=-id`;
  const called = '/activity?filter[item]=touch&filter[collection]=functions&fields=action&sort=-id&limit=1';
  const noted = [await done(archived, { token }, reader), await done(called, { token }, reader)];
  expect([calls, noted.flat()]).toEqual([true, actions.map((action) => ({ action }))]);
  const role = await done('/roles', { method: 'POST', token, body: { name: `reader ${id}` } });
  const [, roleId] = /"id":"(.*?)"/.exec(JSON.stringify(role)) ?? [];
  const program = `a-token-of-a-program-${id}`;
  await done('/users', {
    method: 'POST',
    token,
    body: { email: `${id}@example.com`, password, role: roleId, token: program },
  });
  const rule = {
    role: roleId,
    collection: 'books',
    action: 'read',
    fields: ['title'],
    permissions: { id: { _eq: id } },
  };
  await done('/permissions', { method: 'POST', token, body: rule });
  await expect
    .poll(async () => (await reader.ask('/items/books', { token: program })).json)
    .toEqual({
      data: [{ title: 'changed' }],
    });
  const refused = await reader.ask('/items/books', { method: 'POST', token: program, body: { id: 99 } });
  expect(refused.status).toBe(403);
  return token;
}
