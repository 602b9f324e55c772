import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

/** Filters beside the condition that means the same in SQL, over the alias `a` of articles. */
const cases: readonly (readonly [unknown, string])[] = [
  [{ status: { _eq: 'draft' } }, "a.status = 'draft'"],
  [{ status: 'draft' }, "a.status = 'draft'"],
  [{ id: { _in: ['1', 2, 3] } }, 'a.id IN (1, 2, 3)'],
  [{ id: { _in: [] } }, 'false'],
  [{ id: { _nin: [] } }, 'true'],
  [{ id: { _nin: ['1'] } }, 'a.id <> 1'],
  [{ author_id: { _null: true } }, 'a.author_id IS NULL'],
  [{ author_id: { _null: false } }, 'a.author_id IS NOT NULL'],
  [{ author_id: null }, 'a.author_id IS NULL'],
  [{ rating: { _gte: '4.50' } }, 'a.rating >= 4.50'],
  [{ views: { _lt: 100 }, status: { _neq: 'archived' } }, "a.views < 100 AND a.status <> 'archived'"],
  [{ _or: [{ views: { _lt: 10 } }, { views: { _gt: 5000 } }] }, '(a.views < 10 OR a.views > 5000)'],
  [{ _or: [] }, 'false'],
  [{ _and: [] }, 'true'],
  [{ _and: [{ _or: [{ id: 1 }, { id: 2 }] }, { id: { _gt: 1 } }] }, 'a.id = 2'],
  [{ views: { _between: [10, 200] } }, 'a.views BETWEEN 10 AND 200'],
  [{ title: { _contains: '%' } }, "position('%' in a.title) > 0"],
  [{ published_at: { _gt: '2024-01-01T00:00:00Z' } }, "a.published_at > '2024-01-01T00:00:00Z'"],
  [
    { author_id: { name: { _starts_with: 'A' } } },
    "EXISTS (SELECT 1 FROM authors x WHERE x.id = a.author_id AND x.name LIKE 'A%')",
  ],
  [
    { comments: { author_name: { _nnull: true } } },
    'EXISTS (SELECT 1 FROM comments c WHERE c.article_id = a.id AND c.author_name IS NOT NULL)',
  ],
  [{ comments: { _none: {} } }, 'NOT EXISTS (SELECT 1 FROM comments c WHERE c.article_id = a.id)'],
  [{ tags: { id: { _eq: 1 } } }, 'EXISTS (SELECT 1 FROM articles_tags j WHERE j.article_id = a.id AND j.tag_id = 1)'],
  [
    { tags: { _none: { id: { _in: [1, 2] } } } },
    'NOT EXISTS (SELECT 1 FROM articles_tags j WHERE j.article_id = a.id AND j.tag_id IN (1, 2))',
  ],
];

it.each(cases)('%j', async (filter, condition) => {
  const path = `/items/articles?fields=id&limit=-1&meta=filter_count&filter=${encodeURIComponent(JSON.stringify(filter))}`;
  const { status, json } = await magazine.admin(path);
  expect(status).toBe(200);
  const expected = await withClient(magazine.database.url, async (client) => {
    const result = await client.query<{ id: string }>(
      `SELECT a.id::text FROM articles a WHERE ${condition} ORDER BY a.id`,
    );
    return result.rows;
  });
  expect(json.data).toEqual(expected);
  expect(json.meta).toEqual({ filter_count: expected.length });
});

it.each([
  ['filter[status][_like]=x', 400],
  ['filter=%7B', 400],
  ['filter[views][_gt]=abc', 400],
  ['filter[views][_contains]=1', 400],
  ['filter[metadata][_eq]=1', 400],
  ['filter[nothing][_eq]=1', 403],
  ['filter[nothing][_like]=1', 400],
  ['filter[author_id][nothing][_eq]=1', 403],
  ['limit=-2', 400],
  ['limit=abc', 400],
  ['limit=1&limit=2', 400],
  ['offset=-1', 400],
  ['sort=nothing', 403],
  ['meta=nothing', 400],
  ['fields=%zz', 400],
  ['sort=id;--', 403],
  ['filter[__proto__][_eq]=1', 400],
])('%s is %i', async (query, status) => {
  const answer = await magazine.ask(`/items/articles?${query}`);
  expect(answer.status).toBe(status);
  expect(answer.json.errors[0].extensions.code).toBe(status === 400 ? 'INVALID_QUERY' : 'FORBIDDEN');
  expect(answer.text).not.toMatch(/select|postgres|syntax error|relation/i);
});

it('keeps every digit of a JSON number in a SEARCH body', async () => {
  const body = '{"query":{"fields":["id"],"filter":{"id":{"_eq":9007199254740993}}}}';
  const { json } = await magazine.admin('/items/measurements', { method: 'SEARCH', body });
  expect(json.data).toEqual([{ id: '9007199254740993' }]);
});
