/** Metrics of the command as its users start it, read over HTTP, in one process and in several. */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { type Metrics, parseMetrics, promtool } from '../support/metrics-text.ts';
import { administrator, createProject, type Platform, runPlatform, startUnchecked } from '../support/platform.ts';
import { servers } from '../support/servers.ts';
import { serveSso } from '../support/single-sign-on.ts';
import { installSystem } from '../support/system.ts';

const sql = `
  CREATE TABLE docs (id integer PRIMARY KEY, title text); INSERT INTO docs SELECT i, 'Title ' || i FROM generate_series(1, 200) i;
  CREATE TABLE notes (id integer PRIMARY KEY, doc integer REFERENCES docs);
  CREATE TABLE secrets (id integer PRIMARY KEY);`;

const mysqlSql = `
  CREATE TABLE docs (id int PRIMARY KEY, title varchar(50)); INSERT INTO docs VALUES (1, 'Title 1'), (2, 'Title 2');
  CREATE TABLE notes (id int PRIMARY KEY, doc int); CREATE TABLE secrets (id int PRIMARY KEY);`;

const scrapeToken = 'a-token-of-the-metrics';

const rules = 'permissions: { public: { docs: { read: true, create: true }, notes: { read: true } } }\n';

let database: TestDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
beforeAll(async () => {
  database = await createDatabase(sql);
  project = await createProject();
  await writeFile(join(project.folder, 'permissions.yaml'), rules);
  const made = await runPlatform(['generate', '--project', project.folder], { DATABASE_URL: database.url });
  expect(made).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await project?.remove();
  await database?.drop();
});

async function withServer(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
  use: (server: Platform, metricsUrl: string) => Promise<void>,
): Promise<void> {
  const server = await startUnchecked(project.folder, database.url, { METRICS_PORT: '0', ...environment }, args);
  try {
    await use(server, /"metrics":"([^"]*)"/.exec(server.log())?.[1] ?? '');
  } finally {
    await server.stop();
  }
}

