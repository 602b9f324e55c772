/** What a role may not read does not exist for it, cell by cell, wherever it is named. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE TABLE authors (id integer PRIMARY KEY, name text, password text, phone text);
      CREATE TABLE books (id integer PRIMARY KEY, title text, blurb text, cost integer, author_id integer REFERENCES authors);
      CREATE TABLE reviews (id integer PRIMARY KEY, book_id integer REFERENCES books, body text);
      CREATE TABLE ledger (id integer PRIMARY KEY, book_id integer REFERENCES books);
      CREATE TABLE _dark (id integer PRIMARY KEY, _x integer);
      INSERT INTO authors VALUES (1, 'Ann', 'hash', '1'), (2, 'Bob', NULL, '2'), (3, 'Cid', 'hash', '3');
      INSERT INTO books VALUES (1, 'a', 'blurb 1', 10, 1), (2, 'b', 'blurb 2', 20, 2), (3, 'c', 'blurb 3', 30, 3);
      INSERT INTO reviews VALUES (1, 1, 'x'), (2, 1, 'hidden'), (3, 3, 'hidden');
      INSERT INTO ledger VALUES (1, 1);`,
    config: `{ collections: { authors: { fields: { password: { type: 'hash' } } } } }`,
    permissions: `
permissions:
  public:
    books:
      read:
        - { fields: [id, title, author_id, reviews], filter: { id: { _lte: 2 } } }
        - { fields: [id, blurb], filter: { id: { _gte: 2 } } }
    authors: { read: { fields: [id, name, password, books], filter: { id: { _neq: 2 } } } }
    reviews:
      read:
        - { fields: [id, body], filter: { body: { _neq: hidden } } }
        - { fields: [] }
    ledger: { read: { filter: { id: 1 } } }`,
  });
});
afterAll(() => project?.close());

async function data(path: string): Promise<unknown> {
  return (await project.ask(`/items/${path}`)).json.data;
}

describe('several rules for one action', () => {
  it('grant cells, never fields and rows separately', async () => {
    expect(await data('books?fields=id,title,blurb')).toEqual([
      { id: 1, title: 'a', blurb: null },
      { id: 2, title: 'b', blurb: 'blurb 2' },
      { id: 3, title: null, blurb: 'blurb 3' },
    ]);
    expect(await data('books/3?fields=title,author_id,reviews')).toEqual({
      title: null,
      author_id: null,
      reviews: null,
    });
  });

  it.each([
    ['filter[title]=c', []],
    ['filter[title][_neq]=z', [1, 2]],
    ['filter[title][_null]=true', [3]],
    ['filter[author_id][id]=3', []],
    ['filter[author_id]=3', []],
    ['filter[reviews][_none][id]=99', [1, 2]],
    ['filter[count(reviews)]=0', [2]],
    ['sort=-title', [3, 2, 1]],
    ['sort=blurb', [2, 3, 1]],
  ])('count a hidden cell as null: %s', async (query, ids) => {
    expect(await data(`books?fields=id&${query}`)).toEqual(ids.map((id) => ({ id })));
  });
});

describe('hidden rows', () => {
  it('are null behind a many-to-one and absent from lists, filters and counts', async () => {
    expect(await data('books?fields=author_id.name')).toEqual([
      { author_id: { name: 'Ann' } },
      { author_id: null },
      { author_id: null },
    ]);
    expect(await data('books?fields=reviews.body&filter[id]=1')).toEqual([{ reviews: [{ body: 'x' }] }]);
    expect(await data('books?fields=id&filter[author_id][name]=Bob')).toEqual([]);
    expect(await data('books?fields=id&filter[count(reviews)]=1')).toEqual([{ id: 1 }]);
  });

  it('are forbidden by key as missing ones are', async () => {
    const hidden = await project.ask('/items/authors/2');
    expect(failure(hidden)).toBe('403 FORBIDDEN');
    expect(hidden.text).toBe((await project.ask('/items/authors/99')).text);
    const keys = (list: readonly number[]) => ({ method: 'SEARCH', body: { keys: list } });
    expect((await project.ask('/items/authors', keys([1, 2]))).text).toBe(hidden.text);
    expect((await project.ask('/items/authors', keys([1, 99]))).text).toBe(hidden.text);
  });
});

describe('hidden names answer the bytes of unknown ones', () => {
  /** Names that exist and are hidden, each with one of its form that does not exist. */
  const pairs = [
    ['cost', 'nope'],
    ['ledger', 'nope'],
  ] as const;
  const queries = [
    'fields=$',
    'fields=$.x',
    'fields=*,$.*',
    'fields=author_id.books.$',
    'filter[$]=1',
    'filter[$][_eq]=abc',
    'filter[$][_contains]=1',
    'filter[$][id][_gt]=1',
    'filter[$][_some][id]=1',
    'filter[count($)]=1',
    'filter[year($)]=1',
    'filter[author_id][books][$]=1',
    'filter={"_or":[{"id":1},{"$":1}]}',
    'sort=$',
    'sort=-$.id',
    'sort=author_id.$',
    'limit=0&fields=$',
    // Syntax comes first, for both.
    'filter[$][_like]=1',
    'filter[$]=1&limit=x',
    'sort=year($)',
  ];

  it.each(queries)('%s', async (query) => {
    for (const [hidden, unknown] of pairs) {
      const answers = [hidden, unknown].map((name) => project.ask(`/items/books?${query.replaceAll('$', name)}`));
      const [first, second] = await Promise.all(answers);
      expect(first?.status).toBeGreaterThanOrEqual(400);
      expect(first?.text.replaceAll(hidden, '$')).toBe(second?.text.replaceAll(unknown, '$'));
    }
  });

  it.each(['', '?limit=0', '?fields=a', '?filter[_x]=1', '?filter[a][_like]=1', '/1', '/a,b', '/1?fields=a'])(
    'collections: %s',
    async (rest) => {
      const unknown = await project.ask(`/items/nothing${rest}`);
      for (const name of ['ledger', '_dark', 'platform_users']) {
        expect((await project.ask(`/items/${name}${rest}`)).text).toBe(unknown.text);
      }
    },
  );
});

