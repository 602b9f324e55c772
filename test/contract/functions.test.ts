import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
  await rows("UPDATE articles SET published_at = 'infinity' WHERE id = 5");
});
afterAll(() => magazine?.close());

function rows<T extends Record<string, unknown>>(sql: string): Promise<T[]> {
  return withClient(magazine.database.url, async (client) => (await client.query<T>(sql)).rows);
}

const part = (name: string, field: string, zone = " AT TIME ZONE 'UTC'") =>
  `CASE WHEN isfinite(${field}) THEN floor(extract(${name} FROM ${field}${zone}))::int END`;

it('takes timestamps apart in UTC', async () => {
  const names = ['year', 'month', 'week', 'day', 'weekday', 'hour', 'minute', 'second'];
  const fields = names.map((name) => `${name}(published_at)`).join();
  const { json } = await magazine.admin(`/items/articles?fields=id,${fields}&limit=-1`);
  const columns = names.map(
    (name) => `${part(name === 'weekday' ? 'dow' : name, 'a.published_at')} AS published_at_${name}`,
  );
  expect(json.data).toEqual(await rows(`SELECT a.id::text, ${columns.join(', ')} FROM articles a ORDER BY a.id`));
});

it('takes times and dates apart', async () => {
  const { json } = await magazine.admin(
    '/items/measurements?fields=id,minute(measured_at),weekday(measured_on),hour(local_time)&limit=-1',
  );
  const expected = await rows(`
    SELECT id::text, extract(minute FROM measured_at)::int measured_at_minute,
      ${part('dow', 'measured_on', '')} measured_on_weekday, ${part('hour', '"local_time"', '')} local_time_hour
    FROM measurements ORDER BY measurements.id`);
  expect(json.data).toEqual(expected);
});

it('counts elements, and related rows that the caller may read', async () => {
  const path = '/items/tags?fields=id,count(articles)&limit=-1';
  const expected = (condition: string) =>
    rows(`SELECT t.id, (SELECT count(*)::int FROM articles_tags j JOIN articles a ON a.id = j.article_id
      WHERE j.tag_id = t.id AND ${condition}) articles_count FROM tags t ORDER BY t.id`);
  expect((await magazine.admin(path)).json.data).toEqual(await expected('true'));
  expect((await magazine.ask(path)).json.data).toEqual(await expected("a.status = 'published'"));
  const keywords = await magazine.admin('/items/articles?fields=count(keywords),count(comments)&limit=-1');
  expect(keywords.json.data).toEqual(
    await rows(`SELECT cardinality(a.keywords) keywords_count,
      (SELECT count(*)::int FROM comments c WHERE c.article_id = a.id) comments_count FROM articles a ORDER BY a.id`),
  );
});

it('stand at every level', async () => {
  const { json } = await magazine.ask(
    '/items/articles?fields=id,author_id.name,comments.year(created_at),category_id.count(articles)&limit=5',
  );
  const expected = await rows(`
    SELECT a.id::text,
      (SELECT json_build_object('name', name) FROM authors x WHERE x.id = a.author_id) author_id,
      coalesce((SELECT json_agg(json_build_object('created_at_year', extract(year FROM created_at AT TIME ZONE 'UTC')::int)
        ORDER BY c.id) FROM comments c WHERE c.article_id = a.id), '[]') comments,
      (SELECT json_build_object('articles_count', (SELECT count(*) FROM articles b WHERE b.category_id = g.id
        AND b.status = 'published')) FROM categories g WHERE g.id = a.category_id) category_id
    FROM articles a WHERE status = 'published' ORDER BY a.id LIMIT 5`);
  expect(json.data).toEqual(expected);
});

it.each([
  [
    '-year(published_at),month(published_at)',
    `${part('year', 'a.published_at')} DESC, ${part('month', 'a.published_at')}`,
  ],
  ['-count(comments)', '(SELECT count(*) FROM comments c WHERE c.article_id = a.id) DESC'],
  ['count(keywords),-id', 'cardinality(a.keywords), a.id DESC'],
  ['author_id.name', '(SELECT name FROM authors x WHERE x.id = a.author_id)'],
  ['-author_id.year(joined_on)', '(SELECT extract(year FROM joined_on) FROM authors x WHERE x.id = a.author_id) DESC'],
  [
    'category_id.count(articles)',
    '(SELECT (SELECT count(*) FROM articles b WHERE b.category_id = g.id) FROM categories g WHERE g.id = a.category_id)',
  ],
])('sorts by %s', async (sort, order) => {
  const { json } = await magazine.admin(`/items/articles?fields=id,comments.id&sort=${sort}&limit=-1`);
  const expected = await rows(`SELECT a.id::text FROM articles a ORDER BY ${order}, a.id`);
  expect(json.data.map(({ id }: { id: string }) => ({ id }))).toEqual(expected);
});

it('sorts for the public by the rows it may read', async () => {
  const { json } = await magazine.ask('/items/tags?fields=id&sort=-count(articles)&limit=-1');
  const expected = await rows(`
    SELECT t.id FROM tags t ORDER BY (SELECT count(*) FROM articles_tags j JOIN articles a ON a.id = j.article_id
      WHERE j.tag_id = t.id AND a.status = 'published') DESC, t.id`);
  expect(json.data).toEqual(expected);
});

it.each([
  ['fields=foo(title)', 400],
  ['fields=year(title)', 400],
  ['sort=year(title)', 400],
  ['fields=count(author_id)', 400],
  ['fields=year(created_by)', 403],
  ['fields=year(nothing)', 403],
  ['sort=count(nothing)', 403],
  ['fields=author_id.count(articles)', 403],
  ['fields=foo(title),nothing', 400],
  ['fields=year(title),nothing', 403],
])('%s is %i', async (query, status) => {
  expect((await magazine.ask(`/items/articles?${query}`)).status).toBe(status);
});