async function scrape(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Metrics> {
  const response = await fetch(`${url}/metrics`, { headers });
  expect(response.status).toBe(200);
  const isOpen = response.headers.get('content-type')?.startsWith('application/openmetrics-text') === true;
  return parseMetrics(await response.text(), isOpen);
}

async function ask(server: Platform): Promise<void> {
  for (const key of [1, 2, 3]) await server.ask(`/items/docs/${key}`);
  await server.ask('/items/docs?limit=2');
  await server.ask('/items/docs', { method: 'POST', body: { id: 1 } });
  await server.ask('/items/secrets');
  await server.ask('/items/unknown_of_a_client/5');
  await server.ask('/nothing/of-a-client');
  await server.ask('/items/docs/1', { token: 'wrong' });
  await server.admin('/items/notes?limit=0');
  await server.ask('/graphql', { method: 'POST', body: { query: '{ docs(limit: 1) { id } }' } });
  await server.ask('/graphql', { method: 'POST', body: { query: '{ docs(limit: 1) { id } secrets { id } }' } });
}

const route = '/items/:collection/:key';
const duration = 'http_server_request_duration_seconds';

it('requests are counted and timed', async () => {
  await withServer({}, [], async (server, url) => {
    await ask(server);
    const metrics = await scrape(url);
    const read = { http_request_method: 'GET', http_route: route };
    expect(metrics.value(`${duration}_count`, { ...read, http_response_status_code: '200' })).toBe(3);
    expect(metrics.value(`${duration}_count`, { http_route: '/items/:collection' })).toBe(4);
    expect(metrics.value(`${duration}_count`, { http_route: '', http_response_status_code: '404' })).toBe(1);
    expect(metrics.value(`${duration}_sum`, read)).toBeGreaterThan(0.0005);
    expect(metrics.value('tablewright_collection_duration_seconds_count', { collection: 'docs' })).toBe(5);
    expect(metrics.labelValues('tablewright_collection_duration_seconds_count', 'operation').toSorted()).toEqual([
      'create',
      'list',
      'read',
    ]);
    const requests = (labels: Readonly<Record<string, string>>) => metrics.value('tablewright_requests_total', labels);
    expect(requests({ class: 'public', surface: 'rest', outcome: 'ok' })).toBe(4);
    expect(requests({ class: 'admin', surface: 'rest', outcome: 'ok' })).toBe(1);
    expect(requests({ class: 'public', surface: 'graphql', outcome: 'ok' })).toBe(1);
    expect(requests({ class: 'public', surface: 'graphql', outcome: 'refused' })).toBe(1);
    expect(metrics.value('tablewright_errors_total', { code: 'FORBIDDEN' })).toBeGreaterThan(1);
    expect(metrics.value('tablewright_errors_total', { code: 'ROUTE_NOT_FOUND' })).toBe(1);
    expect(metrics.value('tablewright_errors_total', { code: 'SERVICE_UNAVAILABLE' })).toBe(0);
    expect(metrics.value('http_server_active_requests')).toBe(0);
    expect(metrics.value('tablewright_build_info', { node: process.version, database: 'postgres' })).toBe(1);
    expect(metrics.value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(metrics.value('nodejs_version_info', { version: process.version })).toBe(1);
    const texts = metrics.samples.flatMap(({ labels }) => Object.values(labels)).join(' ');
    expect(texts).not.toMatch(/client|127\.0|wrong/);
  });
});

describe('the database', () => {
  it('is timed by statement and table, and its errors are named', async () => {
    await withServer({}, [], async (server, url) => {
      await ask(server);
      await server.ask('/items/docs', { method: 'POST', body: { id: 1001, title: 'new' } });
      await server.ask('/items/docs', { method: 'POST', body: { id: 1, title: 'there already' } });
      const all = await server.admin('/items/docs?limit=-1');
      expect(all.json.data.length).toBeGreaterThan(200);
      const metrics = await scrape(url);
      const statements = (operation: string, labels = {}) =>
        metrics.value('db_client_operation_duration_seconds_count', {
          ...{ db_system_name: 'postgresql', db_operation_name: operation, db_collection_name: 'docs' },
          ...labels,
        });
      expect(statements('SELECT', { error_type: '' })).toBeGreaterThanOrEqual(6);
      expect(statements('INSERT', { error_type: '' })).toBe(1);
      expect(statements('INSERT', { error_type: '23505' })).toBeGreaterThan(0);
      expect(metrics.labelValues('db_client_operation_duration_seconds_count', 'db_collection_name')).not.toContain(
        'secrets',
      );
      expect(metrics.value('db_client_connection_max')).toBe(10);
      expect(metrics.value('db_client_connection_count')).toBeGreaterThan(0);
      expect(metrics.value('db_client_connection_pending_requests')).toBe(0);
      expect(metrics.value('db_client_connection_timeouts_total')).toBe(0);
      expect(metrics.value('tablewright_transactions_retried_total', { reason: 'conflict' })).toBe(0);
    });
  });

  it('counts requests that wait for a connection, and those that wait in vain', async () => {
    const pool = { DATABASE_POOL_MAX: '3', DATABASE_POOL_TIMEOUT: '300ms' };
    await withServer(pool, [], async (server, url) => {
      await withClient(database.url, async (client) => {
        await client.query('BEGIN; LOCK TABLE docs IN EXCLUSIVE MODE');
        const writes = Array.from({ length: 40 }, (_, id) =>
          server.ask('/items/docs', { method: 'POST', body: [{ id: 2000 + id }, { id: 3000 + id }] }),
        );
        await expect
          .poll(async () => (await scrape(url)).value('db_client_connection_pending_requests'))
          .toBeGreaterThan(0);
        await expect
          .poll(async () => (await scrape(url)).value('db_client_connection_timeouts_total'))
          .toBeGreaterThan(0);
        await client.query('ROLLBACK');
        expect((await Promise.all(writes)).some(({ status }) => status === 503)).toBe(true);
      });
      const metrics = await scrape(url);
      expect(metrics.value('tablewright_errors_total', { code: 'SERVICE_UNAVAILABLE' })).toBeGreaterThan(0);
      expect(metrics.value('db_client_connection_wait_time_seconds_count')).toBeGreaterThan(0);
    });
  });
});

describe.each(servers)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  it('is timed as PostgreSQL is', async () => {
    const host = await start();
    const url = await createMysqlDatabase(host, mysqlSql);
    const place = await createProject();
    await writeFile(join(place.folder, 'permissions.yaml'), rules);
    const server = await startUnchecked(place.folder, url, { METRICS_PORT: '0' });
    try {
      await ask(server);
      await server.ask('/items/docs', { method: 'POST', body: { id: 9 } });
      const metrics = await scrape(/"metrics":"([^"]*)"/.exec(server.log())?.[1] ?? '');
      const counted = (operation: string, errorType: string) =>
        metrics.value('db_client_operation_duration_seconds_count', {
          ...{ db_operation_name: operation, db_collection_name: 'docs', error_type: errorType },
        });
      expect(counted('SELECT', '')).toBeGreaterThanOrEqual(3);
      expect(counted('INSERT', '')).toBe(1);
      expect(counted('INSERT', '23505')).toBeGreaterThan(0);
      expect(metrics.labelValues('db_client_operation_duration_seconds_count', 'db_system_name')).toEqual([
        metrics.labelValues('tablewright_build_info', 'database')[0],
      ]);
      expect(metrics.value('db_client_connection_count')).toBeGreaterThan(0);
      expect(metrics.value('db_client_connection_max')).toBe(10);
      expect(metrics.value('db_client_connection_wait_time_seconds_count')).toBeGreaterThan(3);
    } finally {
      await server.stop();
      await place.remove();
      await host.stop();
    }
  });
});

