import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

/** The rows of a statement that builds each answer row as JSON text. */
async function rows(sql: string): Promise<readonly unknown[]> {
  return withClient(magazine.database.url, async (client) => {
    const result = await client.query<{ row: string }>(`SELECT r::text AS row FROM (${sql}) s(r)`);
    return result.rows.map(({ row }) => JSON.parse(row));
  });
}

const all = 'FROM articles a';

/** Queries of articles beside the SQL whose rows they must equal, in order. */
const cases: readonly (readonly [string, string])[] = [
  ['aggregate[count]=*', `SELECT json_build_object('count', count(*)) ${all}`],
  ['aggregate[countAll]=*', `SELECT json_build_object('countAll', count(*)) ${all}`],
  ['aggregate[count]=id', `SELECT json_build_object('count', json_build_object('id', count(id))) ${all}`],
  [
    'aggregate={"count":["author_id","rating"],"countDistinct":"author_id"}',
    `SELECT json_build_object('count', json_build_object('author_id', count(author_id), 'rating', count(rating)),
       'countDistinct', json_build_object('author_id', count(DISTINCT author_id))) ${all}`,
  ],
  [
    'aggregate[countDistinct]=metadata,keywords,status',
    `SELECT json_build_object('countDistinct', json_build_object('metadata', count(DISTINCT metadata),
       'keywords', count(DISTINCT keywords), 'status', count(DISTINCT status))) ${all}`,
  ],
  [
    'aggregate[sum]=views,rating&aggregate[avg]=views,rating,id&aggregate[sumDistinct]=id&aggregate[avgDistinct]=views',
    `SELECT json_build_object(
       'sum', json_build_object('views', sum(views), 'rating', sum(rating)::text),
       'avg', json_build_object('views', avg(views)::float8, 'rating', avg(rating)::text, 'id', avg(id)::text),
       'sumDistinct', json_build_object('id', sum(DISTINCT id)::text),
       'avgDistinct', json_build_object('views', avg(DISTINCT views)::float8)) ${all}`,
  ],
  [
    'aggregate[min]=id,title,views,rating&aggregate[max]=body',
    `SELECT json_build_object('min', json_build_object('id', min(id)::text, 'title', min(title), 'views', min(views),
       'rating', min(rating)::text), 'max', json_build_object('body', max(body))) ${all}`,
  ],
  [
    'groupBy=status&aggregate[count]=*',
    `SELECT json_build_object('status', status, 'count', count(*)) ${all} GROUP BY status ORDER BY status`,
  ],
  ['groupBy=status', `SELECT json_build_object('status', status) ${all} GROUP BY status ORDER BY status`],
  [
    'groupBy[]=author_id&groupBy[]=status&aggregate[sum]=views&sort=-sum.views,-status&limit=7&offset=2',
    `SELECT json_build_object('author_id', author_id, 'status', status, 'sum', json_build_object('views', sum(views)))
     ${all} GROUP BY author_id, status ORDER BY sum(views) DESC, status DESC, author_id LIMIT 7 OFFSET 2`,
  ],
  [
    'groupBy=year(published_at),month(published_at)&aggregate[count]=*&sort=-year(published_at),published_at_month',
    `SELECT json_build_object('published_at_year', y, 'published_at_month', m, 'count', count(*))
     FROM (SELECT extract(year FROM published_at AT TIME ZONE 'UTC')::int AS y,
       extract(month FROM published_at AT TIME ZONE 'UTC')::int AS m ${all}) a GROUP BY y, m ORDER BY y DESC, m`,
  ],
  [
    'groupBy=count(comments)&aggregate[count]=*&sort=-count',
    `SELECT json_build_object('comments_count', n, 'count', count(*))
     FROM (SELECT (SELECT count(*) FROM comments c WHERE c.article_id = a.id) AS n ${all}) a
     GROUP BY n ORDER BY count(*) DESC, n`,
  ],
  [
    'groupBy=keywords&limit=3',
    `SELECT json_build_object('keywords', keywords) ${all} GROUP BY keywords ORDER BY keywords LIMIT 3`,
  ],
  [
    'groupBy=author_id&aggregate[count]=id,rating&sort=-count.id&page=2&limit=3',
    `SELECT json_build_object('author_id', author_id, 'count', json_build_object('id', count(id), 'rating', count(rating)))
     ${all} GROUP BY author_id ORDER BY count(id) DESC, author_id LIMIT 3 OFFSET 3`,
  ],
  [
    'groupBy=author_id&sort=-count&limit=3',
    `SELECT json_build_object('author_id', author_id) ${all} GROUP BY author_id ORDER BY count(*) DESC, author_id LIMIT 3`,
  ],
  [
    'filter={"author_id":{"name":{"_starts_with":"A"}}}&aggregate[count]=*&aggregate[max]=published_at',
    `SELECT json_build_object('count', count(*), 'max', json_build_object('published_at',
       to_char(max(published_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'))) ${all}
     WHERE (SELECT name FROM authors x WHERE x.id = a.author_id) LIKE 'A%'`,
  ],
  [
    'filter={"id":{"_lt":0}}&aggregate[count]=*&aggregate[sum]=views&aggregate[countDistinct]=id&aggregate[min]=title',
    `SELECT '{"count":0,"sum":{"views":null},"countDistinct":{"id":0},"min":{"title":null}}'::json`,
  ],
  [
    'search=CITY&groupBy=status&aggregate[count]=*&having[count][_gt]=0',
    `SELECT json_build_object('status', status, 'count', count(*)) ${all}
     WHERE concat_ws('|', title, slug, body) ILIKE '%city%' GROUP BY status ORDER BY status`,
  ],
  ['filter={"id":{"_lt":0}}&groupBy=status', 'SELECT NULL::json WHERE false'],
  // Clients ask for the totals of a list with the query of the list.
  ...[
    'limit=0',
    'offset=1',
    'limit=25&page=3',
    'limit=-1&page=2',
    'sort=-published_at,author_id.name,year(published_at),count(comments)',
    'sort=-count,sum,max.views',
    'sort[]=author_id.year(joined_on)&sort[]=-id&limit=7&page=2',
  ].map((unused) => [`aggregate[count]=*&${unused}`, `SELECT json_build_object('count', count(*)) ${all}`] as const),
  [
    'groupBy=author_id&having={"count":{"_gt":4}}',
    `SELECT json_build_object('author_id', author_id) ${all} GROUP BY author_id HAVING count(*) > 4 ORDER BY author_id`,
  ],
  [
    'groupBy=author_id&aggregate[count]=*&having[_or][0][sum][views][_gt]=20000&having[_or][1][avg][rating][_between]=3.1,3.2',
    `SELECT json_build_object('author_id', author_id, 'count', count(*)) ${all} GROUP BY author_id
     HAVING sum(views) > 20000 OR avg(rating) BETWEEN 3.1 AND 3.2 ORDER BY author_id`,
  ],
  [
    'groupBy=author_id&filter[status]=published&having={"max":{"title":{"_starts_with":"T"}},"countDistinct":{"category_id":{"_in":[2,3]}}}',
    `SELECT json_build_object('author_id', author_id) ${all} WHERE status = 'published' GROUP BY author_id
     HAVING max(title) LIKE 'T%' AND count(DISTINCT category_id) IN (2, 3) ORDER BY author_id`,
  ],
  ['aggregate[count]=*&having={"count":{"_lt":0}}', 'SELECT NULL::json WHERE false'],
];

