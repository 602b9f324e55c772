import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
  // More comments than the default limit on an article that everybody reads.
  await rows(`INSERT INTO comments (article_id, author_name, body, author_email)
    SELECT 1, 'Many', 'comment ' || n, 'secret@example.com' FROM generate_series(1, 120) n`);
});
afterAll(() => magazine?.close());

function rows<T extends Record<string, unknown>>(sql: string): Promise<T[]> {
  return withClient(magazine.database.url, async (client) => (await client.query<T>(sql)).rows);
}

/** What `deep` asks of the comments of each article, and the same in SQL behind `WHERE c.article_id = a.id`. */
const cases: readonly (readonly [Record<string, unknown>, string])[] = [
  [{}, 'ORDER BY c.id LIMIT 100'],
  [{ _limit: -1 }, 'ORDER BY c.id'],
  [{ _limit: 0 }, 'LIMIT 0'],
  [{ _limit: 3 }, 'ORDER BY c.id LIMIT 3'],
  [{ _limit: 7, _offset: 2 }, 'ORDER BY c.id LIMIT 7 OFFSET 2'],
  [{ _limit: 2, _page: 3 }, 'ORDER BY c.id LIMIT 2 OFFSET 4'],
  [{ _offset: 4, _limit: -1 }, 'ORDER BY c.id OFFSET 4'],
  [{ _sort: ['-author_name', 'id'], _limit: 5 }, 'ORDER BY c.author_name DESC, c.id LIMIT 5'],
  [{ _sort: 'author_name,-id' }, 'ORDER BY c.author_name, c.id DESC LIMIT 100'],
  [{ _sort: '-year(created_at)' }, "ORDER BY extract(year FROM c.created_at AT TIME ZONE 'UTC') DESC, c.id LIMIT 100"],
  [{ _filter: { author_name: 'Many' }, _limit: 150 }, "AND c.author_name = 'Many' ORDER BY c.id LIMIT 150"],
  [{ _filter: { id: { _in: [] } } }, 'AND false'],
  [{ _filter: { article_id: { views: { _gt: 500 } } } }, 'AND a.views > 500 ORDER BY c.id LIMIT 100'],
  [
    { _search: 'COMMENT 1', _limit: -1 },
    "AND (c.body ILIKE '%comment 1%' OR c.author_name ILIKE '%comment 1%') ORDER BY c.id",
  ],
];

/** Articles with the keys of their comments. */
function expected(condition: string, comments: string): Promise<Record<string, unknown>[]> {
  return rows(`SELECT a.id::text, ARRAY(SELECT c.id::text FROM comments c WHERE c.article_id = a.id ${comments}) comments
    FROM articles a WHERE ${condition} ORDER BY a.id`);
}

it.each(cases)('%j', async (comments, sql) => {
  const deep = JSON.stringify({ comments });
  const admin = await magazine.admin(`/items/articles?fields=id,comments&limit=-1&deep=${encodeURIComponent(deep)}`);
  expect(admin.json.data).toEqual(await expected('true', sql));
  const query = { fields: ['id', 'comments.id', 'comments.article_id.title'], limit: -1, deep: { comments } };
  const { json } = await magazine.ask('/items/articles', { method: 'SEARCH', body: { query } });
  const flat = json.data.map(({ id, comments: nested }: { id: string; comments: { id: string }[] }) => ({
    id,
    comments: nested.map((comment) => comment.id),
  }));
  expect(flat).toEqual(await expected("a.status = 'published'", sql));
});

