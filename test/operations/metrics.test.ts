/** What metrics count, of the command as its users start it. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, withClient } from '../support/database.ts';
import { startCompiled } from '../support/host.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { ask, duration, type Metered, mysqlSql, openMetered, route, rules, scrape } from '../support/metered.ts';
import { isWithout } from '../support/optimizations.ts';
import { administrator, createProject } from '../support/platform.ts';
import { servers } from '../support/servers.ts';
import { serveSso } from '../support/single-sign-on.ts';
import { installSystem } from '../support/system.ts';

let metered: Metered;
beforeAll(async () => {
  metered = await openMetered();
});
afterAll(() => metered?.close());

const withServer: Metered['withServer'] = (...options) => metered.withServer(...options);

it('requests are counted and timed', async () => {
  await withServer({}, [], async (server, url) => {
    await ask(server);
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname, () => socket.write('no request\r\n\r\n'));
    await once(socket.resume(), 'close');
    await leaveEarly(hostname, Number(port));
    const left = { http_request_method: 'POST', http_response_status_code: '' };
    await expect.poll(async () => (await scrape(url)).value(`${duration}_count`, left)).toBe(1);
    const metrics = await scrape(url);
    // Failures of the server raise a critical alert, and a client that left is none.
    expect(metrics.value('tablewright_requests_total', { outcome: 'failed' })).toBe(0);
    // Bytes that are no request count as one that was refused.
    const broken = { http_request_method: '_OTHER', http_route: '', http_response_status_code: '400' };
    expect(metrics.value(`${duration}_count`, broken)).toBe(1);
    expect(metrics.value('tablewright_errors_total', { code: 'INVALID_PAYLOAD' })).toBe(1);
    const read = { http_request_method: 'GET', http_route: route };
    expect(metrics.value(`${duration}_count`, { ...read, http_response_status_code: '200' })).toBe(3);
    expect(metrics.value(`${duration}_count`, { http_route: '/items/:collection' })).toBe(5);
    expect(metrics.value(`${duration}_count`, { http_route: '', http_response_status_code: '404' })).toBe(1);
    expect(metrics.value(`${duration}_sum`, read)).toBeGreaterThan(0.0005);
    expect(metrics.value('tablewright_collection_duration_seconds_count', { collection: 'docs' })).toBe(6);
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

/** Begins a request whose body never comes, and leaves. */
async function leaveEarly(hostname: string, port: number): Promise<void> {
  const head = 'POST /items/docs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{';
  const socket = connect(port, hostname, () => socket.write(head, () => setTimeout(() => socket.destroy(), 50)));
  await once(socket, 'close');
}

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
      await withClient(metered.databaseUrl, async (client) => {
        await client.query('BEGIN; LOCK TABLE docs IN EXCLUSIVE MODE');
        let isOver = false;
        const statuses = new Set<number>();
        // Each waits for 300 ms at most: on a busy machine a look may come later than that, so others follow.
        const writes = Array.from({ length: 40 }, async (_, id) => {
          while (!isOver) {
            const body = [{ id: 2000 + id }, { id: 3000 + id }];
            statuses.add((await server.ask('/items/docs', { method: 'POST', body })).status);
          }
        });
        await expect
          .poll(async () => (await scrape(url)).value('db_client_connection_pending_requests'))
          .toBeGreaterThan(0);
        await expect
          .poll(async () => (await scrape(url)).value('db_client_connection_timeouts_total'))
          .toBeGreaterThan(0);
        isOver = true;
        await client.query('ROLLBACK');
        await Promise.all(writes);
        expect(statuses).toContain(503);
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
    const server = await startCompiled(place.folder, url, { METRICS_PORT: '0' });
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
    const server = await startCompiled(place.folder, own.url, { METRICS_PORT: '0', ...limits });
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
      const [hits, misses] = isWithout('plan-cache') ? [0, 0] : [2, 1];
      expect(lookups('read_templates', 'hit')).toBe(hits);
      expect(lookups('read_templates', 'miss')).toBe(misses);
      expect(lookups('graphql', 'miss')).toBeGreaterThanOrEqual(misses);
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
        .poll(async () => {
          await fetch(`${url}/server/ready`);
          return (await scrape(url)).value('tablewright_schema_drifts', { severity: 'error' });
        })
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