describe('articles', () => {
  it.each(cases)('%s', async (query, sql) => {
    const { status, json } = await magazine.admin(`/items/articles?${query}`);
    expect([status, json]).toEqual([200, { data: await rows(sql) }]);
  });

  it('writes groups first, then functions in the order asked for', async () => {
    const { text } = await magazine.admin(
      '/items/articles?groupBy=status&aggregate[max]=id&aggregate[count]=*&limit=1',
    );
    expect(text).toMatch(/^\{"data":\[\{"status":"\w+","max":\{"id":"\d+"\},"count":\d+\}\]\}$/);
  });

  it('uses no order and no page of a single row in SEARCH and in nested rows either', async () => {
    const query = { aggregate: { count: '*' }, sort: ['-author_id.name'], limit: 10, page: 4 };
    const search = await magazine.admin('/items/articles', { method: 'SEARCH', body: { query } });
    expect(search.json.data).toEqual(await rows(`SELECT json_build_object('count', count(*)) ${all}`));
    const deep = { articles: { _aggregate: { count: '*' }, _sort: '-published_at', _limit: 2, _page: 9 } };
    const nested = await magazine.admin(`/items/authors?fields=articles&limit=3&deep=${JSON.stringify(deep)}`);
    expect(nested.json.data).toEqual(
      await rows(`SELECT json_build_object('articles', json_build_array(json_build_object('count',
        (SELECT count(*) FROM articles a WHERE a.author_id = x.id)))) FROM authors x ORDER BY id LIMIT 3`),
    );
  });

  it('reads SEARCH as it reads GET', async () => {
    const query = { aggregate: { count: '*', sum: ['views'] }, groupBy: ['status'], sort: ['-count'], limit: -1 };
    const search = await magazine.admin('/items/articles', { method: 'SEARCH', body: { query } });
    const get = await magazine.admin(
      '/items/articles?aggregate[count]=*&aggregate[sum]=views&groupBy=status&sort=-count&limit=-1',
    );
    expect(search.status).toBe(200);
    expect(search.text).toBe(get.text);
  });

  it('adds counts of items', async () => {
    const { json } = await magazine.admin(
      '/items/articles?groupBy=status&filter[id][_lt]=5&meta=*&limit=1&sort=-status',
    );
    const [status] = await rows("SELECT json_build_object('status', max(status)) FROM articles WHERE id < 5");
    const [total] = await rows('SELECT to_json(count(*)) FROM articles');
    expect(json).toEqual({ data: [status], meta: { total_count: total, filter_count: 4 } });
    const none = await magazine.admin('/items/articles?groupBy=status&filter[id][_lt]=0&meta=filter_count');
    expect(none.json).toEqual({ data: [], meta: { filter_count: 0 } });
  });
});

