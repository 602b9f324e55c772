import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

/** The rows of a query, to compare answers with. */
function rows<T extends Record<string, unknown>>(sql: string): Promise<T[]> {
  return withClient(magazine.database.url, async (client) => (await client.query<T>(sql)).rows);
}

describe('lists', () => {
  it('answers 100 items by default, ordered by key', async () => {
    const { status, json, headers } = await magazine.admin('/items/articles?fields=id');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    const expected = await rows<{ id: string }>('SELECT id::text FROM articles ORDER BY articles.id LIMIT 100');
    expect(json).toEqual({ data: expected });
  });

  it('gives the public the published articles only', async () => {
    const { json } = await magazine.ask('/items/articles?fields=id,status&limit=-1');
    const expected = await rows(
      "SELECT id::text, status FROM articles WHERE status = 'published' ORDER BY articles.id",
    );
    expect(json.data).toEqual(expected);
  });

  it('sorts, limits and pages', async () => {
    const sorted = await magazine.admin('/items/articles?fields=id&sort=-views,title&limit=5&offset=3');
    expect(sorted.json.data).toEqual(
      await rows('SELECT id::text FROM articles ORDER BY views DESC, title, articles.id LIMIT 5 OFFSET 3'),
    );
    const paged = await magazine.admin('/items/articles?fields=id&limit=7&page=3');
    expect(paged.json.data).toEqual(await rows('SELECT id::text FROM articles ORDER BY articles.id LIMIT 7 OFFSET 14'));
    expect((await magazine.admin('/items/articles?limit=0')).json).toEqual({ data: [] });
  });

  it('tells which form of a number it takes', async () => {
    const wrong = (await magazine.admin('/items/articles?page=1e21')).json.errors[0].message;
    expect(wrong).toBe('"page" must be an integer of at least 0, in digits.');
    const body = { query: { page: 1e21 } };
    const large = (await magazine.admin('/items/articles', { method: 'SEARCH', body })).json.errors[0].message;
    expect(large).toBe('"page" must not be above 90071992547410.');
  });

  it('counts what the caller may read and what the filter matches', async () => {
    const { json } = await magazine.ask('/items/articles?fields=id&limit=1&meta=*&filter[views][_gt]=500');
    const [counts] = await rows<{ total: number; filtered: number }>(
      `SELECT count(*)::int total, (count(*) FILTER (WHERE views > 500))::int filtered FROM articles WHERE status = 'published'`,
    );
    expect(json.meta).toEqual({ total_count: counts?.total, filter_count: counts?.filtered });
    const empty = await magazine.ask('/items/articles?meta=filter_count&filter[views][_lt]=-1');
    expect(empty.json).toEqual({ data: [], meta: { filter_count: 0 } });
  });

  it('streams all rows with limit=-1', async () => {
    const { json } = await magazine.admin('/items/comments?limit=-1&fields=id');
    expect(json.data).toEqual(await rows('SELECT id::text FROM comments ORDER BY comments.id'));
  });

  it('lists tables without a permission for nobody but the admin', async () => {
    const hidden = await magazine.ask('/items/orders');
    const unknown = await magazine.ask('/items/nothing_of_the_kind');
    expect(hidden.status).toBe(403);
    expect(hidden.text).toBe(unknown.text);
    expect((await magazine.admin('/items/orders')).status).toBe(200);
  });
});

