/** Ids of requests and the access log, of the command as its users start it, in one process and in two. */
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { generateHosted } from '../support/host.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';

const sql = `
  CREATE TABLE docs (id integer PRIMARY KEY, title text); INSERT INTO docs SELECT i, 'Title ' || i FROM generate_series(1, 2000) i;
  CREATE VIEW slow AS SELECT 1 AS id, (SELECT 'done' FROM pg_catalog.pg_sleep(2)) AS slept`;

const form = /^[A-Za-z0-9._-]{16}$/;

let database: TestDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
beforeAll(async () => {
  database = await createDatabase(sql);
  project = await createProject();
  const rules = 'permissions: { public: { docs: { read: true, create: true }, slow: { read: true } } }\n';
  await writeFile(join(project.folder, 'permissions.yaml'), rules);
  await generateHosted(project.folder, database.url);
});
afterAll(async () => {
  await project?.remove();
  await database?.drop();
});

async function withServer(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
  use: (server: Platform) => Promise<void>,
): Promise<void> {
  const options = { LOG_LEVEL: 'info', ...environment };
  const server = await startUnchecked(project.folder, database.url, options, args);
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

const lines = (server: Platform): readonly Record<string, unknown>[] =>
  server
    .log()
    .split('\n')
    .filter((line) => line.includes('"A request was answered."'))
    .map((line) => JSON.parse(line));

const idOf = async (url: string, init: RequestInit = {}): Promise<string> => {
  const response = await fetch(url, init);
  await response.arrayBuffer();
  return response.headers.get('x-request-id') ?? '';
};

/** The whole answer to bytes that are sent as they are. */
function raw(server: Platform, text: string): Promise<string> {
  const { port, hostname } = new URL(server.url);
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.on('data', (chunk) => (received += String(chunk)));
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
  });
}

it.each([[[]], [['--workers', '2']]])('every answer has an id of its own %s', async (args) => {
  await withServer({}, args, async (server) => {
    const paths = ['/items/docs/1', '/items/docs?limit=-1', '/items/docs/none', '/nothing', '/server/ping', '/graphql'];
    const asked = paths.flatMap((path) => ['GET', 'OPTIONS', 'POST', 'HEAD'].map((method) => ({ path, method })));
    const ids = await Promise.all(asked.map(({ path, method }) => idOf(server.url + path, { method })));
    for (const id of ids) expect(id).toMatch(form);
    expect(new Set(ids).size).toBe(ids.length);
    const given = { headers: { 'x-request-id': 'of-a-stranger' } };
    expect(await idOf(`${server.url}/items/docs/1`, given)).toMatch(form);
    expect(await raw(server, 'no request\r\n\r\n')).toMatch(/\r\nX-Request-Id: [A-Za-z0-9_-]{16}\r\n/);
  });
});

