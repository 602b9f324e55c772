import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

const commented = 'EXISTS (SELECT 1 FROM comments c WHERE c.article_id = a.id)';
const icy = "EXISTS (SELECT 1 FROM comments c WHERE c.article_id = a.id AND c.body LIKE '%ice%')";
const tagged = 'EXISTS (SELECT 1 FROM articles_tags j WHERE j.article_id = a.id)';
const noneOfBoth = `NOT ${commented} AND a.author_id IS NULL`;
const homeless = 'EXISTS (SELECT 1 FROM authors x WHERE x.id = a.author_id AND x.country IS NULL)';
const paragraph = `EXISTS (SELECT 1 FROM section_paragraphs p
  WHERE s.collection = 'section_paragraphs' AND p.id::text = s.item)`;

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
  // The key of a target tells whether the relation leads somewhere.
  ...[{ _null: true }, { _nnull: false }, { _eq: null }, null].flatMap((nowhere) => [
    [{ author_id: { id: nowhere } }, 'a.author_id IS NULL'] as const,
    [{ comments: { id: nowhere } }, `NOT ${commented}`] as const,
    [{ tags: { id: nowhere } }, `NOT ${tagged}`] as const,
  ]),
  [{ author_id: { id: { _nnull: true } } }, 'a.author_id IS NOT NULL'],
  [{ comments: { id: { _nnull: true } } }, commented],
  [{ tags: { id: { _neq: null } } }, tagged],
  [{ comments: { _or: [{ id: { _null: true } }, { body: { _contains: 'ice' } }] } }, `(NOT ${commented} OR ${icy})`],
  [{ comments: { id: { _null: true }, body: { _contains: 'ice' } } }, 'false'],
  [{ _and: [{ comments: { id: { _null: true } } }, { author_id: { id: { _null: true } } }] }, noneOfBoth],
  // Other fields of an item that is not there hold nothing, and `_some` and `_none` speak of items that are there.
  [{ author_id: { bio: { _null: true } } }, '(SELECT x.bio IS NULL FROM authors x WHERE x.id = a.author_id)'],
  [{ author_id: { country: { code: { _null: true } } } }, homeless],
  [{ comments: { _some: { id: { _null: true } } } }, 'false'],
  [{ comments: { _none: { id: { _null: true } } } }, 'true'],
  [{ comments: { _none: { id: { _nnull: true } } } }, `NOT ${commented}`],
  [{ comments: {} }, commented],
  [{ sections: { id: { _null: true } } }, 'NOT EXISTS (SELECT 1 FROM sections s WHERE s.article_id = a.id)'],
  [
    { sections: { 'item:section_paragraphs': { id: { _null: true } } } },
    `EXISTS (SELECT 1 FROM sections s WHERE s.article_id = a.id AND NOT ${paragraph})`,
  ],
  [
    { sections: { _none: { 'item:section_paragraphs': { id: { _nnull: true } } } } },
    `NOT EXISTS (SELECT 1 FROM sections s WHERE s.article_id = a.id AND ${paragraph})`,
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

const long = 'é'.repeat(80);

it.each([
  [{ status: { _in: ['draft', 'gone'] } }, '"status._in" has "gone", which is not one of the allowed values.'],
  [{ status: 'lost' }, '"status" has "lost", which is not one of the allowed values.'],
  [{ views: { _nin: [1, 'many'] } }, '"views._nin" has "many", which must be an integer.'],
  [{ views: { _between: [1, 2.5] } }, '"views._between" has 2.5, which must be an integer.'],
  [{ _or: [{ rating: { _gt: 'a' } }] }, '"_or.0.rating._gt" has "a", which must be a decimal number.'],
  [{ author_id: { name: { _null: 'maybe' } } }, '"author_id.name._null" has "maybe", which must be true or false.'],
  [{ published_at: { _lt: '$NOW(x)' } }, 'has "$NOW(x)", which must be $NOW or $NOW(<sign><number> <unit>).'],
  [{ metadata: { '/a': { _lt: true } } }, 'has true, which is of a kind that the operator does not compare.'],
  [{ status: { _in: [long] } }, `has "${long.slice(0, 59)}…, which is not one of the allowed values.`],
])('the refusal of %j names the value', async (filter, message) => {
  const path = `/items/articles?filter=${encodeURIComponent(JSON.stringify(filter))}`;
  const { status, json } = await magazine.admin(path);
  expect([status, json.errors[0].message]).toEqual([400, expect.stringContaining(message)]);
});

it('each refusal names its own value, in brackets and after "having", and none one that the role may not see', async () => {
  const told = async (query: string, ask = magazine.admin) =>
    (await ask(`/items/articles?${query}`)).json.errors?.[0].message;
  expect(await told('filter[views][_gt]=3')).toBeUndefined();
  expect(await told('filter[views][_gt]=one')).toContain('"views._gt" has "one", which must be an integer.');
  expect(await told('filter[views][_gt]=two')).toContain('"views._gt" has "two", which must be an integer.');
  expect(await told('filter[views][_in]=1,two')).toContain('"views._in" has "two", which must be an integer.');
  const having = 'groupBy=status&aggregate[count]=*&having[count][_gt]=few';
  expect(await told(having)).toContain('"having" at "count._gt" has "few", which must be an integer.');
  const hidden = await told('filter[metadata_hidden][_gt]=secretive', magazine.ask);
  expect(hidden).not.toContain('secretive');
});

it('means the same in brackets, in SEARCH, in deep and in GraphQL', async () => {
  const ids = (answer: { readonly json: { readonly data: unknown } }): unknown => answer.json.data;
  const without = await magazine.admin('/items/articles?fields=id&limit=-1&filter={"comments":{"_none":{}}}');
  expect(without.json.data.length).toBeGreaterThan(0);
  const brackets = await magazine.admin('/items/articles?fields=id&limit=-1&filter[comments][id][_null]=true');
  expect(ids(brackets)).toEqual(ids(without));
  const query = { fields: ['id'], limit: -1, filter: { comments: { id: { _null: true } } } };
  expect(ids(await magazine.admin('/items/articles', { method: 'SEARCH', body: { query } }))).toEqual(ids(without));

  const orphans = await magazine.admin('/items/articles?fields=id&limit=-1&filter[author_id][_null]=true');
  expect(orphans.json.data.length).toBeGreaterThan(0);
  const body = { query: '{ articles(filter: { author_id: { id: { _null: true } } }, limit: -1) { id } }' };
  const graphql = await magazine.admin('/graphql', { method: 'POST', body });
  expect(graphql.json.data.articles).toEqual(orphans.json.data);

  const deep = '&deep[articles][_filter][comments][id][_null]=true&deep[articles][_limit]=-1';
  const categories = await magazine.admin(`/items/categories?fields=articles&limit=-1${deep}`);
  const plain = '&deep={"articles":{"_filter":{"comments":{"_none":{}}},"_limit":-1}}';
  expect(categories.json).toEqual((await magazine.admin(`/items/categories?fields=articles&limit=-1${plain}`)).json);
});

it('keeps every digit of a JSON number in a SEARCH body', async () => {
  const body = '{"query":{"fields":["id"],"filter":{"id":{"_eq":9007199254740993}}}}';
  const { json } = await magazine.admin('/items/measurements', { method: 'SEARCH', body });
  expect(json.data).toEqual([{ id: '9007199254740993' }]);
});
