/**
 * Relations to one item whose key is never null, and whose item is absent all the same: conditions, archiving, policies and
 * keys that are not validated leave none. Every answer is held against the OpenAPI document of its caller.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readClassDocument } from '../support/class-documents.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `CREATE TABLE authors (id integer PRIMARY KEY, name text NOT NULL);
      CREATE TABLE places (town text, street text, PRIMARY KEY (town, street));
      CREATE TABLE articles (id integer PRIMARY KEY, title text, deleted_at timestamptz);
      CREATE TABLE secrets (id integer PRIMARY KEY, word text);
      ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
      CREATE TABLE comments (id integer PRIMARY KEY, author integer NOT NULL REFERENCES authors,
        article integer NOT NULL REFERENCES articles, secret integer NOT NULL REFERENCES secrets,
        town text NOT NULL, street text NOT NULL, reviewer integer NOT NULL, FOREIGN KEY (town, street) REFERENCES places);
      INSERT INTO authors VALUES (1, 'Ann'); INSERT INTO places VALUES ('Ulm', 'Neue');
      INSERT INTO articles VALUES (1, 'One'); INSERT INTO secrets VALUES (1, 'hush');
      INSERT INTO comments VALUES (11, 1, 1, 1, 'Ulm', 'Neue', 404);
      ALTER TABLE comments ADD FOREIGN KEY (reviewer) REFERENCES authors (id) NOT VALID;`,
    config: `{ collections: { articles: { softDelete: { field: 'deleted_at' } } } }`,
    permissions: `permissions:
  public:
    authors: { read: true }
    articles: { read: true, delete: true }
    comments: { read: true }
    places: { read: true }
    secrets: { read: true }`,
  });
});
afterAll(() => project?.close());

describe.each(['admin', 'ask'] as const)('of a caller (%s)', (as) => {
  const read = async (query: string): Promise<unknown> => (await project[as](`/items/comments/11?${query}`)).json.data;

  it('are null where a condition of the request does not match', async () => {
    const author = 'fields=author.name&deep[author][_filter][id][_gt]=99';
    expect(await read(author)).toEqual({ author: null });
    const place = 'fields=places.street&deep[places][_filter][town][_eq]=Bonn';
    expect(await read(place)).toEqual({ places: null });
  });

  it('are null where the item is archived, or the key leads nowhere', async () => {
    await project.rows('UPDATE articles SET deleted_at = now()');
    expect(await read('fields=article.title,reviewer.name')).toEqual({ article: null, reviewer: null });
    expect(await read('fields=article,reviewer')).toEqual({ article: 1, reviewer: 404 });
    const query = '{ comments { article { title } reviewer { name } author { name } } }';
    const { json } = await project[as]('/graphql', { method: 'POST', body: { query } });
    expect(json).toEqual({ data: { comments: [{ article: null, reviewer: null, author: { name: 'Ann' } }] } });
  });
});

describe.each(['admin', 'public'])('in what is generated for %s', (name) => {
  it('they can be null in GraphQL, and items of other keys never', async () => {
    const sdl = await readClassDocument(project.folder, 'graphql', name);
    const [, type = ''] = /^type comments \{\n([^}]*)\}/m.exec(sdl) ?? [];
    expect(type).toMatch(/^ *article: articles$/m);
    expect(type).toMatch(/^ *secret: secrets$/m);
    expect(type).toMatch(/^ *reviewer: authors$/m);
    expect(type).toMatch(/^ *author: authors!$/m);
    expect(type).toMatch(/^ *places: places!$/m);
  });

  it('they can be null in clients, and their keys never', async () => {
    const path = join(project.folder, 'generated', 'client', name, 'collections', 'comments.d.ts');
    const text = await readFile(path, 'utf8');
    const relation = (field: string) => new RegExp(`${field}: (One<[^>]*>)`).exec(text)?.[1];
    expect(['article', 'secret', 'reviewer', 'author', 'places'].map(relation)).toEqual([
      "One<'articles', true>",
      "One<'secrets', true>",
      "One<'authors', true>",
      "One<'authors', false>",
      "One<'places', false>",
    ]);
    for (const field of ['article', 'secret', 'reviewer']) expect(text).toMatch(new RegExp(`${field}: number;`));
  });
});
