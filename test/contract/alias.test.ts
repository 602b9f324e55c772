import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

function rows<T extends Record<string, unknown>>(sql: string): Promise<T[]> {
  return withClient(magazine.database.url, async (client) => (await client.query<T>(sql)).rows);
}

it('returns fields and relations under other names', async () => {
  const { json } = await magazine.ask(
    '/items/articles?fields=id,headline,writer.name&alias[headline]=title&alias[writer]=author_id&limit=3',
  );
  const expected = await rows(`
    SELECT a.id::text, a.title headline, (SELECT json_build_object('name', name) FROM authors x WHERE x.id = a.author_id) writer
    FROM articles a WHERE status = 'published' ORDER BY a.id LIMIT 3`);
  expect(json.data).toEqual(expected);
});

it('reads one relation twice', async () => {
  const alias = { first: 'comments', last: 'comments' };
  const deep = { first: { _limit: 1 }, last: { _limit: 2, _sort: '-id' } };
  const query = { fields: ['id', 'first.id', 'last', 'comments.id'], alias, deep, limit: 4 };
  const { json } = await magazine.admin('/items/articles', { method: 'SEARCH', body: { query } });
  const list = (order: string, limit: string, value: string) =>
    `coalesce((SELECT json_agg(${value} ORDER BY c.id ${order}) FROM
      (SELECT id FROM comments WHERE article_id = a.id ORDER BY id ${order} ${limit}) c), '[]')`;
  const item = "json_build_object('id', c.id::text)";
  const expected = await rows(`
    SELECT a.id::text, ${list('', 'LIMIT 1', item)} AS first, ${list('DESC', 'LIMIT 2', 'c.id::text')} AS last,
      ${list('', '', item)} AS comments FROM articles a ORDER BY a.id LIMIT 4`);
  expect(json.data).toEqual(expected);
  const bracket = await magazine.admin(
    '/items/articles?fields=id,first.id,last,comments.id&alias[first]=comments&alias[last]=comments' +
      '&deep[first][_limit]=1&deep[last][_limit]=2&deep[last][_sort]=-id&limit=4',
  );
  expect(bracket.json).toEqual(json);
});

it('is part of what * stands for, and of nothing else', async () => {
  const all = await magazine.ask('/items/articles/1?alias={"headline":"title"}');
  expect(all.json.data.headline).toBe(all.json.data.title);
  const one = await magazine.ask('/items/articles/1?fields=id&alias[headline]=title');
  expect(one.json.data).toEqual({ id: '1' });
});

it('takes any text as a name, which never reaches the database', async () => {
  const name = `"; DROP TABLE articles; -- ' $1 \u{1f600}`;
  const query = `fields[]=${encodeURIComponent(name)}&alias=${encodeURIComponent(JSON.stringify({ [name]: 'id' }))}`;
  expect((await magazine.ask(`/items/articles/1?${query}`)).json.data).toEqual({ [name]: '1' });
});

it.each([
  ['alias[a]=nothing', 403],
  ['alias[a]=created_by', 403],
  ['alias[created_by]=title', 200],
  ['alias[slug]=title', 400],
  ['alias[slug]=nothing', 403],
  ['alias[a.b]=title', 400],
  ['alias[a]=author_id.name', 400],
  ['alias[*]=title', 400],
  ['alias[a]=*', 400],
  ['alias[]=title', 400],
  ['alias=title', 400],
  ['alias[a]=title&alias[a]=slug', 400],
  ['alias[__proto__]=title', 400],
  ['alias[a]=title&sort=a', 403],
  ['alias[a]=title&fields=a.b', 403],
])('%s is %i', async (query, status) => {
  expect((await magazine.ask(`/items/articles?${query}`)).status).toBe(status);
});

it('answers a hidden and an unknown name with the same bytes', async () => {
  const answers = ['created_by', 'nothing'].map((name) => magazine.ask(`/items/articles?alias[a]=${name}`));
  const [hidden, unknown] = await Promise.all(answers);
  expect(hidden?.text).toBe(unknown?.text);
});
