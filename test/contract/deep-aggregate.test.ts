/** Aggregate rows in the place of nested rows: what SQL would compute for each parent. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

/** The values of a statement with one column of JSON. */
async function rows(sql: string): Promise<readonly unknown[]> {
  return withClient(magazine.database.url, async (client) => {
    const result = await client.query<{ row: string }>(`SELECT r::text AS row FROM (${sql}) s(r)`);
    return result.rows.map(({ row }) => JSON.parse(row));
  });
}

const inText = (deep: unknown): string => encodeURIComponent(JSON.stringify(deep));

/** A list in SQL: the rows of a query as JSON, `[]` without any. */
const list = (query: string): string => `coalesce((SELECT json_agg(r) FROM (${query}) q(r)), '[]')`;

/**
 * A relation of articles, what `deep` asks of it, and the aggregate rows of the article `a` in SQL, as an administrator
 * sees them.
 */
const cases: readonly (readonly [string, Record<string, unknown>, string])[] = [
  [
    'comments',
    { _aggregate: { count: '*' } },
    "SELECT json_build_object('count', count(*)) FROM comments c WHERE c.article_id = a.id",
  ],
  [
    'comments',
    { _aggregate: { count: ['id', 'author_email'], max: 'id', min: ['author_name'] } },
    `SELECT json_build_object('count', json_build_object('id', count(id), 'author_email', count(author_email)),
       'max', json_build_object('id', max(id)::text), 'min', json_build_object('author_name', min(author_name)))
     FROM comments c WHERE c.article_id = a.id`,
  ],
  [
    'comments',
    { _group: ['year(created_at)'], _aggregate: { count: '*', sum: 'id' }, _sort: ['-year(created_at)'] },
    `SELECT json_build_object('created_at_year', y, 'count', count(*), 'sum', json_build_object('id', sum(id)::text))
     FROM (SELECT *, extract(year FROM created_at AT TIME ZONE 'UTC')::int y FROM comments) c
     WHERE c.article_id = a.id GROUP BY y ORDER BY y DESC`,
  ],
  [
    'comments',
    { _group: 'author_name' },
    `SELECT json_build_object('author_name', author_name) FROM comments c WHERE c.article_id = a.id
     GROUP BY author_name ORDER BY author_name LIMIT 100`,
  ],
  [
    'comments',
    {
      _group: 'author_name',
      _aggregate: { count: '*' },
      _sort: '-count,-author_name',
      _limit: 2,
      _offset: 1,
      _search: 'E',
      _filter: { id: { _gt: 20 } },
    },
    `SELECT json_build_object('author_name', author_name, 'count', count(*)) FROM comments c
     WHERE c.article_id = a.id AND id > 20 AND (author_name ILIKE '%e%' OR author_email ILIKE '%e%' OR body ILIKE '%e%')
     GROUP BY author_name ORDER BY count(*) DESC, author_name DESC LIMIT 2 OFFSET 1`,
  ],
  [
    'comments',
    { _group: 'author_name', _limit: 1, _page: 2, _sort: 'author_name' },
    `SELECT json_build_object('author_name', author_name) FROM comments c WHERE c.article_id = a.id
     GROUP BY author_name ORDER BY author_name LIMIT 1 OFFSET 1`,
  ],
  [
    'comments',
    { _aggregate: { count: '*' }, _having: { count: { _gt: 2 }, max: { id: { _lt: '600' } } } },
    `SELECT json_build_object('count', count(*)) FROM comments c WHERE c.article_id = a.id
     HAVING count(*) > 2 AND max(id) < 600`,
  ],
  [
    'comments',
    { _aggregate: { count: '*' }, _limit: 0, _page: 2, _sort: ['-created_at', 'article_id.title'] },
    "SELECT json_build_object('count', count(*)) FROM comments c WHERE c.article_id = a.id",
  ],
  [
    'tags',
    { _aggregate: { count: '*', avg: ['id'], max: ['name'] } },
    `SELECT json_build_object('count', count(*), 'avg', json_build_object('id', avg(t.id)::float8),
       'max', json_build_object('name', max(name)))
     FROM tags t JOIN articles_tags j ON j.tag_id = t.id WHERE j.article_id = a.id`,
  ],
  [
    'tags',
    { _group: ['count(articles)'], _aggregate: { countAll: '*' } },
    `SELECT json_build_object('articles_count', n, 'countAll', count(*))
     FROM (SELECT (SELECT count(*) FROM articles_tags x WHERE x.tag_id = j.tag_id) n FROM articles_tags j
       WHERE j.article_id = a.id) s GROUP BY n ORDER BY n`,
  ],
  [
    'sections',
    { _group: ['collection'], _aggregate: { count: '*', countDistinct: 'item', min: 'sort' }, _sort: ['-count'] },
    `SELECT json_build_object('collection', collection, 'count', count(*),
       'countDistinct', json_build_object('item', count(DISTINCT item)), 'min', json_build_object('sort', min(sort)))
     FROM sections s WHERE s.article_id = a.id GROUP BY collection ORDER BY count(*) DESC, collection`,
  ],
  [
    'sections',
    { _aggregate: { count: '*' }, _filter: { 'item:section_paragraphs': { style: 'normal' } } },
    `SELECT json_build_object('count', count(*)) FROM sections s
     WHERE s.article_id = a.id AND collection = 'section_paragraphs'
       AND EXISTS (SELECT FROM section_paragraphs p WHERE p.id::text = s.item AND p.style = 'normal')`,
  ],
  [
    'translations',
    { _group: ['language_code'], _aggregate: { count: ['title'] } },
    `SELECT json_build_object('language_code', language_code, 'count', json_build_object('title', count(title)))
     FROM article_translations t WHERE t.article_id = a.id GROUP BY language_code ORDER BY language_code`,
  ],
];