it('reads brackets like JSON, each level on its own', async () => {
  const fields = 'fields=id,articles.id,articles.comments.id,articles.tags';
  const bracket = await magazine.admin(
    `/items/authors?${fields}&deep[articles][_limit]=2&deep[articles][_sort]=-id` +
      '&deep[articles][_filter][status][_eq]=published&deep[articles][comments][_limit]=1&deep[articles][tags][_offset]=1',
  );
  const deep = {
    articles: {
      _limit: 2,
      _sort: ['-id'],
      _filter: { status: 'published' },
      comments: { _limit: 1 },
      tags: { _offset: 1 },
    },
  };
  const json = await magazine.admin(`/items/authors?${fields}&deep=${encodeURIComponent(JSON.stringify(deep))}`);
  expect(json.text).toBe(bracket.text);
  const wanted = await rows(`
    SELECT w.id, coalesce((SELECT json_agg(json_build_object('id', a.id::text,
      'comments', ARRAY(SELECT json_build_object('id', c.id::text) FROM comments c WHERE c.article_id = a.id ORDER BY c.id LIMIT 1),
      'tags', ARRAY(SELECT j.tag_id FROM articles_tags j WHERE j.article_id = a.id ORDER BY j.tag_id OFFSET 1)
    ) ORDER BY a.id DESC) FROM (SELECT * FROM articles a WHERE a.author_id = w.id AND status = 'published'
      ORDER BY a.id DESC LIMIT 2) a), '[]') articles FROM authors w ORDER BY w.id`);
  expect(bracket.json.data).toEqual(wanted);
});

it('leaves a related item out that does not match', async () => {
  const deep = encodeURIComponent('{"author_id":{"_filter":{"id":{"_gt":3}}}}');
  const { json } = await magazine.ask(`/items/articles?fields=id,author_id.id&limit=-1&deep=${deep}`);
  const wanted = await rows(`
    SELECT a.id::text, CASE WHEN author_id > 3 THEN json_build_object('id', author_id) END author_id
    FROM articles a WHERE status = 'published' ORDER BY a.id`);
  expect(json.data).toEqual(wanted);
});

it('applies to reads by key, is one statement, and is ignored for relations that are not selected', async () => {
  magazine.statements.reset();
  const { json } = await magazine.ask(
    '/items/articles/1?fields=id,comments&deep[comments][_limit]=2&deep[tags][_filter][name][_eq]=x',
  );
  expect(magazine.statements.executed()).toBe(1);
  expect(json.data.comments).toHaveLength(2);
});

it('does not search what cannot be read', async () => {
  const path = '/items/articles/1?fields=comments&deep[comments][_search]=secret@example';
  expect((await magazine.admin(`${path}&limit=-1`)).json.data.comments).toHaveLength(100);
  expect((await magazine.ask(path)).json.data.comments).toEqual([]);
});

it.each([
  ['deep={', 400],
  ['deep=[]', 400],
  ['deep[comments]=5', 400],
  ['deep[_limit]=5', 400],
  ['deep[comments][_foo]=5', 400],
  ['deep[comments][_limit]=-2', 400],
  ['deep[comments][_limit]=1&deep[comments][_limit]=2', 400],
  ['deep[comments][_filter][body][_like]=5', 400],
  ['deep[comments][_filter][created_at]=x', 400],
  ['deep[comments][_sort]=foo(id)', 400],
  ['deep[nothing][_filter][body][_like]=5', 400],
  ['deep[nothing][_limit]=5', 403],
  ['deep[title][_limit]=5', 403],
  ['deep[comments][_filter][author_email][_null]=true', 403],
  ['deep[comments][_sort]=author_email', 403],
  ['deep[comments][article_id][created_by][_limit]=1', 403],
])('%s is %i', async (query, status) => {
  const answer = await magazine.ask(`/items/articles?${query}`);
  expect(answer.status).toBe(status);
  expect(answer.json.errors[0].extensions.code).toBe(status === 400 ? 'INVALID_QUERY' : 'FORBIDDEN');
});

it.each([
  ['deep[comments][_limit]=x', '"deep[comments][_limit]" must be an integer of at least -1.'],
  ['deep[comments][article_id][_sort]=,-', '"deep[comments][article_id][_sort]" has an empty name.'],
])('an error names the parameter with its relation: %s', async (query, message) => {
  const answer = await magazine.ask(`/items/articles?${query}`);
  expect(answer.json.errors[0].message).toBe(message);
});