describe('a secret field', () => {
  it('is selected masked and is no name for anything else, for the admin too', async () => {
    for (const ask of [project.ask, project.admin]) {
      expect((await ask('/items/authors/1?fields=password')).json).toEqual({ data: { password: '**********' } });
      for (const query of ['filter[password][_null]=true', 'sort=password', 'filter[count(password)]=1']) {
        expect(failure(await ask(`/items/authors?${query}`))).toBe('403 FORBIDDEN');
      }
      expect(failure(await ask('/items/books?filter[author_id][password]=x'))).toBe('403 FORBIDDEN');
      expect(failure(await ask('/items/books?sort=author_id.password'))).toBe('403 FORBIDDEN');
    }
    expect((await project.admin('/items/authors/2?fields=password')).json).toEqual({ data: { password: null } });
  });
});

describe('a role whose name is that of two others together', () => {
  const [sales, support, both] = ['1', '2', '3'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);
  const roles = [
    ['sales', sales],
    ['support', support],
    ['sales_support', both],
  ] as const;
  let shop: ServedProject;
  beforeAll(async () => {
    shop = await serveProject({
      system: true,
      sql: `CREATE TABLE deals (id integer PRIMARY KEY, margin integer);
        INSERT INTO deals VALUES (1, 9);
        INSERT INTO platform.platform_roles (id, name) VALUES ${roles.map(([name, id]) => `('${id}', '${name}')`).join()};
        INSERT INTO platform.platform_users (id, email, role, token) VALUES
          ${roles.map(([name, id]) => `('${id}', '${name}@example.com', '${id}', 'the-token-of-${name}-0123456789')`).join()};`,
      permissions: `
roles: { sales: {}, support: {}, sales_support: {} }
permissions:
  sales: { deals: { read: { fields: [id] } } }
  support: { deals: { read: { fields: [id] } } }
  sales_support: { deals: { read: true } }`,
    });
  });
  afterAll(() => shop?.close());

  it.each(roles)('gives none of its rights to these, nor takes theirs: %s', async (name) => {
    const { json } = await shop.ask('/items/deals', { token: `the-token-of-${name}-0123456789` });
    expect(json).toEqual({ data: [name === 'sales_support' ? { id: 1, margin: 9 } : { id: 1 }] });
  });
});