it('the id and the trace of a trusted proxy are kept, if they have the right form', async () => {
  await withServer({ IP_TRUST_PROXY: '127.0.0.0/8', ACCESS_LOG: 'all' }, [], async (server) => {
    const url = `${server.url}/items/docs/1`;
    for (const id of ['abcd.EFG_1-', 'a'.repeat(8), 'b'.repeat(128)]) {
      expect(await idOf(url, { headers: { 'x-request-id': id } })).toBe(id);
    }
    for (const id of ['short', 'c'.repeat(129), 'with a space', 'semi;colon-']) {
      expect(await idOf(url, { headers: { 'x-request-id': id } })).toMatch(form);
    }
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const id = await idOf(url, { headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` } });
    await expect.poll(() => lines(server).find(({ requestId }) => requestId === id)).toMatchObject({ traceId: trace });
  });
});

it('a line of the access log has these members and no others', async () => {
  await withServer({ ACCESS_LOG: 'all' }, [], async (server) => {
    const id = await idOf(`${server.url}/items/docs/7?fields=id,title`);
    await expect.poll(() => lines(server)).toHaveLength(1);
    expect(lines(server)[0]).toEqual({
      ...{ level: 30, msg: 'A request was answered.', time: expect.any(Number), requestId: id, method: 'GET' },
      ...{ path: '/items/docs/7', route: '/items/:collection/:key', collection: 'docs', status: 200 },
      ...{ ms: expect.any(Number), dbMs: expect.any(Number), bytes: 35, class: 'public', address: '127.0.0.0/24' },
    });
    await server.admin('/items/docs?limit=-1');
    await server.ask('/nothing');
    await server.ask('/server/ping');
    await server.ask('/graphql', { method: 'POST', body: { query: '{ docs { id } }' } });
    await server.ask('/items/docs/1', { token: 'wrong' });
    await expect.poll(() => lines(server)).toHaveLength(6);
    expect(lines(server).map(({ route, status, class: name }) => [route, status, name])).toEqual([
      ['/items/:collection/:key', 200, 'public'],
      ['/items/:collection', 200, 'admin'],
      [undefined, 404, undefined],
      ['/server/ping', 200, 'public'],
      ['/graphql', 200, 'public'],
      ['/items/:collection/:key', 401, undefined],
    ]);
    expect(lines(server)[1]?.bytes).toBeGreaterThan(50_000);
    await idOf(`${server.url}/items/docs/7`, { method: 'HEAD' });
    const answer = await raw(server, 'no request\r\n\r\n');
    await expect.poll(() => lines(server)).toHaveLength(8);
    // The first has no body; the second has none of the facts of a request.
    expect(lines(server)[6]).toMatchObject({ method: 'HEAD', status: 200, bytes: 0 });
    expect(lines(server)[7]).toEqual({
      ...{ level: 30, msg: 'A request was answered.', time: expect.any(Number), path: '', status: 400 },
      ...{ requestId: /X-Request-Id: (\S+)/.exec(answer)?.[1], ms: expect.any(Number), dbMs: 0, bytes: 95 },
      address: '127.0.0.0/24',
    });
    // A body that cannot be read is the fault of its client, and no request that was left.
    const chunked =
      'POST /items/docs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked';
    const broken = await raw(server, `${chunked}\r\n\r\nno chunk\r\n`);
    await expect.poll(() => lines(server)).toHaveLength(9);
    const requestId = /X-Request-Id: (\S+)/.exec(broken)?.[1];
    expect(lines(server)[8]).toMatchObject({ method: 'POST', path: '/items/docs', status: 400, requestId });
  });
});

it('by default lines are of failed, limited and slow requests', async () => {
  const limits = { RATE_LIMITER_ENABLED: 'true', RATE_LIMITER_POINTS: '8', RATE_LIMITER_DURATION: '60s' };
  // Other requests take less than this also where the machine has other work.
  await withServer({ SLOW_QUERY: '1500', LOG_ADDRESSES: 'full', ...limits }, [], async (server) => {
    for (const path of ['/items/docs/1', '/items/docs/none', '/nothing', '/items/slow']) await server.ask(path);
    for (let asked = 0; asked < 5; asked++) await server.ask('/items/docs/1');
    await expect.poll(() => lines(server)).toHaveLength(2);
    expect(lines(server)).toMatchObject([
      { path: '/items/slow', status: 200, address: '127.0.0.1' },
      { path: '/items/docs/1', status: 429 },
    ]);
    expect(Number(lines(server)[0]?.dbMs)).toBeGreaterThan(1_500);
  });
});

it('a request whose client has left has its address, and no status', async () => {
  await withServer({ ACCESS_LOG: 'all', LOG_ADDRESSES: 'full' }, [], async (server) => {
    const { port, hostname } = new URL(server.url);
    await withClient(database.url, async (client) => {
      await client.query('BEGIN; LOCK TABLE docs');
      const socket = connect(Number(port), hostname, () => {
        socket.write('GET /items/docs/1 HTTP/1.1\r\nHost: a\r\n\r\n', () => setTimeout(() => socket.destroy(), 300));
      });
      const left = () => lines(server).find(({ path }) => path === '/items/docs/1');
      await expect.poll(left).toMatchObject({ address: '127.0.0.1', class: 'public' });
      expect(left()).not.toHaveProperty('status');
    });
  });
});

it('a share is a share, off is off, and none names no address', async () => {
  const ask = async (server: Platform): Promise<void> => {
    for (let asked = 0; asked < 200; asked++) await idOf(`${server.url}/items/docs/1`);
  };
  await withServer({ ACCESS_LOG: '0.5', LOG_ADDRESSES: 'none' }, [], async (server) => {
    await ask(server);
    await expect.poll(() => lines(server).length).toBeGreaterThan(50);
    expect(lines(server).length).toBeLessThan(150);
    expect(lines(server)[0]).not.toHaveProperty('address');
  });
  await withServer({ ACCESS_LOG: 'off', SLOW_QUERY: '1' }, [], async (server) => {
    await ask(server);
    expect(lines(server)).toEqual([]);
  });
});