it.each(cases)('%s %j', async (relation, asked, sql) => {
  const expected = await rows(
    `SELECT json_build_object('id', a.id::text, 'r', ${list(sql)}) FROM articles a ORDER BY a.id`,
  );
  const deep = { r: asked };
  const get = await magazine.admin(`/items/articles?fields=id,r&alias[r]=${relation}&deep=${inText(deep)}&limit=-1`);
  expect([get.status, get.json.data]).toEqual([200, expected]);
  const query = { fields: ['id', 'r.id'], alias: { r: relation }, deep, limit: -1 };
  const search = await magazine.admin('/items/articles', { method: 'SEARCH', body: { query } });
  expect(search.text).toBe(get.text);
});

it('reads one relation as rows and as values, in one statement', async () => {
  magazine.statements.reset();
  const { json } = await magazine.admin(
    '/items/articles/1?fields=id,comments.id,stats&alias[stats]=comments&deep[comments][_limit]=1' +
      '&deep[stats][_aggregate][count]=*&deep[stats][_aggregate][max]=id',
  );
  expect(magazine.statements.executed()).toBe(1);
  const [expected] = await rows(`SELECT json_build_object('id', '1',
    'comments', json_build_array(json_build_object('id', min(id)::text)),
    'stats', json_build_array(json_build_object('count', count(*), 'max', json_build_object('id', max(id)::text))))
    FROM comments WHERE article_id = 1`);
  expect(json.data).toEqual(expected);
});

it('aggregates at every level, exactly', async () => {
  const path =
    '/items/categories?fields=id,categories.id,categories.articles,articles.id,articles.order_lines&limit=50';
  const asked =
    '&deep[categories][articles][_aggregate][sum]=rating,views&deep[categories][articles][_group]=status' +
    '&deep[articles][order_lines][_aggregate][sum]=amount,quantity&deep[articles][order_lines][_aggregate][avg]=unit_price' +
    '&deep[articles][order_lines][_having][sum][amount][_gt]=10.5&deep[articles][_limit]=200';
  const { json } = await magazine.admin(path + asked);
  const inner = `SELECT json_build_object('status', status, 'sum',
      json_build_object('rating', sum(rating)::text, 'views', sum(views)))
    FROM articles x WHERE x.category_id = k.id GROUP BY status ORDER BY status`;
  const lines = `SELECT json_build_object('sum', json_build_object('amount', sum(amount)::text, 'quantity', sum(quantity)),
      'avg', json_build_object('unit_price', avg(unit_price)::text))
    FROM order_lines l WHERE l.article_id = a.id HAVING sum(amount) > 10.5`;
  expect(json.data).toEqual(
    await rows(`SELECT json_build_object('id', c.id,
      'categories', ${list(`SELECT json_build_object('id', k.id, 'articles', ${list(inner)}) FROM categories k
        WHERE k.parent_id = c.id ORDER BY k.sort, k.id`)},
      'articles', ${list(`SELECT json_build_object('id', a.id::text, 'order_lines', ${list(lines)}) FROM articles a
        WHERE a.category_id = c.id ORDER BY a.id`)})
      FROM categories c ORDER BY c.sort, c.id`),
  );
});

