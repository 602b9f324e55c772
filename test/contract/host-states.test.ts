/**
 * What a server says of itself, and does with writes, while its database is a hot standby, read-only, without a quorum or gone:
 * `/server/health` and `/server/ready`. Source: scale-out notes, sections 1 and 3.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { noGalera, type ServerGroup, startGalera, withoutGalera } from '../support/galera.ts';
import { generateHosted, startCompiled } from '../support/host.ts';
import { away, becomes, primary, told } from '../support/host-told.ts';
import { withMysql } from '../support/mariadb.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { createDatabaseOn, type PostgresPair, startPostgresPair, withClient } from '../support/postgres.ts';
import { failure } from '../support/project.ts';
import { countStatements } from '../support/proxy.ts';
import { startRelay } from '../support/relay.ts';
import { installMysqlSystem, installSystem } from '../support/system.ts';
import { median, untilStill } from '../support/timing.ts';

type Project = Awaited<ReturnType<typeof createProject>>;

const longMs = 60_000;

/** Milliseconds between the requests of a client, which would keep a processor busy otherwise. */
const breath = 5;

/** Reads that took longer than a second and a half, of four clients at once. */
async function countSlow(platform: Platform, ms: number): Promise<number> {
  let slow = 0;
  const end = performance.now() + ms;
  const read = async (): Promise<void> => {
    for (let start = performance.now(); start < end; start = performance.now()) {
      expect((await platform.admin('/items/notes')).status).toBe(200);
      if (performance.now() - start > 1_500) slow++;
      await sleep(breath);
    }
  };
  await Promise.all(Array.from({ length: 4 }, read));
  return slow;
}

const write = (platform: Platform) => platform.admin('/items/notes', { method: 'POST', body: { text: 'a' } });