it('sends one statement for everything', async () => {
  const query = 'groupBy=status,count(comments)&aggregate[avg]=rating&having[count][_gt]=1&sort=-count&meta=*';
  magazine.statements.reset();
  await magazine.admin(`/items/articles?${query}`);
  expect(magazine.statements.executed()).toBe(1);
});

it('streams groups without a limit', async () => {
  const { json } = await magazine.admin('/items/comments?groupBy=id&aggregate[count]=*&limit=-1');
  expect(json.data).toEqual(
    await rows(`SELECT json_build_object('id', id::text, 'count', 1) FROM comments ORDER BY id`),
  );
});

it('aggregates types of every kind, exactly', async () => {
  const { json } = await magazine.admin(
    '/items/measurements?aggregate[sum]=counter,value,exact_value&aggregate[max]=measured_on,measured_at,duration,local_time' +
      '&aggregate[countDistinct]=payload,duration,device_id&aggregate[avg]=counter',
  );
  const [expected] = await rows(`SELECT json_build_object(
    'sum', json_build_object('counter', sum(counter)::text, 'exact_value', sum(exact_value)::text),
    'countDistinct', json_build_object('payload', count(DISTINCT payload), 'duration', count(DISTINCT duration),
      'device_id', count(DISTINCT device_id)),
    'avg', json_build_object('counter', avg(counter)::text),
    'max', json_build_object('measured_on', max(measured_on))) FROM measurements`);
  expect(json.data).toMatchObject([expected]);
});

describe('the public role', () => {
  it('sees aggregates of the rows it may read', async () => {
    const { json } = await magazine.ask(
      '/items/articles?groupBy=status&aggregate[count]=*&aggregate[sum]=views&meta=*',
    );
    const data = await rows(`SELECT json_build_object('status', status, 'count', count(*), 'sum',
      json_build_object('views', sum(views))) FROM articles WHERE status = 'published' GROUP BY status`);
    const [count] = await rows("SELECT to_json(count(*)) FROM articles WHERE status = 'published'");
    expect(json).toEqual({ data, meta: { total_count: count, filter_count: count } });
  });

  it('counts related rows it may read', async () => {
    const { json } = await magazine.ask('/items/categories?groupBy=count(articles)');
    expect(json.data).toEqual(
      await rows(`SELECT json_build_object('articles_count', n) FROM (SELECT (SELECT count(*) FROM articles a
        WHERE a.category_id = c.id AND a.status = 'published') AS n FROM categories c) x GROUP BY n ORDER BY n`),
    );
  });

  const positions = (name: string): readonly string[] => [
    `aggregate[count]=${name}`,
    `aggregate[min]=${name}`,
    `aggregate[sum]=id,${name}`,
    `groupBy=${name}`,
    `groupBy=year(${name})`,
    `groupBy=count(${name})`,
    `groupBy=status&sort=${name}`,
    `groupBy=status&sort=max.${name}`,
    `groupBy=status&sort=-year(${name})`,
    `aggregate[count]=*&sort=${name}`,
    `aggregate[count]=*&sort=-author_id.${name}`,
    `aggregate[count]=*&sort=max.${name}`,
    `groupBy=status&having={"max":{"${name}":{"_gt":"a"}}}`,
    `groupBy=status&filter[${name}][_eq]=1`,
    `groupBy=status&fields=${name}`,
    `groupBy=status&alias[other]=${name}`,
    `groupBy=status&deep[${name}][_limit]=1`,
  ];

  it('cannot tell hidden from unknown names', async () => {
    const unknown = await magazine.ask('/items/articles?groupBy=nothing');
    expect(unknown.status).toBe(403);
    for (const name of ['created_by', 'nothing', '__proto__', 'constructor']) {
      for (const query of positions(name)) {
        const answer = await magazine.ask(`/items/articles?${query}`);
        if (name === '__proto__' && answer.status === 400) continue;
        expect([query, answer.status, answer.text]).toEqual([query, 403, unknown.text]);
      }
    }
    const hidden = await magazine.ask('/items/orders?aggregate[count]=*');
    expect([hidden.status, hidden.text]).toEqual([403, unknown.text]);
  });
});

