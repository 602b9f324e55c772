/** What one request may ask for, and names and tables at the edge of what can be asked. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

const many = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(', ');

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    environment: { QUERY_ROWS_MAX: '8000' },
    sql: `
      CREATE TABLE wide (id integer PRIMARY KEY, ${many(1550, (i) => `c${i} integer`)});
      INSERT INTO wide (id, c7) VALUES (1, 7);
      ${many(70, (i) => `CREATE TABLE r${i} (id integer PRIMARY KEY, wide_id integer REFERENCES wide)`).replaceAll('),', ');')};
      INSERT INTO r1 VALUES (1, 1);
      CREATE TABLE digits (id integer PRIMARY KEY, "1" integer, "007" text, "__proto__" integer, "constructor" integer);
      INSERT INTO digits VALUES (1, 5, 'bond', 9, 8), (2, 6, 'm', 10, 8);
      CREATE TABLE children (id integer PRIMARY KEY, "2" integer REFERENCES digits);
      INSERT INTO children VALUES (1, 1), (2, 2);`,
  });
});
afterAll(() => project?.close());

describe('a table of very many columns', () => {
  it('reads all of them', async () => {
    const { json } = await project.admin('/items/wide?fields=*&meta=*&cursor=&limit=1');
    expect(Object.keys(json.data[0])).toHaveLength(1 + 1550 + 70);
    expect(json.data[0]).toMatchObject({ id: 1, c7: 7, r1: [1], r2: [] });
    expect((await project.admin('/items/r1?fields=wide_id.*&limit=1')).json.data[0].wide_id).toMatchObject({
      c7: 7,
      r1: [1],
    });
  });

  it('refuses what PostgreSQL cannot select, at every depth', async () => {
    const alias = Array.from({ length: 60 }, (_, i) => `&alias[a${i}]=c${i}`).join('');
    const list = `wide?limit=0&fields=*${alias}`;
    const paths = [list, `wide/1?fields=*${alias}`, `${list}&meta=*&sort=count(r1)`];
    for (const path of paths) {
      const answer = await project.admin(`/items/${path}`);
      expect(failure(answer)).toBe('400 INVALID_QUERY');
      expect(answer.text).toContain('1664');
    }
  });
});

describe('names of digits', () => {
  it.each([
    'filter[1]=5',
    'filter[1][_eq]=5',
    'filter[007][_eq]=bond',
    'filter[_and][0][1]=5',
    'filter[_or][0][1][_in][0]=5&filter[_or][0][1][_in][1]=7',
    'filter[children][_some][id]=1',
    'filter={"1":{"_eq":5}}',
    'sort=1&limit=1',
  ])('%s', async (query) => {
    expect((await project.admin(`/items/digits?fields=id&${query}`)).json).toEqual({ data: [{ id: 1 }] });
  });

  it('lead into relations, deep and alias', async () => {
    const nested = '/items/children?fields=id,2.1&filter[2][1][_eq]=5&deep[2][_filter][1][_eq]=5';
    expect((await project.admin(nested)).json).toEqual({ data: [{ 2: { 1: 5 }, id: 1 }] });
    expect((await project.admin('/items/digits?fields=9&alias[9]=1&limit=1')).json).toEqual({ data: [{ 9: 5 }] });
  });
});

describe('names of the prototype', () => {
  it('are fields, sorts and filters, but for the one that no body may have', async () => {
    expect((await project.admin('/items/digits?fields=id,constructor&sort=-constructor,-id')).text).toBe(
      '{"data":[{"id":2,"constructor":8},{"id":1,"constructor":8}]}',
    );
    expect((await project.admin('/items/digits?fields=id&filter[constructor]=8')).json.data).toHaveLength(2);
    for (const query of ['fields=__proto__', 'sort=__proto__'])
      expect([query, failure(await project.admin(`/items/digits?${query}`))]).toEqual([query, '403 FORBIDDEN']);
    for (const query of [
      'filter[__proto__]=9',
      'filter[__proto__][_eq]=9',
      'filter={"__proto__":{"_eq":9}}',
      'deep[__proto__][_limit]=1',
    ]) {
      expect([query, failure(await project.admin(`/items/digits?${query}`))]).toEqual([query, '400 INVALID_QUERY']);
    }
  });
});

it('bounds the rows of lists in lists by QUERY_ROWS_MAX', async () => {
  const path = (limit: number, nested: number) =>
    `/items/digits?fields=children.id&limit=${limit}&deep[children][_limit]=${nested}`;
  expect((await project.admin(path(8, 1000))).status).toBe(200);
  expect(failure(await project.admin(path(9, 1000)))).toBe('400 INVALID_QUERY');
  expect(failure(await project.admin(path(81, 100)))).toBe('400 INVALID_QUERY');
  const keys = { keys: [1, 2], query: { fields: ['children.id'], deep: { children: { _limit: -1 } } } };
  expect((await project.admin('/items/digits', { method: 'SEARCH', body: keys })).status).toBe(200);
});

it('bounds the values of lists and the texts that are looked for', async () => {
  const search = async (query: object) =>
    failure(await project.admin('/items/digits', { method: 'SEARCH', body: { query } }));
  expect(await search({ filter: { id: { _in: Array.from({ length: 10_001 }, () => 1) } } })).toBe('400 INVALID_QUERY');
  expect(await search({ filter: { '007': { _nends_with: 'x'.repeat(10_001) } } })).toBe('400 INVALID_QUERY');
  expect(await search({ search: 'x'.repeat(1_001) })).toBe('400 INVALID_QUERY');
});
