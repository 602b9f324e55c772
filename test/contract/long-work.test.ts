/** Requests whose work takes longer than a connection may be idle are answered; reads of clients that have left end. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ContractDatabase, createSystemDatabase, onServer } from '../support/contract-database.ts';
import { withClient } from '../support/database.ts';
import type { Shot } from '../support/fire.ts';
import { startCompiled } from '../support/host.ts';
import { withMysql } from '../support/mariadb.ts';
import { adminToken, createProject, type Platform } from '../support/platform.ts';
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

const drivers = [
  ...allServers.map(({ name, dialect, missing }) => ({ name, dialect, missing, driver: 'auto' })),
  { name: 'PostgreSQL by plain connections', dialect: null, missing: false, driver: 'pg' },
];

describe.each(drivers)('a client that leaves, on $name', ({ dialect, missing, driver }) => {
  if (missing) return void it.skip('is not there');

  let database: ContractDatabase;
  let platform: Platform;
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
            SELECT n AS id, ${nap} AS nap FROM g;`);
        const project = await createProject();
        removeProject = project.remove;
        const logs = { LOG_LEVEL: 'info', ACCESS_LOG: 'all', SLOW_QUERY: '50ms' };
        platform = await startCompiled(project.folder, database.url, { ...logs, DATABASE_DRIVER: driver });
      }),
    120_000,
  );
  afterAll(async () => {
    await platform?.stop();
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
  /** Asks, and leaves when so many statements run. */
  const leave = async ({ path, method = 'GET', body }: Shot, table: string, statements = 1): Promise<void> => {
    const headers = {
      authorization: `Bearer ${adminToken}`,
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': body.length }),
    };
    const leaving = request(`${platform.url}${path}`, { method, headers });
    leaving.on('error', () => {});
    leaving.end(body);
    await expect.poll(() => running(table), { timeout: 5_000 }).toBe(statements);
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
  const lines = (): readonly Record<string, unknown>[] =>
    platform
      .log()
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));

  const napping = '/items/naps?filter[nap][_neq]=5';
  const query = (text: string): Shot => ({ path: '/graphql', method: 'POST', body: JSON.stringify({ query: text }) });
  it.each<readonly [what: string, shot: Shot, statements: number]>([
    ['a list', { path: '/items/naps' }, 1],
    ['a count', { path: `${napping}&aggregate[count]=*` }, 1],
    ['an export', { path: `${napping}&export=csv` }, 1],
    ['a streamed list', { path: `${napping}&limit=-1` }, 1],
    ['a query', query('{ naps { nap } }'), 1],
    ['several fields', query('{ first: naps { nap } second: naps { id nap } }'), 2],
  ])('ends %s', async (_, shot, statements) => {
    await leave(shot, 'naps', statements);
    await expect.poll(() => running('naps'), { timeout: 2_000 }).toBe(0);
    expect((await platform.admin('/items/docs/1')).status).toBe(200);
  });

  it('ends an item that waits for a lock, and leaves others and writes alone', async () => {
    const paths = ['/items/docs/1', '/items/docs/2', '/items/docs'];
    for (const path of paths) await platform.admin(path);
    let others: Promise<readonly number[]> | undefined;
    await whileLocked('docs', async () => {
      await leave({ path: '/items/docs/1' }, 'docs');
      await expect.poll(() => running('docs'), { timeout: 2_000 }).toBe(0);
      await leave({ path: '/items/docs', method: 'POST', body: '{"id":3}' }, 'docs');
      others = Promise.all(paths.map(async (path) => (await platform.admin(path)).status));
      await sleep(500);
    });
    expect(await others).toEqual([200, 200, 200]);
    await expect.poll(async () => (await platform.admin('/items/docs/3')).status).toBe(200);
  });

  it('has a line without a status, and none of a failure', async () => {
    const left = lines().filter(({ path, status }) => path === '/items/naps' && status === undefined);
    expect(left.length).toBeGreaterThan(3);
    expect(lines().filter(({ level }) => Number(level) > 30)).toEqual([]);
    const slow = lines().filter(({ event, statement }) => event === 'slow-query' && String(statement).includes('naps'));
    expect(new Set(slow.map(({ error }) => error))).toEqual(new Set(['client_gone']));
  });
});
