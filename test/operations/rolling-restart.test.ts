/** A stop under load: behind a proxy no request fails while its servers are restarted, and what runs is answered. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readText } from '../architecture/files.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { generateHosted, startCompiled } from '../support/host.ts';
import { createMysqlDatabase, noMariadb, startMariadb, withMysql, withoutMariadb } from '../support/mariadb.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';

const sql = `
  CREATE TABLE docs (id integer PRIMARY KEY, title text); INSERT INTO docs SELECT i, 'Title ' || i FROM generate_series(1, 100) i;
  CREATE VIEW held AS SELECT 1 AS id, pg_catalog.pg_advisory_xact_lock_shared(1)::text AS lock;
  CREATE VIEW endless AS SELECT 1 AS id, pg_catalog.pg_sleep(60)::text AS slept;`;

/** A request that needs no connection to the database, and is answered when there is a file. */
const extensionFor = (file: string): string => `
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ route }) => {
  route<{ readonly response: { readonly waited: boolean } }>('GET /wait', { roles: ['public'] }, async () => {
    while (!existsSync(${JSON.stringify(file)})) await sleep(100);
    return { waited: true };
  });
});
`;

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
/** The file that ends what waits. */
let released: string;
beforeAll(async () => {
  database = await createDatabase(sql);
  project = await createProject();
  const rules = 'permissions: { public: { docs: { read: true, create: true } } }\n';
  writeFileSync(join(project.folder, 'permissions.yaml'), rules);
  await mkdir(join(project.folder, 'extensions'));
  released = join(project.folder, 'released');
  writeFileSync(join(project.folder, 'extensions/wait.ts'), extensionFor(released));
  await generateHosted(project.folder, database.url);
});
afterAll(async () => {
  await project?.remove();
  await database?.drop();
});

/** Milliseconds between the requests of a client which would keep a processor busy otherwise. */
const breathMs = 25;

const noHaproxy = spawnSync('haproxy', ['-v']).error !== undefined;
const withoutHaproxy = noHaproxy ? ' (skipped: haproxy is not installed: apt-get install haproxy)' : '';

