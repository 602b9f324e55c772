/** Requests whose work takes longer than a connection may be idle are answered; reads of clients that have left end. */
import { mkdir, writeFile } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ContractDatabase, createSystemDatabase, onServer } from '../support/contract-database.ts';
import { withClient } from '../support/database.ts';
import type { Shot } from '../support/fire.ts';
import { startCompiled } from '../support/host.ts';
import { withMysql } from '../support/mariadb.ts';
import { scrape } from '../support/metered.ts';
import { adminToken, createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { allServers } from '../support/servers.ts';

/** A connection may be idle for ten seconds more than a statement and the wait for its connection take. */
const extension = `import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ route }) => {
  route<{ response: { readonly done: boolean } }>('POST /slow', { roles: ['public'] }, async () => {
    await sleep(13_000);
    return { done: true };
  });
});
`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: 'CREATE TABLE docs (id integer PRIMARY KEY)',
    extensions: { 'slow.ts': extension },
    environment: { DATABASE_STATEMENT_TIMEOUT: '500ms', DATABASE_POOL_TIMEOUT: '500ms', REQUEST_TIMEOUT: '1s' },
  });
});
afterAll(() => project?.close());

it('are answered on their connections, which end where the rest of a request does not come', {
  timeout: 60_000,
}, async () => {
  const slow = project.ask('/slow', { method: 'POST' });
  const start = performance.now();
  // A connection on which nothing was ever sent ends as before.
  const { port, hostname } = new URL(project.url);
  const idle = connect({ port: Number(port), host: hostname });
  const closed = new Promise((resolve) => idle.once('close', resolve));
  idle.on('error', () => {}).resume();
  const { status, json } = await slow;
  expect([status, json]).toEqual([200, { done: true }]);
  expect(performance.now() - start).toBeGreaterThan(12_000);
  await Promise.race([closed, sleep(5_000)]);
  expect(idle.destroyed).toBe(true);
});

/** Reads of a request, of one that may write what it read, and after an answer. */
const napping = `import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ route }) => {
  route('GET /napping', { roles: [] }, async ({ items }) => void (await items.asAdmin('naps').list()));
  route('POST /napping', { roles: [] }, async ({ items }) => void (await items.asAdmin('dozes').list()));
  route('GET /later', { roles: [] }, ({ items }) => void items.asAdmin('dozes').list());
});
`;

/** Less than the twenty seconds of a statement that nothing ends, and enough for a busy machine. */
const soon = { timeout: 8_000 };

const drivers = [
  ...allServers.map(({ name, dialect, missing }) => ({ name, dialect, missing, driver: 'auto' })),
  { name: 'PostgreSQL by plain connections', dialect: null, missing: false, driver: 'pg' },
];

