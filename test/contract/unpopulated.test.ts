/** A materialized view that nobody has filled reads as one without rows. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE TABLE sales (id integer PRIMARY KEY, region text, amount numeric(10,2));
      INSERT INTO sales VALUES (1, 'north', 10.50), (2, 'south', 1.00);
      CREATE MATERIALIZED VIEW totals AS SELECT * FROM sales WITH NO DATA;`,
    config: `{ collections: { totals: { key: ['id'] } } }`,
    permissions: `permissions: { public: { totals: { read: { fields: [id, region, amount], filter: { region: north } } } } }`,
  });
});
afterAll(() => project?.close());

const search = (body: object) => project.ask('/items/totals', { method: 'SEARCH', body });

it.each([
  ['', { data: [] }],
  ['limit=-1', { data: [] }],
  ['meta=*', { data: [], meta: { total_count: 0, filter_count: 0 } }],
  ['filter[amount][_gt]=1&sort=-amount&meta=filter_count', { data: [], meta: { filter_count: 0 } }],
  ['aggregate[count]=*', { data: [{ count: 0 }] }],
  [
    'aggregate[count]=*&aggregate[countDistinct]=region&aggregate[sum]=amount&aggregate[min]=id',
    { data: [{ count: 0, countDistinct: { region: 0 }, sum: { amount: null }, min: { id: null } }] },
  ],
  ['aggregate[count]=*&meta=*', { data: [{ count: 0 }], meta: { total_count: 0, filter_count: 0 } }],
  ['aggregate[count]=*&having[count][_gt]=0', { data: [] }],
  ['aggregate[count]=*&having[sum][amount][_null]=true', { data: [{ count: 0 }] }],
  ['aggregate[count]=*&offset=1', { data: [{ count: 0 }] }],
  ['groupBy=region&aggregate[count]=*', { data: [] }],
])('%s', async (query, expected) => {
  for (const who of ['ask', 'admin'] as const) {
    const { status, json } = await project[who](`/items/totals?${query}`);
    expect([status, json]).toEqual([200, expected]);
  }
});

it('is empty in files, and has no items to name', async () => {
  expect((await project.ask('/items/totals?aggregate[count]=*&export=csv')).text).toBe('count\r\n0\r\n');
  expect((await project.ask('/items/totals?export=json')).text).toBe('[]');
  expect(failure(await project.ask('/items/totals/1'))).toBe('403 FORBIDDEN');
  expect(failure(await search({ keys: [1] }))).toBe('403 FORBIDDEN');
  expect(failure(await search({ keys: [1], query: { aggregate: { count: '*' } } }))).toBe('403 FORBIDDEN');
  expect((await search({ keys: [] })).json).toEqual({ data: [] });
  expect((await search({ keys: [], query: { aggregate: { count: '*' } } })).json).toEqual({ data: [{ count: 0 }] });
});

it('is judged as ever', async () => {
  expect(failure(await project.ask('/items/totals?aggregate[sum]=region'))).toBe('400 INVALID_QUERY');
  expect(failure(await project.ask('/items/totals?aggregate[sum]=nothing'))).toBe('403 FORBIDDEN');
});

it('answers its rows as soon as it is filled', async () => {
  await withClient(project.database.url, (client) => client.query('REFRESH MATERIALIZED VIEW totals'));
  const { json } = await project.ask('/items/totals?aggregate[count]=*&aggregate[sum]=amount');
  expect(json).toEqual({ data: [{ count: 1, sum: { amount: '10.50' } }] });
  expect((await project.ask('/items/totals?fields=id')).json).toEqual({ data: [{ id: 1 }] });
});