it('appears where the relation is selected, by a wildcard too', async () => {
  const deep = 'deep[comments][_aggregate][count]=*';
  const [expected] = await rows(
    "SELECT json_build_array(json_build_object('count', count(*))) FROM comments WHERE article_id = 1",
  );
  for (const fields of ['comments', 'comments.*', 'comments.article_id.title', '*', '*.*']) {
    const { json } = await magazine.ask(`/items/articles/1?fields=${fields}&${deep}`);
    expect([fields, json.data.comments]).toEqual([fields, expected]);
  }
  const { json } = await magazine.ask(`/items/articles/1?fields=id&${deep}`);
  expect(json.data).toEqual({ id: '1' });
});

it('does not need the key of the rows', async () => {
  const deep = inText({ articles_tags: { _group: ['tag_id'], _aggregate: { count: '*' } } });
  const { status, json } = await magazine.ask(`/items/articles/1?fields=articles_tags&deep=${deep}`);
  const expected = await rows(
    "SELECT json_build_object('tag_id', tag_id, 'count', 1) FROM articles_tags WHERE article_id = 1 ORDER BY tag_id",
  );
  expect([status, json.data]).toEqual([200, { articles_tags: expected }]);
});

describe('the public role', () => {
  it('sees values of the rows it may read', async () => {
    const deep = inText({
      articles: { _group: ['status'], _aggregate: { count: '*', sum: 'views' } },
      categories: { _aggregate: { count: '*' } },
    });
    const { json } = await magazine.ask(`/items/categories?fields=id,articles,categories&deep=${deep}`);
    const articles = `SELECT json_build_object('status', status, 'count', count(*), 'sum', json_build_object('views', sum(views)))
      FROM articles a WHERE a.category_id = c.id AND status = 'published' GROUP BY status`;
    const below = `SELECT json_build_object('count', count(*)) FROM categories k WHERE k.parent_id = c.id`;
    expect(json.data).toEqual(
      await rows(`SELECT json_build_object('id', c.id, 'articles', ${list(articles)}, 'categories', ${list(below)})
        FROM categories c ORDER BY c.sort, c.id`),
    );
  });
});

describe('files', () => {
  const path = '/items/articles?fields=id,comments&deep[comments][_aggregate][count]=*&limit=1&export=';
  it.each([
    ['csv', 'id,comments\r\n1,"[{""count"":N}]"\r\n'],
    ['json', '[{"id":"1","comments":[{"count":N}]}]'],
    ['ndjson', '{"id":"1","comments":[{"count":N}]}\n'],
    ['yaml', '- id: "1"\n  comments: [{"count": N}]\n'],
    ['xml', '  <item><id>1</id><comments><item><count>N</count></item></comments></item>\n'],
  ])('%s holds them as a list', async (format, text) => {
    const [count] = await rows('SELECT to_json(count(*)) FROM comments WHERE article_id = 1');
    expect((await magazine.ask(path + format)).text).toContain(text.replace('N', String(count)));
  });
});