it('promtool finds no fault', async (test) => {
  if (promtool('') === null) test.skip('promtool is not installed: apt-get install prometheus');
  await withServer({}, [], async (server, url) => {
    await ask(server);
    const text = await (await fetch(`${url}/metrics`)).text();
    // Names of Node's dashboards and of OpenTelemetry are not ours to choose.
    const others = /^(?:nodejs_\w+|db_client_connection_count) /;
    expect(promtool(text)?.filter((line) => !others.test(line))).toEqual([]);
  });
});

it('OpenMetrics is read by those who ask for it', async () => {
  await withServer({}, [], async (server, url) => {
    await ask(server);
    const accept = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1';
    const response = await fetch(`${url}/metrics`, { headers: { accept } });
    expect(response.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    const open = parseMetrics(await response.text(), true);
    expect(open.labelValues(`${duration}_bucket`, 'le')).toContain('10.0');
    const plain = await scrape(url);
    expect([...plain.types]).toEqual([...open.types]);
    expect(open.value('tablewright_requests_total', { class: 'admin', outcome: 'ok' })).toBe(1);
    const again = await scrape(url, { accept });
    expect([...again.types]).toEqual([...open.types]);
  });
});

describe('the second listener', () => {
  it('answers three paths and nothing else, beside the limits of requests', async () => {
    const limits = { RATE_LIMITER_ENABLED: 'true', RATE_LIMITER_POINTS: '2', RATE_LIMITER_DURATION: '60s' };
    await withServer(limits, [], async (server, url) => {
      for (let asked = 0; asked < 5; asked++) {
        for (const path of ['/metrics', '/server/ping', '/server/ready']) {
          expect((await fetch(url + path)).status).toBe(200);
        }
      }
      expect((await fetch(`${url}/items/docs/1`)).status).toBe(404);
      expect((await fetch(`${url}/server/health`)).status).toBe(404);
      expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
      expect(await (await fetch(`${url}/server/ping`)).text()).toBe('pong');
      const statuses = [];
      for (let asked = 0; asked < 3; asked++) statuses.push((await server.ask('/items/docs/1')).status);
      expect(statuses).toEqual([200, 200, 429]);
      const metrics = await scrape(url);
      expect(metrics.value('tablewright_requests_total', { outcome: 'limited' })).toBe(1);
    });
  });

  it('says that the server is draining, to the end', async () => {
    await withServer({ SHUTDOWN_DELAY: '800ms' }, [], async (server, url) => {
      const stopped = server.stop();
      await expect.poll(async () => (await fetch(`${url}/server/ready`)).status, { timeout: 2_000 }).toBe(503);
      expect((await fetch(`${url}/metrics`)).status).toBe(200);
      expect(await stopped).toBe(0);
    });
  });
});

describe('METRICS_TOKEN', () => {
  it('opens /metrics on the public port, to no one else', async () => {
    await withServer({ METRICS_PORT: '', METRICS_TOKEN: scrapeToken }, [], async (server, url) => {
      expect(url).toBe('');
      await ask(server);
      const unknown = await server.ask('/nothing');
      const [hidden, wrong] = [await server.ask('/metrics'), await server.ask('/metrics', { token: 'wrong-token' })];
      expect([hidden.status, hidden.text]).toEqual([unknown.status, unknown.text]);
      const other = await server.ask('/nothing', { token: 'wrong-token' });
      expect([wrong.status, wrong.text]).toEqual([other.status, other.text]);
      expect((await server.ask('/metrics', { token: scrapeToken, method: 'POST' })).status).not.toBe(200);
      const metrics = await scrape(server.url, { authorization: `Bearer ${scrapeToken}` });
      expect(metrics.value(`${duration}_count`, { http_route: route })).toBeGreaterThan(3);
      const again = await scrape(server.url, { authorization: `Bearer ${scrapeToken}` });
      expect(again.value(`${duration}_count`, { http_route: '/metrics' })).toBe(1);
    });
  });

  it('is the only way: without it the path is unknown', async () => {
    await withServer({ METRICS_PORT: '' }, [], async (server) => {
      expect((await server.ask('/metrics')).status).toBe(404);
      expect((await server.admin('/metrics')).status).toBe(404);
    });
  });
});

it('collections beyond METRICS_SERIES_MAX are counted as one', async () => {
  await withServer({ METRICS_SERIES_MAX: '40', LOG_LEVEL: 'warn' }, [], async (server, url) => {
    await ask(server);
    const names = (await scrape(url)).labelValues('tablewright_collection_duration_seconds_count', 'collection');
    expect(names.toSorted()).toEqual(['_other', 'docs']);
    expect(server.log().split('METRICS_SERIES_MAX is reached')).toHaveLength(2);
  });
});

describe('the platform', () => {
  it('counts sign-ins, plans, swaps of the API, drifts and what waits', async () => {
    const own = await createDatabase('CREATE TABLE docs (id integer PRIMARY KEY)');
    await installSystem(own.url);
    const place = await createProject();
    await writeFile(join(place.folder, 'permissions.yaml'), 'permissions: { public: { docs: { read: true } } }\n');
    const limits = { RATE_LIMITER_AUTH_ADDRESS_POINTS: '3' };
    const server = await startUnchecked(place.folder, own.url, { METRICS_PORT: '0', ...limits });
    try {
      const url = /"metrics":"([^"]*)"/.exec(server.log())?.[1] ?? '';
      const login = (body: object) => server.ask('/auth/login', { method: 'POST', body });
      expect((await login(administrator)).status).toBe(200);
      expect((await login({ ...administrator, password: 'wrong' })).status).toBe(401);
      for (let asked = 0; asked < 3; asked++) await server.ask('/items/docs?limit=1');
      const query = 'query ($most: Int) { docs(limit: $most) { id } }';
      await server.ask('/graphql', { method: 'POST', body: { query, variables: { most: 3 } } });
      const metrics = await scrape(url);
      const signIns = (result: string) => metrics.value('tablewright_sign_ins_total', { result, provider: 'default' });
      expect([signIns('ok'), signIns('refused'), signIns('second_factor')]).toEqual([1, 1, 0]);
      const lookups = (cache: string, result: string) =>
        metrics.value('tablewright_plan_cache_requests_total', { cache, result });
      expect(lookups('read_templates', 'hit')).toBe(2);
      expect(lookups('read_templates', 'miss')).toBe(1);
      expect(lookups('graphql', 'miss')).toBeGreaterThan(0);
      expect(metrics.value('tablewright_api_version_info')).toBe(1);
      expect(metrics.value('tablewright_api_swaps_total')).toBe(0);
      expect(metrics.value('tablewright_schema_drifts', { severity: 'error' })).toBe(0);
      expect(metrics.value('tablewright_mails_waiting')).toBe(0);
      expect(metrics.value('tablewright_orphaned_files')).toBe(0);
      const [version] = metrics.labelValues('tablewright_api_version_info', 'version');
      const body = { collection: 'notes', schema: {} };
      expect((await server.admin('/collections', { method: 'POST', body })).status).toBe(200);
      const changed = await scrape(url);
      expect(changed.value('tablewright_api_swaps_total')).toBe(1);
      expect(changed.value('tablewright_api_swap_seconds_count')).toBe(1);
      expect(changed.labelValues('tablewright_api_version_info', 'version')).not.toEqual([version]);
      for (let tried = 0; tried < 3; tried++) await login({ email: 'x@example.com', password: 'wrong' });
      const limited = { result: 'limited', provider: 'default' };
      expect((await scrape(url)).value('tablewright_sign_ins_total', limited)).toBe(1);
      await withClient(own.url, (client) => client.query('ALTER TABLE docs DROP COLUMN id'));
      await expect
        .poll(
          async () => {
            await fetch(`${url}/server/ready`);
            return (await scrape(url)).value('tablewright_schema_drifts', { severity: 'error' });
          },
          { timeout: 10_000 },
        )
        .toBeGreaterThan(0);
    } finally {
      await server.stop();
      await place.remove();
      await own.drop();
    }
  });
});

