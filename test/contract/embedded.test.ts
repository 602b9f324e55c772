/** The embedded database answers with the same bytes as a real server, writes as it does, and keeps what it was told. */
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dataSql } from '../../fixtures/magazine/data.ts';
import { createEmbedded } from '../support/embedded.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { adminToken, createProject, type Platform, startPlatform, startUnchecked } from '../support/platform.ts';

let magazine: Magazine;
let project: Awaited<ReturnType<typeof createProject>>;
let embedded: Platform;
beforeAll(async () => {
  magazine = await startMagazine();
  project = await createProject('fixtures/magazine');
  const dataDir = join(project.folder, '.platform', 'database');
  const database = await createEmbedded(dataDir);
  await database.exec(await readFile(join(project.folder, 'database.postgres.sql'), 'utf8'));
  for (const statement of dataSql(1)) await database.exec(statement);
  await database.close();
  embedded = await startPlatform(project.folder, '');
});
afterAll(async () => {
  await embedded?.stop();
  await Promise.all([magazine?.close(), project?.remove()]);
});

it.each([
  '/items/measurements?limit=-1',
  '/items/articles?fields=*.*&limit=40',
  '/items/articles?fields=title,comments.article_id.author_id.articles.tags.name&limit=20&meta=*',
  '/items/orders?fields=*,order_lines.*&limit=-1',
  '/items/article_stats?sort=-article_id&limit=5',
  '/items/articles?limit=-1&filter[author_id][name][_contains]=a',
  '/items/articles/99999999',
])('GET %s', async (path) => {
  const expected = await magazine.admin(path);
  const answer = await embedded.admin(path);
  expect(answer.status).toBe(expected.status);
  expect(answer.text).toBe(expected.text);
  expect((await embedded.ask(path)).text).toBe((await magazine.ask(path)).text);
});

const requests: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['POST', '/items/tags', { name: 'fresh' }],
  ['POST', '/items/tags?fields=id,name', [{ name: 'second' }, { id: 900_000, name: 'third' }, { name: 'fourth' }]],
  ['POST', '/items/tags', { name: 'fresh' }],
  ['POST', '/items/articles?fields=title,status,author_id.name', { title: 'New', slug: 'new', author_id: 1 }],
  ['POST', '/items/articles', { title: 'New', slug: 'newer', author_id: 999_999 }],
  ['PATCH', '/items/order_lines/1,1?fields=quantity,amount', { quantity: 3, unit_price: '2.50' }],
  ['PATCH', '/items/articles?fields=id,views,title', { keys: [2, 1], data: { views: 7 } }],
  [
    'PATCH',
    '/items/articles?fields=id,title,views',
    [
      { id: 1, title: 'One' },
      { id: 2, views: 8 },
    ],
  ],
  ['PATCH', '/items/articles?fields=id', { query: { filter: { views: { _in: [7, 8] } } }, data: { rating: '1.25' } }],
  ['PATCH', '/items/articles/1', { views: -1 }],
  ['DELETE', '/items/tags/900000'],
  ['DELETE', '/items/tags/900000'],
  ['DELETE', '/items/comments', { query: { filter: { article_id: { _eq: 3 } } } }],
  ['DELETE', '/items/languages/en'],
  ['GET', '/items/tags?limit=-1&sort=-id'],
  ['GET', '/items/articles?limit=-1&fields=title,views,rating,comments'],
];

it('answers every write with the same bytes', async () => {
  for (const [method, path, body] of requests) {
    const ask = { method, ...(body !== undefined && { body }) };
    const expected = await magazine.admin(path, ask);
    const answer = await embedded.admin(path, ask);
    expect([method, path, answer.status, answer.text]).toEqual([method, path, expected.status, expected.text]);
  }
});

it('keeps transactions apart, and what they wrote beyond a stop', async () => {
  const names = Array.from({ length: 30 }, (_, place) => `at once ${place}`);
  const answers = await Promise.all(
    names.map((name, place) =>
      place % 3 === 0
        ? embedded.admin('/items/tags', { method: 'POST', body: [{ name }, { name }] })
        : embedded.admin('/items/tags', { method: 'POST', body: { name } }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(names.map((_, place) => (place % 3 === 0 ? 400 : 200)));
  await embedded.stop();
  embedded = await startPlatform(project.folder, '');
  const { json } = await embedded.admin('/items/tags?fields=name&limit=-1&filter[name][_starts_with]=at once');
  expect(json.data.map(({ name }: { name: string }) => name).sort()).toEqual(
    names.filter((_, place) => place % 3 !== 0).sort(),
  );
});

it('ends no statement, and begins none for a client that has left meanwhile', { timeout: 60_000 }, async () => {
  const { folder, remove } = await createProject();
  const database = await createEmbedded(join(folder, '.platform', 'database'));
  await database.exec('CREATE VIEW naps AS SELECT n AS id, pg_sleep(4)::text AS nap FROM generate_series(1, 1) n');
  await database.close();
  const server = await startUnchecked(folder, '', { SLOW_QUERY: '1s', LOG_LEVEL: 'info' });
  const { hostname, port } = new URL(server.url);
  const leave = () =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () =>
        socket.end(
          `GET /items/naps HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`,
          () => void socket.destroy(),
        ),
      );
      socket.on('close', () => resolve());
    });
  const isHeard = () => Promise.race([server.ask('/server/ping').then(() => true), sleep(1_000, false)]);
  try {
    await expect.poll(isHeard, { timeout: 20_000 }).toBe(true);
    const napping = server.admin('/items/naps');
    // While a statement runs, the process hears nothing.
    await expect.poll(isHeard, { timeout: 20_000 }).toBe(false);
    await Promise.all(Array.from({ length: 5 }, leave));
    expect((await napping).status).toBe(200);
    expect((await server.ask('/server/ping')).status).toBe(200);
    expect((await server.admin('/server/health')).status).toBe(200);
    const ran = server
      .log()
      .split('\n')
      .filter((line) => /"slow-query".*naps/.test(line) && !line.includes('client_gone'));
    expect(ran).toHaveLength(1);
  } finally {
    await server.stop();
    await remove();
  }
});