describe('PostgreSQL', () => {
  let pair: PostgresPair;
  let standbyUrl: string;
  let primaryUrl: string;
  let project: Project;
  beforeAll(async () => {
    [pair, project] = await Promise.all([startPostgresPair(), createProject()]);
    const database = await createDatabaseOn(pair.url);
    await installSystem(database.url);
    await withClient(database.url, (client) =>
      client.query(`CREATE TABLE notes (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text);
        INSERT INTO notes (text) VALUES ('one')`),
    );
    primaryUrl = database.url;
    standbyUrl = pair.standbyUrl.replace(/\/postgres$/, `/${database.name}`);
    await generateHosted(project.folder, primaryUrl);
    await becomesReadable(standbyUrl);
  });
  afterAll(() => Promise.all([pair?.stop(), project?.remove()]));

  const serve = (url: string, environment: Readonly<Record<string, string>> = {}): Promise<Platform> =>
    startUnchecked(project.folder, url, environment, []);

  it('is ready where it is the primary, knows no other role, and drains before it stops', async () => {
    const server = await serve(primaryUrl, { SHUTDOWN_DELAY: '5s' });
    expect(await told(server)).toEqual(primary);
    for (const query of ['role=primary', 'role=', 'role=any&role=any'])
      expect(failure(await server.ask(`/server/ready?${query}`))).toBe('400 INVALID_QUERY');
    expect((await server.ask('/server/ready')).json).toEqual({ status: 'ok' });
    const { checks } = (await server.admin('/server/ready')).json;
    expect(checks).toMatchObject({ database: { status: 'ok', state: 'primary' }, schema: { status: 'ok' } });
    const stopped = server.stop();
    await expect.poll(() => told(server), { interval: 10 }).toEqual(['200 ok', '503 draining', '503 draining']);
    expect((await server.admin('/items/notes?fields=id')).status).toBe(200);
    expect(await stopped).toBe(0);
  });

  it.each(['fast', 'pg'])('refuses writes to a standby after two tries, by the driver %s', async (driver) => {
    const proxy = await countStatements(standbyUrl);
    const server = await serve(proxy.url, { DATABASE_DRIVER: driver });
    try {
      expect(await told(server)).toEqual(away);
      const { checks } = (await server.admin('/server/health')).json;
      expect(checks.database).toMatchObject({ status: 'error', state: 'read-only', lag: expect.any(Number) });
      expect((await server.admin('/items/notes?fields=text&limit=1')).json.data).toEqual([{ text: 'one' }]);
      // What is done beside requests has been refused by then.
      await untilStill(() => refusals(proxy.errors()));
      proxy.reset();
      const answer = await write(server);
      expect([failure(answer), answer.headers.get('retry-after')]).toEqual(['503 SERVICE_UNAVAILABLE', '1']);
      expect(refusals(proxy.errors())).toBeGreaterThan(0);
      expect(refusals(proxy.errors())).toBeLessThanOrEqual(2);
      proxy.reset();
      const several = await Promise.all(Array.from({ length: 8 }, () => write(server)));
      expect(several.map(failure)).toEqual(several.map(() => '503 SERVICE_UNAVAILABLE'));
      expect(refusals(proxy.errors())).toBeLessThanOrEqual(16);
    } finally {
      await server.stop();
      await proxy.close();
    }
  });

  it('warns where it is meant to read only, and sends no write', async () => {
    const proxy = await countStatements(standbyUrl);
    const server = await serve(proxy.url, { DATABASE_READ_ONLY: 'true' });
    try {
      expect(await told(server)).toEqual(['200 warn', '503 database', '200 ok']);
      proxy.reset();
      expect(failure(await write(server))).toBe('503 SERVICE_UNAVAILABLE');
      const login = { email: 'a@example.com', password: 'some long password' };
      const signIn = await server.ask('/auth/login', { method: 'POST', body: login });
      expect(failure(signIn)).toBe('503 SERVICE_UNAVAILABLE');
      expect(proxy.errors()).toEqual([]);
    } finally {
      await server.stop();
      await proxy.close();
    }
  });

  it('refuses writes where the server is set to only read, although it would take them, and no longer than that', async () => {
    const server = await serve(primaryUrl);
    const set = (value: string) =>
      withClient(primaryUrl, async (client) => {
        await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
        await client.query('SELECT pg_reload_conf()');
      });
    try {
      expect((await write(server)).status).toBe(200);
      await set('on');
      await becomes(server, away, 2_500);
      const { checks } = (await server.admin('/server/health')).json;
      expect(checks.database).toEqual({ ...checks.database, status: 'error', state: 'read-only' });
      expect(failure(await write(server))).toBe('503 SERVICE_UNAVAILABLE');
      expect((await server.admin('/items/notes?fields=id&limit=1')).status).toBe(200);
      const late = await serve(primaryUrl);
      // Nobody has asked this one how it is.
      expect(failure(await write(late))).toBe('503 SERVICE_UNAVAILABLE');
      await late.stop();
    } finally {
      await set('off');
      // Sessions of the pool read the setting a moment after the server does.
      await expect.poll(async () => (await write(server)).status).toBe(200);
      await server.stop();
    }
  });

  it('answers soon after its server, or a replica, was away for long', async () => {
    const [primaryRelay, standbyRelay] = await Promise.all([startRelay(primaryUrl), startRelay(standbyUrl)]);
    const [server, reader] = await Promise.all([
      serve(primaryRelay.url),
      serve(primaryUrl, { DATABASE_READ_URL: standbyRelay.url }),
    ]);
    try {
      const nowhere = `postgres://127.0.0.1:${await freePort()}`;
      const slow = countSlow(reader, 3_000);
      await sleep(300);
      for (const relay of [primaryRelay, standbyRelay]) relay.move(nowhere);
      // Each of those under way would wait for a connection in vain, for two seconds.
      expect(await slow).toBeLessThan(2);
      await becomes(server, away, 4_500);
      await sleep(16_000);
      primaryRelay.move(primaryUrl);
      standbyRelay.move(standbyUrl);
      const back = performance.now();
      await expect
        .poll(async () => String(await told(server)), { timeout: longMs, interval: 50 })
        .toBe(String(primary));
      expect(performance.now() - back).toBeLessThan(4_000);
      const waits: number[] = [];
      for (let start = back; start - back < 8_000; start = performance.now()) {
        expect((await reader.admin('/items/notes')).status).toBe(200);
        waits.push(performance.now() - start);
        await sleep(breath);
      }
      expect(median(waits.slice(1))).toBeLessThan(500);
    } finally {
      await Promise.all([server.stop(), reader.stop()]);
      await Promise.all([primaryRelay.close(), standbyRelay.close()]);
    }
  });

  it('hears of a promotion and of a primary that is gone within two seconds', async () => {
    const [follower, leader] = await Promise.all([serve(standbyUrl), serve(primaryUrl)]);
    try {
      expect([await told(follower), await told(leader)]).toEqual([away, primary]);
      process.kill(pair.pid, 'SIGKILL');
      await becomes(leader, away, 4_500);
      await withClient(standbyUrl, (client) => client.query('SELECT pg_promote(true)'));
      await becomes(follower, primary, 2_500);
      expect((await write(follower)).status).toBe(200);
    } finally {
      await Promise.all([follower.stop(), leader.stop()]);
    }
  });
});

