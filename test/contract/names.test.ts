/** Names of collections, fields and relations, and keys of every form. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE SCHEMA shop;
      CREATE TABLE authors (id integer PRIMARY KEY, name text, hidden text, email text);
      CREATE TABLE books (id integer PRIMARY KEY, title text, author_id integer REFERENCES authors, editor_id integer REFERENCES authors);
      CREATE TABLE profile (id integer PRIMARY KEY, author_id integer UNIQUE REFERENCES authors, bio text);
      CREATE TABLE categories (id integer PRIMARY KEY, parent_id integer REFERENCES categories, rank integer);
      CREATE TABLE tags (id integer PRIMARY KEY, name text);
      CREATE TABLE books_tags (book_id integer REFERENCES books, tag_id integer REFERENCES tags, note text, PRIMARY KEY (book_id, tag_id));
      CREATE TABLE shop.lines (order_id integer, no integer, part text, PRIMARY KEY (order_id, no));
      CREATE TABLE shop.notes (id integer PRIMARY KEY, order_id integer, no integer, FOREIGN KEY (order_id, no) REFERENCES shop.lines);
      CREATE TABLE blocks (id integer PRIMARY KEY, book_id integer REFERENCES books, kind text, item text, pos integer);
      CREATE TABLE headings (id integer PRIMARY KEY, text text);
      CREATE TABLE languages (code text PRIMARY KEY);
      CREATE TABLE book_texts (id integer PRIMARY KEY, book_id integer REFERENCES books, lang text REFERENCES languages, title text);
      CREATE TABLE no_key (a integer, author_id integer REFERENCES authors);
      CREATE VIEW totals AS SELECT a.id, count(*)::integer AS books FROM authors a JOIN books b ON b.author_id = a.id GROUP BY a.id;
      CREATE VIEW more_totals AS SELECT * FROM totals;
      CREATE TABLE texts (a text, b text, PRIMARY KEY (a, b));
      CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
      CREATE TABLE paths (steps positive[] PRIMARY KEY);
      CREATE TABLE cells (sheet integer, place text[], PRIMARY KEY (sheet, place));
      CREATE TABLE "We ird" (id integer PRIMARY KEY, "select" integer, "MiXed" text, "constructor" text, "__proto__" text, "count(x)" integer);
      CREATE TABLE tallies (id integer PRIMARY KEY, count integer);
      INSERT INTO tallies VALUES (1, 7), (2, 7), (3, 8);
      INSERT INTO authors VALUES (1, 'Ann', 'h', 'e'), (2, 'Bob', 'h', 'e');
      INSERT INTO books VALUES (1, 'a', 1, 2), (2, 'b', 1, NULL);
      INSERT INTO profile VALUES (1, 1, 'bio');
      INSERT INTO categories VALUES (1, NULL, 2), (2, 1, NULL), (3, 1, 1);
      INSERT INTO tags VALUES (1, 'red'), (2, 'blue');
      INSERT INTO books_tags VALUES (1, 2, 'n');
      INSERT INTO shop.lines VALUES (1, 1, 'p'), (1, 2, 'q');
      INSERT INTO shop.notes VALUES (1, 1, 2), (2, NULL, NULL);
      INSERT INTO headings VALUES (1, 'H');
      INSERT INTO blocks VALUES (1, 1, 'headings', '1', 2), (2, 1, 'headings', 'stray', 1);
      INSERT INTO languages VALUES ('de'), ('en');
      INSERT INTO book_texts VALUES (1, 1, 'de', 'A'), (2, 1, 'en', 'B');
      INSERT INTO no_key VALUES (1, 1);
      INSERT INTO texts VALUES ('x,y', 'z'), ('p/q', '100%'), ('', '..');
      INSERT INTO paths VALUES ('{}'), ('{1,2}'), ('{2}');
      INSERT INTO cells VALUES (1, '{"a,b",c}'), (1, '{c}'), (2, '{c}');
      INSERT INTO "We ird" VALUES (1, 2, 'm', 'c', 'p', 4);`,
    config: `{
      collections: {
        authors: { fields: { hidden: { hidden: true }, email: { name: 'mail' } } },
        categories: { sort: 'rank' },
        tags: { name: 'labels' },
        totals: { key: ['id'] },
      },
      relations: { 'books.blocks': { name: 'raw_blocks' } },
      manyToAny: [{ collection: 'books', field: 'parts', link: 'blocks', linkField: 'book_id', collectionField: 'kind',
        itemField: 'item', allowed: ['headings'], sort: 'pos' }],
      translations: [{ collection: 'books', field: 'translations', child: 'book_texts', languages: 'languages' }],
    }`,
  });
});
afterAll(() => project?.close());

describe('relations', () => {
  it.each([
    [
      'authors/1?fields=books_by_author_id,books_by_editor_id,profile',
      { books_by_author_id: [1, 2], books_by_editor_id: [], profile: [1] },
    ],
    ['authors/1?fields=profile.bio', { profile: [{ bio: 'bio' }] }],
    [
      'books/1?fields=author_id,editor_id.name,labels,books_tags',
      { author_id: 1, editor_id: { name: 'Bob' }, labels: [2], books_tags: ['1,2'] },
    ],
    ['books/1?fields=labels.name,books_tags.note', { labels: [{ name: 'blue' }], books_tags: [{ note: 'n' }] }],
    ['books/1?fields=parts,raw_blocks', { parts: [2, 1], raw_blocks: [1, 2] }],
    [
      'books/1?fields=parts.kind,parts.item',
      {
        parts: [
          { kind: 'headings', item: 'stray' },
          { kind: 'headings', item: '1' },
        ],
      },
    ],
    ['books/1?fields=translations.title', { translations: [{ title: 'A' }, { title: 'B' }] }],
    ['categories/1?fields=categories.id', { categories: [{ id: 3 }, { id: 2 }] }],
    ['categories/3?fields=parent_id.parent_id', { parent_id: { parent_id: null } }],
    ['shop_notes/1?fields=shop_lines', { shop_lines: { order_id: 1, no: 2 } }],
    ['shop_notes/1?fields=shop_lines.part', { shop_lines: { part: 'q' } }],
    ['shop_notes/2?fields=shop_lines', { shop_lines: null }],
    ['shop_lines/1,2?fields=shop_notes', { shop_notes: [1] }],
  ])('%s', async (path, expected) => {
    expect((await project.admin(`/items/${path}`)).json).toEqual({ data: expected });
  });

  it('of every kind can be filtered through', async () => {
    const ids = async (path: string): Promise<unknown> => (await project.admin(`/items/${path}`)).json.data;
    expect(await ids('books?fields=id&filter[parts][item:headings][text]=H')).toEqual([{ id: 1 }]);
    expect(await ids('books?fields=id&filter[translations][lang]=en')).toEqual([{ id: 1 }]);
    expect(await ids('shop_notes?fields=id&filter[shop_lines][part]=q')).toEqual([{ id: 1 }]);
    expect(await ids('categories?fields=id')).toEqual([{ id: 3 }, { id: 1 }, { id: 2 }]);
  });
});

describe('names', () => {
  it('of hidden and renamed things are unknown', async () => {
    for (const path of [
      'tags',
      'lines',
      'shop.lines',
      'authors?fields=hidden',
      'authors?fields=email',
      'authors?sort=email',
      'authors?filter[hidden]=h',
      '__proto__',
      'constructor',
      'books?fields=blocks',
      'books?fields=toString',
    ]) {
      expect(failure(await project.admin(`/items/${path}`))).toBe('403 FORBIDDEN');
    }
    expect((await project.admin('/items/authors/1?fields=*')).json.data).toEqual(
      expect.objectContaining({ mail: 'e' }),
    );
  });

  it('of any spelling are read, sorted and filtered', async () => {
    const { text } = await project.admin('/items/We%20ird');
    expect(text).toBe('{"data":[{"id":1,"select":2,"MiXed":"m","constructor":"c","count(x)":4}]}');
    const query = 'fields=select,MiXed&sort=-constructor,count(x)&filter[constructor]=c&filter[count(x)]=4';
    expect((await project.admin(`/items/We%20ird?${query}`)).text).toBe('{"data":[{"select":2,"MiXed":"m"}]}');
    expect(failure(await project.admin('/items/We%20ird?fields=mixed'))).toBe('403 FORBIDDEN');
    expect(failure(await project.admin('/items/We%20ird?fields=__proto__'))).toBe('403 FORBIDDEN');
    expect(failure(await project.admin('/items/We%20ird?filter[__proto__]=p'))).toBe('400 INVALID_QUERY');
  });
});

describe('keys', () => {
  it.each([
    ['texts/x%2Cy,z', 200],
    ['texts/p%2Fq,100%25', 200],
    ['texts/,..', 200],
    ['texts/x,y,z', 403],
    ['texts/x%2Cy%2Cz', 403],
    ['totals/1', 200],
    ['more_totals', 200],
    ['more_totals/1', 403],
    ['no_key', 200],
    ['no_key/1', 403],
    ['books/1.0', 403],
    ['books/99999999999', 403],
    ['books/%00', 403],
    ['books/%FF', 404],
    ['books/1/', 404],
  ])('%s is %i', async (path, status) => {
    expect((await project.admin(`/items/${path}`)).status).toBe(status);
  });

  it('can be arrays', async () => {
    const keys = (collection: string, list: readonly unknown[]) =>
      project.admin(`/items/${collection}`, { method: 'SEARCH', body: { keys: list } });
    expect((await keys('paths', [[2], [1, 2]])).json).toEqual({ data: [{ steps: [1, 2] }, { steps: [2] }] });
    expect((await keys('paths', [[]])).json).toEqual({ data: [{ steps: [] }] });
    expect(failure(await keys('paths', [[2, 1]]))).toBe('403 FORBIDDEN');
    const cells = [
      { sheet: 1, place: ['a,b', 'c'] },
      { sheet: 2, place: ['c'] },
    ];
    expect((await keys('cells', cells)).json).toEqual({ data: cells });
    expect(failure(await keys('cells', [{ sheet: 2, place: ['a,b', 'c'] }]))).toBe('403 FORBIDDEN');
  });

  it('in bodies are values, objects, or text in path form', async () => {
    for (const key of ['x%2Cy,z', { a: 'x,y', b: 'z' }]) {
      const answer = await project.admin('/items/texts', { method: 'SEARCH', body: { keys: [key, key] } });
      expect(answer.json).toEqual({ data: [{ a: 'x,y', b: 'z' }] });
    }
    for (const keys of [[1, null], [1, 99], ['x'], [{ id: 1, title: 'a' }], [[1]]]) {
      expect(failure(await project.admin('/items/books', { method: 'SEARCH', body: { keys } }))).toBe('403 FORBIDDEN');
    }
    expect((await project.admin('/items/books', { method: 'SEARCH', body: { keys: [] } })).json).toEqual({ data: [] });
    for (const collection of ['no_key', 'more_totals']) {
      const answer = await project.admin(`/items/${collection}`, { method: 'SEARCH', body: { keys: [1] } });
      expect(failure(answer)).toBe('403 FORBIDDEN');
    }
  });
});

it('a group of a field that is called as a function stands apart from its values in GraphQL alone', async () => {
  const query = '{ tallies_aggregated(groupBy: ["count"]) { group count { id } } }';
  const { json } = await project.admin('/graphql', { method: 'POST', body: { query } });
  expect(json).toEqual({
    data: {
      tallies_aggregated: [
        { group: { count: 7 }, count: { id: 2 } },
        { group: { count: 8 }, count: { id: 1 } },
      ],
    },
  });
  expect(failure(await project.admin('/items/tallies?groupBy=count&aggregate[count]=id'))).toBe('400 INVALID_QUERY');
});