describe.each(drivers)('a client that leaves, on $name', ({ dialect, missing, driver }) => {
  if (missing) return void it.skip('is not there');

  let database: ContractDatabase;
  let platform: Platform;
  /** The same with as few connections as there may be. */
  let crowded: Platform;
  let removeProject: () => Promise<unknown>;
  beforeAll(
    () =>
      onServer(dialect, async () => {
        // MariaDB ends a sleep late at times, so that there are many short ones.
        const nap = dialect === null ? 'CAST(pg_sleep(0.2) AS text)' : 'SLEEP(0.2)';
        database = await createSystemDatabase(`
          CREATE TABLE docs (id integer PRIMARY KEY);
          INSERT INTO docs VALUES (1), (2);
          CREATE VIEW naps AS WITH RECURSIVE g (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < 100)
            SELECT n AS id, ${nap} AS nap FROM g;
          CREATE VIEW dozes AS WITH RECURSIVE g (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < 10)
            SELECT n AS id, ${nap} AS nap FROM g;`);
        const { folder, remove } = await createProject();
        removeProject = remove;
        await mkdir(join(folder, 'extensions'));
        await writeFile(join(folder, 'extensions', 'napping.ts'), napping);
        await writeFile(join(folder, 'permissions.yaml'), 'permissions: { public: { naps: { read: true } } }\n');
        const logs = { LOG_LEVEL: 'info', ACCESS_LOG: 'all', SLOW_QUERY: '50ms', DATABASE_POOL_TIMEOUT: '20s' };
        platform = await startCompiled(folder, database.url, { ...logs, DATABASE_DRIVER: driver });
        const few = { ...logs, DATABASE_DRIVER: driver, DATABASE_POOL_MAX: '1', METRICS_PORT: '0' };
        crowded = await startUnchecked(folder, database.url, few, []);
      }),
    120_000,
  );
  afterAll(async () => {
    await Promise.all([platform?.stop(), crowded?.stop()]);
    await removeProject?.();
    await database?.drop();
  });

  /** Statements that the database runs about a table. */
  const running = async (table: string): Promise<number> => {
    const [activity, text] =
      dialect === null
        ? [
            "pg_stat_activity WHERE state = 'active' AND datname = current_database() AND pid <> pg_backend_pid()",
            'query',
          ]
        : ['information_schema.processlist WHERE db = database() AND id <> connection_id()', 'info'];
    const [[count] = []] = await database.cells(
      `SELECT count(*) FROM ${activity} AND ${text} LIKE '%${table}%' AND ${text} NOT LIKE 'EXPLAIN%'`,
    );
    return Number(count);
  };
  /** Asks as a client that may leave. */
  const ask = (server: Platform, { path, method = 'GET', body }: Shot, token = adminToken): ClientRequest => {
    const headers = {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': body.length }),
    };
    const leaving = request(`${server.url}${path}`, { method, headers });
    return leaving.on('error', () => {}).end(body);
  };
  /** Asks, and leaves when so many statements run. */
  const leave = async (shot: Shot, table: string, statements = 1): Promise<void> => {
    const leaving = ask(platform, shot);
    await expect.poll(() => running(table), soon).toBe(statements);
    leaving.destroy();
  };
  /** Runs a function while another session has a table to itself. */
  const whileLocked = (table: string, run: () => Promise<void>): Promise<void> =>
    dialect === null
      ? withClient(database.url, async (client) => {
          await client.query(`BEGIN; LOCK TABLE ${table}`);
          await run();
          await client.query('COMMIT');
        })
      : withMysql(database.url, async (connection) => {
          await connection.query(`LOCK TABLES ${table} WRITE`);
          await run();
          await connection.query('UNLOCK TABLES');
        });
  const lines = (server = platform): readonly Record<string, unknown>[] =>
    server
      .log()
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));

  /** Statements about a table that ended as their clients had left. */
  const left = (server: Platform, table: string): readonly Record<string, unknown>[] =>
    lines(server).filter(({ error, statement }) => error === 'client_gone' && String(statement).includes(table));

  const filtered = '/items/naps?filter[nap][_neq]=5';
  const query = (text: string): Shot => ({ path: '/graphql', method: 'POST', body: JSON.stringify({ query: text }) });
  it.each<readonly [what: string, shot: Shot, statements: number]>([
    ['a list', { path: '/items/naps' }, 1],
    ['a count', { path: `${filtered}&aggregate[count]=*` }, 1],
    ['an export', { path: `${filtered}&export=csv` }, 1],
    ['a streamed list', { path: `${filtered}&limit=-1` }, 1],
    ['a query', query('{ naps { nap } }'), 1],
    ['several fields', query('{ first: naps { nap } second: naps { id nap } }'), 2],
    ['a read of a route', { path: '/napping' }, 1],
  ])('ends %s', async (_, shot, statements) => {
    await leave(shot, 'naps', statements);
    await expect.poll(() => running('naps'), soon).toBe(0);
    expect((await platform.admin('/items/docs/1')).status).toBe(200);
  });

  it('ends an item that waits for a lock, and leaves others and writes alone', async () => {
    const paths = ['/items/docs/1', '/items/docs/2', '/items/docs'];
    for (const path of paths) await platform.admin(path);
    let others: Promise<readonly number[]> | undefined;
    await whileLocked('docs', async () => {
      await leave({ path: '/items/docs/1' }, 'docs');
      await expect.poll(() => running('docs'), soon).toBe(0);
      await leave({ path: '/items/docs', method: 'POST', body: '{"id":3}' }, 'docs');
      others = Promise.all(paths.map(async (path) => (await platform.admin(path)).status));
      await sleep(500);
    });
    expect(await others).toEqual([200, 200, 200]);
    await expect.poll(async () => (await platform.admin('/items/docs/3')).status).toBe(200);
  });

  it.each<readonly [what: string, shot: Shot]>([
    ['of a route that may write', { path: '/napping', method: 'POST' }],
    ['after an answer', { path: '/later' }],
  ])('leaves a read %s alone', async (_, shot) => {
    await leave(shot, 'dozes');
    await sleep(600);
    expect(await running('dozes')).toBe(1);
    await expect.poll(() => running('dozes'), soon).toBe(0);
    expect(left(platform, 'dozes')).toEqual([]);
  });

  it('leaves its turn to others', async () => {
    const client = async (): Promise<ClientRequest> => {
      const asking = ask(platform, { path: '/items/naps' }, '');
      await expect.poll(() => running('naps'), soon).toBe(1);
      await sleep(400);
      return asking;
    };
    // From here on its statements are slow.
    (await client()).destroy();
    await expect.poll(() => running('naps'), soon).toBe(0);
    const first = await client();
    const before = left(platform, 'naps').length;
    const waiting = [ask(platform, { path: '/items/naps' }, ''), ask(platform, { path: `${filtered}&limit=-1` }, '')];
    await sleep(400);
    expect(await running('naps')).toBe(1);
    for (const client of waiting) client.destroy();
    await expect.poll(() => left(platform, 'naps').length, soon).toBe(before + 2);
    first.destroy();
    await expect.poll(() => running('naps'), soon).toBe(0);
  });

  it('waits for no connection, and leaves its place to the next', { timeout: 60_000 }, async () => {
    // GraphQL is loaded by the first document, which may take longer than clients wait here.
    await crowded.admin('/graphql', { method: 'POST', body: { query: '{ docs { id } }' } });
    const taking: ClientRequest[] = [];
    do {
      taking.push(ask(crowded, { path: '/items/naps' }));
      await sleep(1_000);
    } while ((await running('naps')) === taking.length);
    const shots: readonly Shot[] = [
      { path: '/items/docs/1' },
      { path: '/items/docs' },
      { path: '/items/docs?limit=-1' },
      { path: '/items/docs?export=csv' },
      query('{ docs { id } }'),
    ];
    const waiting = shots.map((shot) => ask(crowded, shot));
    const next = crowded.admin('/items/docs?sort=-id');
    await sleep(500);
    for (const client of waiting) client.destroy();
    await expect.poll(() => left(crowded, 'docs').length, soon).toBe(shots.length);
    expect(left(crowded, 'docs').filter(({ ms, waitMs }) => ms !== waitMs)).toEqual([]);
    expect(await running('naps')).toBe(taking.length - 1);
    for (const client of taking) client.destroy();
    expect((await next).status).toBe(200);
    const metrics = await scrape(/"metrics":"([^"]*)"/.exec(crowded.log())?.[1] ?? '');
    const labels = { db_collection_name: 'docs', error_type: 'client_gone' };
    expect(metrics.value('db_client_operation_duration_seconds_count', labels)).toBe(shots.length);
    expect(lines(crowded).filter(({ level }) => Number(level) > 30)).toEqual([]);
  });

  it('has a line without a status, and none of a failure', async () => {
    const unanswered = lines().filter(({ path, status }) => path === '/items/naps' && status === undefined);
    expect(unanswered.length).toBeGreaterThan(3);
    expect(lines().filter(({ level }) => Number(level) > 30)).toEqual([]);
    const slow = lines().filter(({ event, statement }) => event === 'slow-query' && String(statement).includes('naps'));
    expect(new Set(slow.map(({ error }) => error))).toEqual(new Set(['client_gone']));
  });
});
