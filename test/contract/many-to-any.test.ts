import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
  await rows(`
    UPDATE section_headings SET released = false WHERE id = 1;
    INSERT INTO sections (article_id, sort, collection, item) VALUES (1, 98, 'section_paragraphs', 'stray'),
      (1, 99, 'section_images', '999')`);
});
afterAll(() => magazine?.close());

function rows<T extends Record<string, unknown>>(sql: string): Promise<T[]> {
  return withClient(magazine.database.url, async (client) => (await client.query<T>(sql)).rows);
}

/** The item of a link row `s` as SQL: a JSON object of the columns, null when there is none that meets the condition. */
function item(collection: string, columns: readonly string[], condition: string): string {
  const members = columns.map((name) => `'${name}', i.${name}`).join(', ');
  return `(SELECT json_build_object(${members}) FROM ${collection} i
    WHERE s.collection = '${collection}' AND i.id::text = s.item AND ${condition})`;
}

/** Articles 1 to 9 with the given expressions over their link rows. */
function articles(members: string, condition: string): Promise<Record<string, unknown>[]> {
  return rows(`SELECT a.id::text, ARRAY(SELECT json_build_object(${members}) FROM sections s WHERE s.article_id = a.id
    ORDER BY s.sort, s.id) sections FROM articles a WHERE a.id < 10 AND ${condition} ORDER BY a.id`);
}

const headings = (columns: readonly string[], condition: string) => item('section_headings', columns, condition);
const paragraphs = (columns: readonly string[], condition: string) => item('section_paragraphs', columns, condition);
const images = (columns: readonly string[], condition: string) => item('section_images', columns, condition);

const few = 'filter[id][_lt]=10';

it('nests the fields that each collection is asked for', async () => {
  const path =
    `/items/articles?fields=id,sections.collection,sections.item:section_headings.text,` +
    `sections.item:section_headings.level,sections.item:section_paragraphs.style&${few}`;
  const members = (condition: string) =>
    `'collection', s.collection, 'item', coalesce(${headings(['text', 'level'], condition)}, ${paragraphs(['style'], condition)})`;
  expect((await magazine.admin(path)).json.data).toEqual(await articles(members('true'), 'true'));
  const { json } = await magazine.ask(path);
  expect(json.data).toEqual(await articles(members('i.released'), "a.status = 'published'"));
});

it('covers every collection with item.*, hidden items being null', async () => {
  const { json } = await magazine.ask(`/items/articles?fields=id,sections.item.*&${few}`);
  const members = `'item', coalesce(${headings(['id', 'text', 'level'], 'i.released')},
    ${paragraphs(['id', 'text', 'style'], 'i.released')},
    ${images(['id', 'url', 'alt', 'caption', 'width', 'height'], 'i.released')})`;
  expect(json.data).toEqual(await articles(members, "a.status = 'published'"));
});

it('takes a field that some collections have without their names', async () => {
  const { json } = await magazine.ask(`/items/articles?fields=id,sections.item.text&${few}`);
  const members = `'item', coalesce(${headings(['text'], 'i.released')}, ${paragraphs(['text'], 'i.released')})`;
  expect(json.data).toEqual(await articles(members, "a.status = 'published'"));
});

it('gives the key alone, or beside nested collections', async () => {
  const plain = await magazine.ask(`/items/articles?fields=id,sections.collection,sections.item&${few}`);
  expect(plain.json.data).toEqual(
    await articles("'collection', s.collection, 'item', s.item", "a.status = 'published'"),
  );
  const mixed = await magazine.ask(
    `/items/articles?fields=id,sections.item,sections.item:section_headings.text&${few}`,
  );
  const members = `'item', CASE WHEN s.collection = 'section_headings' THEN ${headings(['text'], 'i.released')}
    ELSE to_json(s.item) END`;
  expect(mixed.json.data).toEqual(await articles(members, "a.status = 'published'"));
});

it('reaches items through wildcards', async () => {
  const { json } = await magazine.ask('/items/articles/1?fields=*.*.*');
  const whole = await magazine.ask('/items/articles/1?fields=sections.item.*');
  const items = (data: { sections: { item: unknown }[] }) => data.sections.map((section) => section.item);
  expect(items(json.data)).toEqual(items(whole.json.data));
});

it('takes deep for link rows and for items', async () => {
  const deep = {
    sections: {
      _limit: 3,
      _sort: ['-sort'],
      _filter: { 'item:section_paragraphs': { style: { _nnull: true } } },
      'item:section_paragraphs': { _filter: { style: 'normal' } },
    },
  };
  const query = { fields: ['id', 'sections.sort', 'sections.item.text'], deep, filter: { id: { _lt: 10 } } };
  const { json } = await magazine.admin('/items/articles', { method: 'SEARCH', body: { query } });
  const expected = await rows(`
    SELECT a.id::text, ARRAY(SELECT json_build_object('sort', s.sort, 'item', ${paragraphs(['text'], "i.style = 'normal'")})
      FROM sections s WHERE s.article_id = a.id AND ${paragraphs(['style'], 'true')} IS NOT NULL
      ORDER BY s.sort DESC, s.id LIMIT 3) sections FROM articles a WHERE a.id < 10 ORDER BY a.id`);
  expect(json.data).toEqual(expected);
});

it('is one statement', async () => {
  magazine.statements.reset();
  await magazine.admin('/items/articles?fields=sections.item.*&limit=3');
  expect(magazine.statements.executed()).toBe(1);
});

it.each(['orders', 'articles', 'nothing', '__proto__', ''])('forbids items of %j', async (collection) => {
  const { status, text } = await magazine.ask(`/items/articles?fields=sections.item:${collection}.id`);
  expect(status).toBe(403);
  expect(text).toBe((await magazine.ask('/items/articles?fields=nothing')).text);
});

it.each([
  'sections.item:section_headings.released',
  'sections.item.released',
  'sections.item:section_headings.nothing',
])('forbids %s to the public', async (field) => {
  expect((await magazine.ask(`/items/articles?fields=${field}`)).status).toBe(403);
});