describe.skipIf(noHaproxy)(`haproxy with the settings of docs/deployment.md${withoutHaproxy}`, () => {
  it('fails none of 10,000 requests while both servers are restarted three times', { timeout: 120_000 }, async () => {
    const ports = [await freePort(), await freePort()] as const;
    const proxyPort = await freePort();
    // Tests share their machine with others: a request may wait for long.
    const settings = { SHUTDOWN_DELAY: '1s', IP_TRUST_PROXY: '127.0.0.1', DATABASE_POOL_TIMEOUT: '30s' };
    const serve = (port: number): Promise<Platform> =>
      startUnchecked(project.folder, database.url, { PORT: String(port), ...settings }, []);
    const servers = await Promise.all(ports.map(serve));
    const proxy = startProxy(project.folder, proxyPort, ports);
    const agent = new Agent({ keepAlive: true, maxSockets: 12 });
    try {
      const ready = () =>
        fetch(`http://127.0.0.1:${proxyPort}/server/ready`).then(
          ({ ok }) => ok,
          () => false,
        );
      await expect.poll(ready).toBe(true);
      const failures: string[] = [];
      const turns = [0, 1, 0, 1, 0, 1] as const;
      let asked = 0;
      let written = 0;
      let restarted = 0;
      const client = async (): Promise<void> => {
        while (restarted < turns.length || asked < 10_000) {
          // Each turn has its part of the requests at full speed, and the rest of it some all the time.
          if (asked * turns.length > 10_000 * (restarted + 1)) await sleep(breathMs);
          asked += 1;
          const isWrite = asked % 10 === 0;
          const result = await send(agent, proxyPort, isWrite ? { id: 1000 + asked } : null, (asked % 100) + 1);
          if (result !== 200) failures.push(`${isWrite ? 'POST' : 'GET'} ${asked}: ${result}`);
          else if (isWrite) written += 1;
        }
      };
      const clients = Array.from({ length: 12 }, client);
      for (const [turn, index] of turns.entries()) {
        expect(await servers[index]?.stop()).toBe(0);
        servers[index] = await serve(ports[index]);
        await expect.poll(() => proxy.log().split('is UP').length - 1).toBe(turn + 1);
        restarted += 1;
      }
      await Promise.all(clients);
      expect(failures, proxy.log()).toEqual([]);
      expect(asked).toBeGreaterThanOrEqual(10_000);
      const stored = await withClient(database.url, (client_) => client_.query('SELECT FROM docs WHERE id > 1000'));
      expect(stored.rowCount).toBe(written);
    } finally {
      agent.destroy();
      proxy.kill();
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
});

/** Starts the proxy of the page, with ports of the test and a look at the servers that is five times as frequent. */
function startProxy(folder: string, port: number, [first, second]: readonly [number, number]) {
  const [, page = ''] = /^```text\n(global[\s\S]*?)^```$/m.exec(readText('docs/deployment.md')) ?? [];
  const settings = page
    .replace('bind :443 ssl crt /etc/haproxy/api.pem', `bind 127.0.0.1:${port}`)
    .replace('127.0.0.1:8055', `127.0.0.1:${first}`)
    .replace('127.0.0.1:8056', `127.0.0.1:${second}`)
    .replaceAll('inter 1s', 'inter 200ms');
  expect(settings).toContain(`server b 127.0.0.1:${second} check inter 200ms`);
  writeFileSync(join(folder, 'haproxy.cfg'), settings);
  const child = spawn('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], { stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  child.stderr.on('data', (chunk) => (printed += String(chunk)));
  return { log: () => printed, kill: () => child.kill() };
}

/** Sends one request; resolves to the status, or to the error. */
function send(agent: Agent, port: number, body: object | null, key: number): Promise<number | string> {
  const path = body === null ? `/items/docs/${key}` : '/items/docs';
  const headers = body === null ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve) => {
    const sent = request({ agent, host: '127.0.0.1', port, path, method: body === null ? 'GET' : 'POST', headers });
    sent.on('error', (error) => resolve(error.message));
    sent.on('response', (response) => {
      const { statusCode } = response;
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => resolve(statusCode === 200 ? statusCode : `${statusCode} ${text}`));
      response.on('error', (error) => resolve(error.message));
    });
    sent.end(body === null ? undefined : JSON.stringify(body));
  });
}

describe.each([
  ['one process', []],
  ['two workers', ['--workers', '2']],
] as const)('SIGTERM of %s', (_, args) => {
  it('answers 100 requests that are under way', { timeout: 120_000 }, async () => {
    rmSync(released, { force: true });
    const pool = { DATABASE_POOL_MAX: '20', DATABASE_POOL_TIMEOUT: '60s' };
    const environment = { METRICS_PORT: '0', SHUTDOWN_DELAY: '5s', ...pool };
    const server = await startUnchecked(project.folder, database.url, environment, [...args]);
    const metrics = /"metrics":"([^"]*)"/.exec(server.log())?.[1] ?? '';
    await withClient(database.url, async (client) => {
      await client.query('SELECT pg_advisory_lock(1)');
      const running = Array.from({ length: 100 }, (__, index) =>
        index % 10 === 0 ? server.admin('/items/held') : server.ask('/wait'),
      );
      await expect
        .poll(async () => (await fetch(`${metrics}/metrics`)).text())
        .toMatch(/^http_server_active_requests 100$/m);
      const stopped = server.stop();
      // While SHUTDOWN_DELAY lasts, new connections are served, and know that they should go elsewhere.
      const ready = () => fetch(`${server.url}/server/ready`, { headers: { connection: 'close' } });
      await expect.poll(async () => (await ready()).status, { interval: 20 }).toBe(503);
      expect(await (await ready()).json()).toEqual({ status: 'draining' });
      expect((await server.ask('/items/docs/1')).headers.get('connection')).toBe('close');
      await expect.poll(() => ready().catch(() => 'closed')).toBe('closed');
      await client.query('SELECT pg_advisory_unlock(1)');
      writeFileSync(released, '');
      expect((await Promise.all(running)).map(({ status }) => status)).toEqual(running.map(() => 200));
      expect(await stopped).toBe(0);
    });
  });
});

