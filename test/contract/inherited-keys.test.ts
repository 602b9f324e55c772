/** Tables that others inherit from: their keys do not hold of the rows of their children, which appear in them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

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