it('sign-ins at providers are counted by their names', async () => {
  const sso = await serveSso({ METRICS_PORT: '0' }, 1);
  try {
    const url = /"metrics":"([^"]*)"/.exec(sso.project.server.log())?.[1] ?? '';
    await sso.signIn('corp', sso.newcomer());
    await sso.signIn('closed', sso.newcomer());
    const metrics = await scrape(url);
    const count = (provider: string, result: string) =>
      metrics.value('tablewright_sign_ins_total', { provider, result });
    expect([count('corp', 'ok'), count('corp', 'refused')]).toEqual([1, 0]);
    expect([count('closed', 'ok'), count('closed', 'refused')]).toEqual([0, 1]);
    expect(count('plain', 'ok')).toBe(0);
  } finally {
    await sso.close();
  }
});

describe('several processes', () => {
  it('are added up, on both ports, and say how many are silent', async () => {
    await withServer({ METRICS_TOKEN: scrapeToken }, ['--workers', '3'], async (server, url) => {
      expect((await fetch(`${url}/server/ready`)).status).toBe(200);
      expect(await (await fetch(`${url}/server/ping`)).text()).toBe('pong');
      const asked = Array.from({ length: 60 }, (_, index) => server.ask(`/items/docs/${index + 1}`));
      await Promise.all(asked);
      const read = { http_request_method: 'GET', http_route: route, http_response_status_code: '200' };
      const own = await scrape(url);
      expect(own.value(`${duration}_count`, read)).toBe(60);
      expect(own.value('tablewright_workers_silent')).toBe(0);
      expect(own.value('tablewright_build_info')).toBe(1);
      expect(own.value('process_resident_memory_bytes')).toBeGreaterThan(100_000_000);
      const open = await scrape(server.url, {
        authorization: `Bearer ${scrapeToken}`,
        accept: 'application/openmetrics-text',
      });
      expect(open.value(`${duration}_count`, read)).toBe(60);
      expect(open.value('tablewright_workers_silent')).toBe(0);
    });
  });

  it('that do not answer are told', async () => {
    await withServer({}, ['--workers', '2'], async (server, url) => {
      const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8');
      const [first] = children.trim().split(' ').map(Number);
      process.kill(first ?? 0, 'SIGSTOP');
      try {
        const metrics = await scrape(url);
        expect(metrics.value('tablewright_workers_silent')).toBe(1);
        expect(metrics.value('tablewright_build_info')).toBe(1);
        expect((await fetch(`${url}/server/ready`)).status).toBe(200);
      } finally {
        process.kill(first ?? 0, 'SIGCONT');
      }
      expect((await scrape(url)).value('tablewright_workers_silent')).toBe(0);
    });
  });
});