describe('fields', () => {
  it('nests relations of every kind', async () => {
    const { json } = await magazine.ask(
      '/items/articles/1?fields=id,title,author_id.name,category_id.parent_id.name,comments.author_name,tags.name',
    );
    const [article] = await rows(`
      SELECT a.id::text, a.title,
        (SELECT json_build_object('name', name) FROM authors WHERE id = a.author_id) author_id,
        (SELECT json_build_object('parent_id', (SELECT json_build_object('name', p.name) FROM categories p WHERE p.id = c.parent_id))
          FROM categories c WHERE c.id = a.category_id) category_id,
        (SELECT json_agg(json_build_object('author_name', author_name) ORDER BY id) FROM comments WHERE article_id = a.id) comments,
        (SELECT json_agg(json_build_object('name', t.name) ORDER BY t.id) FROM articles_tags j JOIN tags t ON t.id = j.tag_id
          WHERE j.article_id = a.id) tags
      FROM articles a WHERE a.id = 1`);
    expect(json.data).toEqual(article);
  });

  it('gives relations that are not nested as keys', async () => {
    const { json } = await magazine.ask('/items/articles/1?fields=author_id,comments,tags');
    expect(json.data.comments).toHaveLength(5);
    expect(json.data.comments.every((key: unknown) => typeof key === 'string')).toBe(true);
    expect(json.data.tags).toHaveLength(3);
    expect(json.data.tags.every((key: unknown) => typeof key === 'number')).toBe(true);
    expect(typeof json.data.author_id).toBe('number');
  });

  it('gives composite keys in path form', async () => {
    const { json } = await magazine.admin('/items/orders/1?fields=order_lines');
    expect(json.data.order_lines[0]).toBe('1,1');
    const line = await magazine.admin(`/items/order_lines/${json.data.order_lines[0]}?fields=line_no`);
    expect(line.json).toEqual({ data: { line_no: 1 } });
  });

  it('shrinks wildcards to what the caller may read', async () => {
    const { json } = await magazine.ask('/items/articles/1');
    expect(Object.keys(json.data)).not.toContain('created_by');
    expect(Object.keys(json.data)).toContain('title');
    const admin = await magazine.admin('/items/articles/1?fields=*.*');
    expect(admin.json.data.created_by === undefined).toBe(false);
    expect(admin.json.data.author_id).toMatchObject({ name: expect.any(String) });
  });

  it('answers a hidden and an unknown field with the same bytes', async () => {
    const hidden = await magazine.ask('/items/articles?fields=created_by');
    const unknown = await magazine.ask('/items/articles?fields=no_such_thing');
    expect(hidden.status).toBe(403);
    expect(hidden.text).toBe(unknown.text);
  });

  it('gives null for a hidden row behind a many-to-one and leaves hidden rows out of to-many', async () => {
    const { json } = await magazine.ask('/items/tags?fields=name,articles.id,articles.status&limit=-1');
    const statuses = json.data.flatMap((tag: { articles: { status: string }[] }) => tag.articles.map((a) => a.status));
    expect(new Set(statuses)).toEqual(new Set(['published']));
  });
});

describe('one statement per read', () => {
  it.each([
    '/items/articles?limit=3',
    '/items/articles/1?fields=*.*.*',
    '/items/articles?fields=title,comments.article_id.author_id.articles.tags.name&limit=1',
    '/items/articles?fields=author_id.articles.category_id.articles.tags.name&meta=*&limit=1',
  ])('%s', async (path) => {
    // The first request of a shape prepares it; Parse is not an execution, so one is one from the start.
    magazine.statements.reset();
    expect((await magazine.admin(path)).status).toBe(200);
    expect(magazine.statements.executed()).toBe(1);
  });
});

describe('keys', () => {
  it('reads composite keys in path form', async () => {
    const { json } = await magazine.admin('/items/order_lines/1,1?fields=order_id,line_no');
    expect(json.data).toEqual({ order_id: 1, line_no: 1 });
  });

  it.each(['/items/articles/999999', '/items/articles/abc', '/items/order_lines/1', '/items/order_lines/1,1,1'])(
    'forbids %s',
    async (path) => {
      const { status, json } = await magazine.admin(path);
      expect(status).toBe(403);
      expect(json.errors[0].extensions.code).toBe('FORBIDDEN');
    },
  );

  it('reads natural keys and views with a key', async () => {
    const country = await magazine.admin('/items/countries/DE');
    expect(country.status).toBe(200);
    expect((await magazine.ask('/items/published_articles/1?fields=id')).json).toEqual({ data: { id: '1' } });
  });
});

describe('SEARCH', () => {
  it('answers as GET does', async () => {
    const query = { fields: ['id', 'title'], filter: { views: { _gte: 100 } }, sort: ['-views'], limit: 4 };
    const search = await magazine.ask('/items/articles', { method: 'SEARCH', body: { query } });
    const get = await magazine.ask(
      `/items/articles?fields=id,title&filter=${encodeURIComponent('{"views":{"_gte":100}}')}&sort=-views&limit=4`,
    );
    expect(search.text).toBe(get.text);
  });

  it('reads exactly the given keys', async () => {
    const { json } = await magazine.ask('/items/articles', {
      method: 'SEARCH',
      body: { keys: ['3', 1], query: { fields: ['id'] } },
    });
    expect(json.data).toEqual([{ id: '1' }, { id: '3' }]);
  });

  it('refuses other keys and by-key paths', async () => {
    const other = await magazine.ask('/items/articles', { method: 'SEARCH', body: { querry: {} } });
    expect(other.json.errors[0].extensions.code).toBe('INVALID_PAYLOAD');
    expect((await magazine.ask('/items/articles/1', { method: 'SEARCH', body: {} })).status).toBe(404);
  });
});