describe.each([
  ['one process', []],
  ['two workers', ['--workers', '2']],
] as const)('a stop of %s', (_, args) => {
  it('answers the requests of connections that were not taken when it came', { timeout: 60_000 }, async () => {
    const server = await startUnchecked(project.folder, database.url, {}, [...args]);
    const pids = [server.pid, ...childrenOf(server.pid)];
    expect(pids).toHaveLength(args.length + 1);
    const agent = new Agent({ keepAlive: false });
    // The kernel takes connections meanwhile, and they are there at once with the signal.
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    const answers = Array.from({ length: 50 }, () => send(agent, Number(new URL(server.url).port), null, 1));
    await expect
      .poll(
        () =>
          Object.values(agent.sockets)
            .flat()
            .filter((socket) => socket?.connecting === false).length,
      )
      .toBe(50);
    const stopped = server.stop();
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    expect(await Promise.all(answers)).toEqual(answers.map(() => 200));
    expect(await stopped).toBe(0);
  });

  /** Results other than 200 of clients that go on connecting until a server that is stopped stops listening. */
  async function failuresOfStop(): Promise<readonly (number | string)[]> {
    const server = await startUnchecked(project.folder, database.url, {}, [...args]);
    const port = Number(new URL(server.url).port);
    const results: (number | string)[] = [];
    let isRefused = false;
    const client = async (): Promise<void> => {
      for (let key = 1; !isRefused; key = (key % 100) + 1) {
        const result = await send(new Agent({ keepAlive: false }), port, null, key);
        if (String(result).includes('ECONNREFUSED')) isRefused = true;
        else results.push(result);
      }
    };
    const clients = Array.from({ length: 8 }, client);
    await expect.poll(() => results.length).toBeGreaterThan(200);
    expect(await server.stop()).toBe(0);
    await Promise.all(clients);
    return results.filter((result) => result !== 200);
  }

  it('answers clients that go on connecting until it stops listening', { timeout: 120_000 }, async () => {
    const stops: (readonly (number | string)[])[] = [];
    // The kernel resets one that comes between the last look for connections and the end, some microseconds later. A busy
    // machine may take the process away in between, so there are two more stops: one that does not look resets many each time.
    do stops.push(await failuresOfStop());
    while (stops.every((failures) => failures.length > 1) && stops.length < 3);
    expect(Math.min(...stops.map((failures) => failures.length)), JSON.stringify(stops)).toBeLessThanOrEqual(1);
  });
});

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number);
}

describe('after SHUTDOWN_TIMEOUT statements are cancelled, and a warning says how many requests were cut', () => {
  async function cutThree(folder: string, url: string, countStatements: () => Promise<number>): Promise<void> {
    const server = await startCompiled(folder, url, { SHUTDOWN_TIMEOUT: '300ms', LOG_LEVEL: 'warn' });
    // Reads that differ, because the same ones would be one statement.
    const running = [1, 2, 3].map((limit) => server.admin(`/items/endless?limit=${limit}`).catch(() => null));
    await expect.poll(countStatements).toBe(3);
    expect(await server.stop()).toBe(0);
    expect(server.log()).toMatch(/"requests":3,"msg":"Requests were cut/);
    expect(await Promise.all(running)).toEqual([null, null, null]);
    await expect.poll(countStatements).toBe(0);
  }

  it('on PostgreSQL', async () => {
    const text = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
      AND query LIKE '%endless%' AND pid <> pg_backend_pid()`;
    const count = () => withClient(database.url, async (client) => (await client.query(text)).rowCount ?? 0);
    await cutThree(project.folder, database.url, count);
  });

  it.skipIf(noMariadb)(`on MariaDB${withoutMariadb}`, async () => {
    const host = await startMariadb();
    const url = await createMysqlDatabase(host, 'CREATE VIEW endless AS SELECT 1 AS id, SLEEP(60) AS slept');
    const place = await createProject();
    const text = `SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE '%endless%' AND id <> CONNECTION_ID()`;
    try {
      const count = () => withMysql(url, async (client) => (await client.query<RowDataPacket[]>(text))[0].length);
      await cutThree(place.folder, url, count);
    } finally {
      await place.remove();
    }
  });
});