it.each([
  ['METRICS_PORT', '70000'],
  ['METRICS_HOST', 'a b'],
  ['METRICS_TOKEN', 'short'],
  ['METRICS_SERIES_MAX', 'many'],
])('an unusable %s ends the start', async (name, value) => {
  const variables = { DATABASE_URL: database.url, PORT: '0', [name]: value };
  const { code, stderr } = await runPlatform(['start', '--project', project.folder], variables);
  expect([code, stderr.includes(`${name} must `)]).toEqual([4, true]);
  if (name === 'METRICS_TOKEN') expect(stderr).not.toContain(value);
});

it.each([[[]], [['--workers', '2']]])('a port that is in use ends the start %s', async (args) => {
  const other = createServer().listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => other.once('listening', resolve));
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const variables = { DATABASE_URL: database.url, PORT: '0', METRICS_PORT: port };
    const result = await runPlatform(['start', '--project', project.folder, ...args], variables);
    expect([result.code, result.stderr]).toEqual([4, expect.stringContaining('The port of the metrics is in use.')]);
    expect(result.stderr).toContain('METRICS_PORT=9465');
    // Every process listens for metrics, or for requests, before another one fails.
    const served = { DATABASE_URL: database.url, PORT: port, METRICS_PORT: '0' };
    const failed = await runPlatform(['start', '--project', project.folder, ...args], served);
    expect([failed.code, failed.stderr]).toEqual([4, expect.stringContaining('The port is in use.')]);
  } finally {
    other.close();
  }
});