describe(`MariaDB with Galera${withoutGalera}`, () => {
  if (noGalera) return void it.skip('is not there');

  let cluster: ServerGroup;
  let project: Project;
  let server: Platform;
  let url: URL;
  beforeAll(async () => {
    [cluster, project] = await Promise.all([startGalera(), createProject()]);
    url = new URL(cluster.urls[0] ?? '');
    await withMysql(url.href, (connection) =>
      connection.query(`CREATE DATABASE app CHARACTER SET utf8mb4;
        CREATE TABLE app.notes (id integer AUTO_INCREMENT PRIMARY KEY, text varchar(20));
        CREATE TABLE app.site (id integer AUTO_INCREMENT PRIMARY KEY, title varchar(20));
        CREATE USER app@'%' IDENTIFIED BY 'app'; GRANT ALL ON app.* TO app@'%'`),
    );
    await installMysqlSystem(`${url.href.replace(/\/[^/]*$/, '/app')}`);
    await writeFile(
      join(project.folder, 'platform.config.ts'),
      'export default { collections: { site: { singleton: true } } };\n',
    );
    server = await startCompiled(project.folder, `mariadb://app:app@127.0.0.1:${url.port}/app`);
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
    await Promise.all([cluster?.stop(), project?.remove()]);
  });

  it('is ready with a quorum, and not while it is read-only', async () => {
    expect(await told(server)).toEqual(primary);
    expect((await write(server)).status).toBe(200);
    const set = (value: number) =>
      withMysql(url.href, (connection) => connection.query(`SET GLOBAL read_only = ${value}`));
    await set(1);
    await becomes(server, away, 2_500);
    const { checks } = (await server.admin('/server/health')).json;
    expect(checks.database.state).toBe('read-only');
    expect(failure(await write(server))).toBe('503 SERVICE_UNAVAILABLE');
    expect((await server.admin('/items/notes')).status).toBe(200);
    await set(0);
    await becomes(server, primary, 2_500);
    expect((await write(server)).status).toBe(200);
  });

  it('is not ready while it gives others what they lack, and is again after that', async () => {
    const set = (value: string) =>
      withMysql(url.href, (connection) => connection.query(`SET GLOBAL wsrep_desync = ${value}`));
    await set('ON');
    await becomes(server, away, 2_500);
    expect((await server.admin('/server/health')).json.checks.database).toMatchObject({ state: 'joining' });
    await set('OFF');
    await becomes(server, primary, 2_500);
  });

  it('makes what may be there once only once, and leaves an administrator, also beside a server of another node', async () => {
    const { port } = new URL(cluster.urls[1] ?? '');
    const other = await startUnchecked(project.folder, `mariadb://app:app@127.0.0.1:${port}/app`, {}, []);
    const both = [server, other];
    const rows = (sql: string) =>
      withMysql(url.href, async (node) => (await node.query(`SET STATEMENT wsrep_sync_wait = 15 FOR ${sql}`))[0]);
    try {
      const role = await server.admin('/roles', { method: 'POST', body: { name: 'chief', admin_access: true } });
      for (let round = 0; round < 5; round++) {
        await rows('DELETE FROM app.site');
        const titled = await Promise.all(
          both.map((one, title) => one.admin('/items/site', { method: 'PATCH', body: { title: String(title) } })),
        );
        expect(titled.map(({ status }) => status)).toEqual([200, 200]);
        expect(await rows('SELECT COUNT(*) AS count FROM app.site')).toEqual([{ count: 1 }]);
        // The only ones: one was made at the start.
        await rows('DELETE FROM app.platform_users');
        const users = await Promise.all(
          both.map((_, number) =>
            server.admin('/users', {
              method: 'POST',
              body: {
                email: `${round}-${number}@example.com`,
                role: role.json.data.id,
                password: 'correct horse battery',
              },
            }),
          ),
        );
        await expect.poll(async () => (await other.admin(`/users/${users[1]?.json.data.id}`)).status).toBe(200);
        const suspended = await Promise.all(
          users.map(({ json }, number) =>
            both[number]?.admin(`/users/${json.data.id}`, { method: 'PATCH', body: { status: 'suspended' } }),
          ),
        );
        expect(suspended.map((answer) => answer?.status).sort()).toEqual([200, 422]);
      }
    } finally {
      await other.stop();
    }
  });

  it('tells that it has lost the others, and refuses without hanging', async () => {
    for (const pid of cluster.pids.slice(1)) process.kill(pid, 'SIGKILL');
    // The cluster itself takes two to three seconds to find out.
    await becomes(server, away, 8_000);
    const { checks } = (await server.admin('/server/health')).json;
    expect(checks.database).toMatchObject({ status: 'error', state: 'no-quorum' });
    const start = performance.now();
    const answers = [await write(server), await server.admin('/items/notes')];
    expect(answers.map(failure)).toEqual(answers.map(() => '503 SERVICE_UNAVAILABLE'));
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});

/** How often the server has refused to begin. */
function refusals(errors: readonly string[]): number {
  return errors.filter((error) => /read-write mode during recovery/.test(error)).length;
}

/** Waits until the standby has what the primary has. */
async function becomesReadable(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const found = await withClient(url, (client) => client.query('SELECT 1 FROM notes')).catch(() => null);
    if (found !== null && found.rows.length > 0) return;
    if (tries > 100) throw new Error('The standby does not follow.');
    await sleep(50);
  }
}
