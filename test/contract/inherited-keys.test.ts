/** Tables that others inherit from: their keys do not hold of the rows of their children, which appear in them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    // The child was there before its parent, so that nothing but the table tells which row is the own one.
    sql: `CREATE TABLE users (id integer PRIMARY KEY, name text);
      CREATE TABLE memos (id integer, owner integer, title text, page integer);
      CREATE TABLE docs (id integer PRIMARY KEY, owner integer UNIQUE REFERENCES users, title text);
      ALTER TABLE memos ALTER id SET NOT NULL, INHERIT docs;
      CREATE TABLE notes (id integer PRIMARY KEY, doc integer NOT NULL REFERENCES docs, at integer, FOREIGN KEY (at) REFERENCES docs);
      INSERT INTO users VALUES (1, 'Ann');
      INSERT INTO docs VALUES (1, 1, 'own'), (2, NULL, 'other'); INSERT INTO memos VALUES (1, 1, 'memo', 7), (3, 1, 'alone', 8);
      INSERT INTO notes VALUES (1, 1, NULL), (2, 2, 1);`,
    permissions: `permissions:
  public: { users: { read: true }, docs: { read: true }, notes: { read: true } }`,
  });
});
afterAll(() => project?.close());

const read = async (path: string) => (await project.ask(`/items/${path}`)).json.data;

it('relations to them have as many items as there are', async () => {
  expect(await read('users/1?fields=docs.title&deep[docs][_sort]=title')).toEqual({
    docs: [{ title: 'alone' }, { title: 'memo' }, { title: 'own' }],
  });
  const { json } = await project.ask('/server/specs/oas');
  expect(json.components.schemas.ItemsUsers.properties.docs).not.toHaveProperty('maxItems');
});

it('relations to one item read the row that the key is of', async () => {
  expect(await read('notes?fields=id,doc.title,at.title&sort=id')).toEqual([
    { id: 1, doc: { title: 'own' }, at: null },
    { id: 2, doc: { title: 'other' }, at: { title: 'own' } },
  ]);
  expect(await read('notes?fields=id&sort=-doc.title')).toEqual([{ id: 1 }, { id: 2 }]);
});

it('GraphQL reads it, too', async () => {
  const query = '{ notes(sort: ["doc.title"]) { id doc { title } } }';
  const { json } = await project.ask('/graphql', { method: 'POST', body: { query } });
  expect(json.data.notes).toEqual([
    { id: 2, doc: { title: 'other' } },
    { id: 1, doc: { title: 'own' } },
  ]);
});

it('writes that return related items read it', async () => {
  const body = { id: 3, doc: { id: 4, title: 'new' } };
  const made = await project.admin('/items/notes?fields=id,doc.title', { method: 'POST', body });
  expect(made.json).toEqual({ data: { id: 3, doc: { title: 'new' } } });
  const changed = await project.admin('/items/notes/3?fields=doc.title', { method: 'PATCH', body: { doc: 1 } });
  expect(changed.json).toEqual({ data: { doc: { title: 'own' } } });
});

describe('where a key stands twice', () => {
  const rows = () => project.rows('SELECT tableoid::regclass::text, id, title FROM docs ORDER BY 2, 1');
  let before: unknown;
  beforeAll(async () => {
    await project.rows(`INSERT INTO docs VALUES (5, NULL, 'parent'); INSERT INTO memos VALUES (5, NULL, 'child')`);
    before = await rows();
  });

  it('reads give the row of the table itself, alone and together', async () => {
    const parent = { data: { id: 5, title: 'parent' } };
    const paths = Array.from({ length: 8 }, () => '/items/docs/5?fields=id,title');
    expect((await Promise.all(paths.map((path) => project.ask(path)))).map(({ json }) => json)).toEqual(
      paths.map(() => parent),
    );
    const query = '{ docs_by_id(id: 5) { title } }';
    const { json } = await project.ask('/graphql', { method: 'POST', body: { query } });
    expect(json).toEqual({ data: { docs_by_id: { title: 'parent' } } });
  });

  it('reads of several keys give it, too', async () => {
    const search = (body: object) => project.ask('/items/docs', { method: 'SEARCH', body });
    const { json } = await search({
      keys: [1, 3, 5],
      query: { fields: ['id', 'title'], sort: ['id'], meta: ['filter_count'] },
    });
    expect(json).toEqual({
      data: [
        { id: 1, title: 'own' },
        { id: 3, title: 'alone' },
        { id: 5, title: 'parent' },
      ],
      meta: { filter_count: 3 },
    });
    expect(failure(await search({ keys: [5, 404] }))).toBe('403 FORBIDDEN');
    const counted = await search({ keys: [1, 5], query: { aggregate: { count: '*' } } });
    expect(counted.json).toEqual({ data: [{ count: 2 }] });
  });

  it.each<[string, string, object | undefined]>([
    ['PATCH', '/5', { title: 'changed' }],
    ['PATCH', '/5?fields=title', { title: 'changed' }],
    ['PATCH', '', { keys: [5, 404], data: { title: 'changed' } }],
    ['PATCH', '?fields=title', { keys: [5, 404], data: { title: 'changed' } }],
    [
      'PATCH',
      '?fields=title',
      [
        { id: 5, title: 'changed' },
        { id: 404, title: 'changed' },
      ],
    ],
    ['PATCH', '', { query: { filter: { title: 'child' } }, data: { title: 'changed' } }],
    ['DELETE', '/5', undefined],
    ['DELETE', '', [5, 404]],
    ['DELETE', '', { query: { filter: { title: 'child' } } }],
  ])('%s %s %j changes nothing', async (method, path, body) => {
    const answer = await project.admin(`/items/docs${path}`, { method, ...(body && { body }) });
    expect([failure(answer), await rows()]).toEqual(['403 FORBIDDEN', before]);
  });

  it('rows of other tables are changed by keys of their own', async () => {
    const change = { method: 'PATCH', body: { title: 'changed' } };
    expect((await project.admin('/items/docs/3?fields=title', change)).json).toEqual({ data: { title: 'changed' } });
    const several = { method: 'PATCH', body: { keys: [2, 3], data: { title: 'both' } } };
    const { json } = await project.admin('/items/docs?fields=title', several);
    expect(json.data).toEqual([{ title: 'both' }, { title: 'both' }]);
    expect((await project.admin('/items/docs', { method: 'DELETE', body: [3] })).status).toBe(204);
  });
});
