import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
  await rows(`
    UPDATE articles SET title = 'A 100% Sure_Thing' WHERE id IN (SELECT id FROM articles ORDER BY status, id LIMIT 3);
    UPDATE articles SET title = 'Zanzibar hidden' WHERE id = (SELECT min(id) FROM articles WHERE status <> 'published');
    UPDATE articles SET title = 'ZANZIBAR open' WHERE id = (SELECT max(id) FROM articles WHERE status = 'published');
    UPDATE authors SET email = 'needle@example.com' WHERE id = 1`);
});
afterAll(() => magazine?.close());

function rows<T extends Record<string, unknown>>(sql: string): Promise<T[]> {
  return withClient(magazine.database.url, async (client) => (await client.query<T>(sql)).rows);
}

/** Texts, and how they stand in a pattern of ILIKE. */
const texts: readonly (readonly [string, string])[] = [
  ['the', 'the'],
  ['THE', 'the'],
  ['zanzibar', 'zanzibar'],
  ['100%', '100\\%'],
  ['%', '\\%'],
  ['sure_t', 'sure\\_t'],
  ['\\', '\\\\'],
  ["' OR 1=1 --", "'' OR 1=1 --"],
];

it.each(texts)('finds %j in the text fields of articles, in any case', async (text, pattern) => {
  const path = `/items/articles?fields=id&limit=-1&meta=filter_count&search=${encodeURIComponent(text)}`;
  const found = (condition: string) =>
    rows(`SELECT id::text FROM articles WHERE ${condition} AND
      (title ILIKE '%${pattern}%' OR slug ILIKE '%${pattern}%' OR body ILIKE '%${pattern}%') ORDER BY articles.id`);
  const all = await found('true');
  expect((await magazine.admin(path)).json).toEqual({ data: all, meta: { filter_count: all.length } });
  const open = await found("status = 'published'");
  expect((await magazine.ask(path)).json).toEqual({ data: open, meta: { filter_count: open.length } });
});

it('is narrowed by a filter and counted with it', async () => {
  const { json } = await magazine.admin('/items/articles?fields=id&search=the&filter[views][_gt]=100&meta=*&limit=2');
  const [counts] = await rows<{ total: number; filtered: number }>(`
    SELECT count(*)::int total, (count(*) FILTER (WHERE views > 100 AND
      (title ILIKE '%the%' OR slug ILIKE '%the%' OR body ILIKE '%the%')))::int filtered FROM articles`);
  expect(json.meta).toEqual({ total_count: counts?.total, filter_count: counts?.filtered });
});

it('finds nothing by a field that cannot be read', async () => {
  expect((await magazine.admin('/items/authors?fields=id&search=needle')).json.data).toEqual([{ id: 1 }]);
  expect((await magazine.ask('/items/authors?fields=id&search=needle&meta=filter_count')).json).toEqual({
    data: [],
    meta: { filter_count: 0 },
  });
});

it('finds nothing in a collection without a text field', async () => {
  expect((await magazine.admin('/items/articles_tags?search=1')).json).toEqual({ data: [] });
  expect((await magazine.admin('/items/articles_tags?search=')).json.data.length).toBeGreaterThan(0);
});

it('reads alike in the body of SEARCH', async () => {
  const body = { query: { fields: ['id'], search: 'zanzibar' } };
  const search = await magazine.ask('/items/articles', { method: 'SEARCH', body });
  expect(search.text).toBe((await magazine.ask('/items/articles?fields=id&search=zanzibar')).text);
});

it.each(['search=a&search=b', 'search[]=a', 'search[a]=b', 'search=%00'])('refuses %s', async (query) => {
  const { status, json } = await magazine.ask(`/items/articles?${query}`);
  expect(status).toBe(400);
  expect(json.errors[0].extensions.code).toBe('INVALID_QUERY');
});
