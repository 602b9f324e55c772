/** A singleton is one object, whose defaults are there before anyone has written it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOnMariadb } from '../support/contract-database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

/** What other servers have no types for, left out there. */
const onlyPostgres = (text: string): string => (isOnMariadb() ? '' : text);

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    portable: true,
    sql: `
      CREATE TYPE mood AS ENUM ('happy', 'so so');
      CREATE TABLE authors (id integer PRIMARY KEY, name text);
      CREATE TABLE settings (
        id integer PRIMARY KEY DEFAULT 1, title varchar(100) DEFAULT 'It''s \\ here', price numeric(10,2) DEFAULT 0, neg integer DEFAULT -5,
        mood mood DEFAULT 'happy', ${onlyPostgres(`tags text[] DEFAULT '{a,b}', address inet DEFAULT '10.0.0.1',`)} words text DEFAULT 'a,b', secret text DEFAULT 'x',
        seen timestamptz DEFAULT now(), author_id integer DEFAULT 1 REFERENCES authors);
      CREATE TABLE written (id integer PRIMARY KEY, title text DEFAULT 'default');
      CREATE TABLE private (id integer PRIMARY KEY);
      INSERT INTO authors VALUES (1, 'Ann');
      INSERT INTO written VALUES (1, 'one'), (2, 'two');`,
    config: `{ collections: {
      settings: { singleton: true, fields: { words: { type: 'csv' }, secret: { type: 'secret' } } },
      written: { singleton: true }, private: { singleton: true } } }`,
    permissions: `
permissions:
  public:
    written: { read: { fields: [title], filter: { id: { _eq: 2 } } } }`,
  });
});
afterAll(() => project?.close());

const defaults = {
  id: null,
  title: "It's \\ here",
  price: '0.00',
  neg: -5,
  mood: 'happy',
  words: ['a', 'b'],
  secret: '**********',
  seen: null,
  author_id: 1,
  ...(!isOnMariadb() && { tags: ['a', 'b'], address: '10.0.0.1' }),
};

describe('before the first write', () => {
  it('reads as the constant defaults, the key null', async () => {
    expect((await project.admin('/items/settings')).json).toEqual({ data: defaults });
  });

  it('exports them', async () => {
    const path = '/items/settings?fields=id,title,price,author_id.name,words&export=';
    expect((await project.admin(`${path}csv`)).text).toBe(
      'id,title,price,author_id.name,words\r\n,It\'s \\ here,0.00,Ann,"[""a"",""b""]"\r\n',
    );
    const item = { id: null, title: defaults.title, price: '0.00', author_id: { name: 'Ann' }, words: ['a', 'b'] };
    expect((await project.admin(`${path}json`)).json).toEqual([item]);
    expect(JSON.parse((await project.admin(`${path}ndjson`)).text)).toEqual(item);
    const filtered = await project.admin('/items/settings?filter[id]=1&fields=neg&export=json');
    expect(filtered.json).toEqual([(await project.admin('/items/settings?filter[id]=1&fields=neg')).json.data]);
  });

  it('nests what a default leads to, and counts nothing', async () => {
    const { json } = await project.admin('/items/settings?fields=price,author_id.name&meta=*');
    expect(json).toEqual({
      data: { price: '0.00', author_id: { name: 'Ann' } },
      meta: { total_count: 0, filter_count: 0 },
    });
  });
});

describe('a singleton', () => {
  it('is one readable row, wherever a list would be cut', async () => {
    expect((await project.ask('/items/written')).json).toEqual({ data: { title: 'two' } });
    expect((await project.ask('/items/written?export=csv&limit=0')).text).toBe('title\r\ntwo\r\n');
    for (const query of ['', '?limit=0', '?limit=-1', '?offset=1', '?page=3&limit=1']) {
      expect((await project.admin(`/items/written${query}`)).json).toEqual({ data: { id: 1, title: 'one' } });
    }
  });

  it('answers SEARCH as GET, with an entity tag', async () => {
    const get = await project.admin('/items/settings?fields=title');
    const search = await project.admin('/items/settings', { method: 'SEARCH', body: { query: { fields: ['title'] } } });
    expect([search.status, search.text]).toEqual([200, get.text]);
    const headers = { 'if-none-match': get.headers.get('etag') ?? '' };
    expect((await project.admin('/items/settings?fields=title', { headers })).status).toBe(304);
  });

  it('has no keys, and a hidden one does not say so', async () => {
    const keys = { method: 'SEARCH', body: { keys: [1] } };
    expect(failure(await project.admin('/items/written/1'))).toBe('404 ROUTE_NOT_FOUND');
    expect(failure(await project.admin('/items/written', keys))).toBe('404 ROUTE_NOT_FOUND');
    for (const ask of [{}, { method: 'SEARCH', body: {} }, keys]) {
      const hidden = await project.ask('/items/private', ask);
      expect(hidden.text).toBe((await project.ask('/items/nothing', ask)).text);
      expect(failure(hidden)).toBe('403 FORBIDDEN');
    }
    expect(failure(await project.ask('/items/private/1'))).toBe('403 FORBIDDEN');
  });
});