it.each([
  ['deep[comments][_aggregate]=count', 400],
  ['deep[comments][_aggregate][median]=id', 400],
  ['deep[nothing][_aggregate][median]=id', 400],
  ['deep[comments][_aggregate][count]=', 400],
  ['deep[comments][_aggregate][countAll]=id', 400],
  ['deep[comments][_group]=century(created_at)', 400],
  ['deep[nothing][_group]=century(created_at)', 400],
  ['deep[comments][_group]=id&deep[comments][_group]=id', 200],
  ['deep[comments][_having][count][_gt]=1', 400],
  ['deep[comments][_aggregate][count]=*&deep[comments][_having][count][_like]=1', 400],
  ['deep[comments][_aggregate][count]=*&deep[comments][_limit]=-2', 400],
  ['deep[_aggregate][count]=*', 400],
  ['deep[comments][_groupBy]=id', 400],
  // Names before types.
  ['deep[comments][_aggregate][sum]=body', 400],
  ['deep[comments][_aggregate][sum]=body&deep[tags][_group]=nothing', 403],
  ['deep[comments][_aggregate][sum]=body&filter[nothing]=1', 403],
  ['deep[comments][_aggregate][sum]=body,nothing', 403],
  ['deep[comments][_aggregate][sum]=id&deep[comments][_having][sum][body][_gt]=1', 400],
  ['deep[comments][_aggregate][sum]=id&deep[comments][_having][sum][id][_gt]=x', 400],
  ['deep[comments][_group]=id&deep[comments][_sort]=body', 400],
  ['deep[comments][_group]=id&deep[comments][_sort]=sum.nothing', 403],
  ['deep[articles_tags][_group]=article_id&deep[articles_tags][article_id][comments][_limit]=1', 200],
  ['deep[articles_tags][_group]=article_id&deep[articles_tags][article_id][nothing][_limit]=1', 403],
  ['deep[comments][_group]=id&fields=comments.nothing', 403],
  ['deep[comments][_group]=id&fields=comments.year(body)', 400],
  ['deep[comments][_group]=article_id&fields=comments', 200],
  // One item is not aggregated.
  ['deep[author_id][_aggregate][count]=*', 400],
  ['deep[author_id][_aggregate][count]=*&fields=author_id.name', 400],
  ['deep[sections][item:section_headings][_aggregate][count]=*', 400],
  // A relation that is not selected is ignored, but judged.
  ['fields=id&deep[comments][_aggregate][sum]=body', 400],
  ['aggregate[count]=*&deep[comments][_aggregate][count]=*', 200],
  ['aggregate[count]=*&deep[comments][_aggregate][sum]=body', 400],
  ['aggregate[count]=*&deep[comments][_group]=author_email', 403],
])('%s is %i', async (query, status) => {
  const answer = await magazine.ask(`/items/articles?limit=1&${query}`);
  expect(answer.status).toBe(status);
  if (status !== 200) {
    expect(answer.json.errors[0].extensions.code).toBe(status === 400 ? 'INVALID_QUERY' : 'FORBIDDEN');
  }
});

it('bounds what one request can ask for', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
  const functions = ['count', 'countDistinct', 'min', 'max'].map((name) => [name, ['id', 'article_id', 'created_at']]);
  const deep = names.map((name) => [name, { _aggregate: Object.fromEntries(functions) }]);
  const query = {
    fields: ['id', ...names],
    alias: Object.fromEntries(names.map((name) => [name, 'comments'])),
    deep: Object.fromEntries(deep),
  };
  const answer = await magazine.ask('/items/articles', { method: 'SEARCH', body: { query } });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('too many values');
});

it('bounds the lists of having', async () => {
  const having = (count: number) => ({ count: { _in: Array.from({ length: count }, (_, index) => index) } });
  const top = (count: number) => ({ groupBy: ['status'], having: having(count) });
  const nested = (count: number) => ({
    fields: ['comments'],
    deep: { comments: { _aggregate: { count: '*' }, _having: having(count) } },
  });
  for (const query of [top, nested]) {
    const statuses = [10_000, 10_001].map(async (count) => {
      return (await magazine.ask('/items/articles', { method: 'SEARCH', body: { query: query(count) } })).status;
    });
    expect(await Promise.all(statuses)).toEqual([200, 400]);
  }
});

it('takes lists in brackets with indexes, as they are taken elsewhere', async () => {
  const asked = 'fields=comments&limit=3&deep[comments][_group]=author_name&deep[comments][_aggregate]';
  const named = await magazine.ask(`/items/articles?${asked}[max]=id,body`);
  expect(named.status).toBe(200);
  for (const list of [
    '[max][0]=id&deep[comments][_aggregate][max][1]=body',
    '[max][]=id&deep[comments][_aggregate][max][]=body',
  ]) {
    expect((await magazine.ask(`/items/articles?${asked}${list}`)).text).toBe(named.text);
  }
  const top = await magazine.ask('/items/articles?aggregate[max][0]=id&aggregate[max][1]=views');
  expect(top.text).toBe((await magazine.ask('/items/articles?aggregate[max]=id,views')).text);
});