it.each([
  ['aggregate[median]=views', 400],
  ['aggregate[median]=nothing', 400],
  ['aggregate[toString]=views', 400],
  ['aggregate=count', 400],
  ['aggregate={"count"', 400],
  ['aggregate[count]=', 400],
  ['aggregate[sum]=*', 400],
  ['aggregate[countAll]=id', 400],
  ['aggregate[count]=*,id', 400],
  ['aggregate[min]=year(published_at)', 400],
  ['aggregate[sum]=title', 400],
  ['aggregate[avg]=published_at', 400],
  ['aggregate[min]=metadata', 400],
  ['aggregate[max]=keywords', 400],
  ['aggregate[max]=status', 400],
  ['aggregate[count]=comments', 400],
  ['aggregate[sum]=title,nothing', 403],
  ['groupBy=metadata', 400],
  ['groupBy=comments', 400],
  ['groupBy=year(title)', 400],
  ['groupBy=century(published_at)', 400],
  ['groupBy=century(nothing)', 400],
  ['groupBy=author_id.name', 403],
  ['groupBy=status&sort=title', 400],
  ['aggregate[count]=*&sort=metadata', 400],
  ['aggregate[count]=*&sort=comments.id', 400],
  ['aggregate[count]=*&sort=author_id.century(joined_on)', 400],
  ['aggregate[count]=*&sort=author_id.nothing', 403],
  ['aggregate[count]=*&limit=-2', 400],
  ['aggregate[count]=*&page=x', 400],
  ['groupBy=status&sort=sum', 400],
  ['groupBy=status&sort=countAll.id', 400],
  ['groupBy=nothing&sort=-countAll.nothing', 400],
  ['aggregate[count]=*&sort=countAll.id', 400],
  ['groupBy=status&sort=sum.title', 400],
  ['groupBy=status&sort=id;--', 403],
  ['groupBy=status&having={"count":{"_like":1}}', 400],
  ['groupBy=status&having={"count":{"_gt":"x"}}', 400],
  ['groupBy=status&having={"sum":{"title":{"_gt":1}}}', 400],
  ['groupBy=status&having={"sum":{"title":{"_null":true}}}', 400],
  ['groupBy=status&having={"sum":{"_gt":1}}', 400],
  ['groupBy=status&having={"median":{"_gt":1}}', 403],
  ['groupBy=status&having=[1]', 400],
  ['having={"count":{"_gt":1}}', 400],
  ['groupBy=status&limit=-2', 400],
  ['groupBy=status,nothing&having={"count":{"_like":1}}', 400],
  ['groupBy=nothing&having={"count":{"_gt":"x"}}', 403],
])('%s is %i', async (query, status) => {
  const answer = await magazine.admin(`/items/articles?${query}`);
  expect(answer.status).toBe(status);
  expect(answer.json.errors[0].extensions.code).toBe(status === 400 ? 'INVALID_QUERY' : 'FORBIDDEN');
  expect(answer.text).not.toMatch(/select|postgres|syntax error|relation "/i);
});

it.each([
  [
    'aggregate[median]=views',
    '"aggregate" takes count, countDistinct, countAll, sum, sumDistinct, avg, avgDistinct, min, max.',
  ],
  ['aggregate[sum]=title', '"sum" is not defined for the type of "title".'],
  ['groupBy=status&sort=sum.title', '"sum" is not defined for the type of "title".'],
])('%s is refused by words that help', async (query, message) => {
  const { json } = await magazine.admin(`/items/articles?${query}`);
  expect(json.errors[0].message).toBe(message);
});
