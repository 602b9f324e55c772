/** Writes while another transaction changes what they are about: each leaves what it would have left behind the other one. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isOnMariadb } from '../support/contract-database.ts';
import { type Holding, whileHeld } from '../support/holding.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

/** Makes what a new row refers to. */
const trigger = `
  CREATE FUNCTION make_kind() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO kinds (id) VALUES (NEW.kind); RETURN NEW; END $$;
  CREATE TRIGGER make_kind BEFORE INSERT ON bells FOR EACH ROW EXECUTE FUNCTION make_kind();`;
const triggerOnMysql =
  'CREATE TRIGGER make_kind BEFORE INSERT ON bells FOR EACH ROW INSERT INTO kinds (id) VALUES (NEW.kind);';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    portable: true,
    disturbed: true,
    config: "{ collections: { steps: { sort: 'place' } } }",
    sql: `
      CREATE TABLE steps (id integer PRIMARY KEY, place integer);
      CREATE TABLE jobs (id integer PRIMARY KEY, state varchar(20) NOT NULL, worker varchar(20));
      CREATE TABLE bikes (id integer PRIMARY KEY, name varchar(20));
      CREATE TABLE parts (id integer PRIMARY KEY, bike_id integer REFERENCES bikes, label varchar(20));
      CREATE TABLE tags (id integer PRIMARY KEY, name varchar(20));
      CREATE TABLE bikes_tags (
        bike_id integer REFERENCES bikes, tag_id integer REFERENCES tags, PRIMARY KEY (bike_id, tag_id));
      CREATE TABLE shelves (id integer PRIMARY KEY);
      CREATE TABLE books (id integer PRIMARY KEY, shelf integer NOT NULL REFERENCES shelves);
      CREATE TABLE notes (
        id integer PRIMARY KEY, shelf integer REFERENCES shelves, book integer REFERENCES books);
      CREATE TABLE kinds (id integer PRIMARY KEY);
      CREATE TABLE bells (
        id integer PRIMARY KEY, bike_id integer REFERENCES bikes, kind integer NOT NULL REFERENCES kinds);
      INSERT INTO shelves VALUES (1), (2);
      ${isOnMariadb() ? triggerOnMysql : trigger}`,
    permissions: `
permissions:
  public:
    bikes: { read: true, update: { fields: '*', filter: {}, validation: { tags: { _some: { id: { _gt: 0 } } } } } }
    bikes_tags: { read: true, create: true, delete: true }
    bells: { read: true, create: true }
    tags: { read: true }
    kinds: { read: true }
`,
  });
});
beforeEach(async () => {
  await project.rows('TRUNCATE steps, jobs, parts, bells, kinds, bikes_tags, bikes, tags');
  await project.rows(`INSERT INTO jobs VALUES (1, 'new', NULL), (2, 'new', NULL), (3, 'old', NULL)`);
  await project.rows('INSERT INTO steps VALUES (1, 10), (2, 20), (3, 30), (4, 40)');
  await project.rows(`INSERT INTO bikes VALUES (1, 'one'), (2, 'two')`);
  await project.rows(`INSERT INTO parts VALUES (1, 1, 'bell'), (2, 1, 'lamp')`);
  await project.rows(`INSERT INTO tags VALUES (1, 'red'), (2, 'fast')`);
  await project.rows('INSERT INTO bikes_tags VALUES (1, 1)');
});
afterAll(() => project?.close());

const held = (holding: Holding, method: string, path: string, body: unknown) =>
  whileHeld(project.database.url, holding, () => project.admin(`/items/${path}`, { method, body }));

describe('items of a query', () => {
  const taken = { before: `UPDATE jobs SET state = 'taken', worker = 'other' WHERE id = 1` };
  const first = { filter: { state: { _eq: 'new' } }, sort: ['id'], limit: 1 };

  it('are those that it selects when nobody else holds them: two workers take two jobs', async () => {
    const data = { state: 'taken', worker: 'mine' };
    const answer = await held(taken, 'PATCH', 'jobs?fields=id,worker', { query: first, data });
    expect(answer.json.data).toEqual([{ id: 2, worker: 'mine' }]);
    expect(await project.cells('SELECT id, worker FROM jobs ORDER BY id')).toEqual([
      [1, 'other'],
      [2, 'mine'],
      [3, null],
    ]);
  });

  it('are not deleted when they are none of them any more', async () => {
    const query = { filter: { state: { _eq: 'new' } } };
    expect((await held(taken, 'DELETE', 'jobs', { query })).status).toBe(204);
    expect(await project.cells('SELECT id FROM jobs ORDER BY id')).toEqual([[1], [3]]);
  });

  it('may all be gone', async () => {
    const query = { filter: { state: { _eq: 'old' } } };
    const gone = { before: 'DELETE FROM jobs WHERE id = 3' };
    const answer = await held(gone, 'PATCH', 'jobs?fields=id', { query, data: { state: 'new' } });
    expect([answer.status, answer.json.data]).toEqual([200, []]);
  });
});

describe('related items', () => {
  it('are not taken from the item that they have come to meanwhile', async () => {
    const moved = { before: 'UPDATE parts SET bike_id = 2 WHERE id = 1' };
    const answer = await held(moved, 'PATCH', 'bikes/1', { parts: { delete: [1] } });
    expect(answer.status).toBe(403);
    expect(await project.cells('SELECT id, bike_id FROM parts ORDER BY id')).toEqual([
      [1, 2],
      [2, 1],
    ]);
  });

  it('that stand in a list are those of the item when nobody else holds them', async () => {
    const moved = { before: 'UPDATE parts SET bike_id = 2 WHERE id = 1' };
    const answer = await held(moved, 'PATCH', 'bikes/1', { parts: [{ id: 3, label: 'rack' }] });
    expect(answer.status).toBe(200);
    expect(await project.cells('SELECT id, bike_id FROM parts ORDER BY id')).toEqual([
      [1, 2],
      [2, null],
      [3, 1],
    ]);
  });

  it.each([
    ['alone', { tags: [1, 2] }],
    ['beside a new one', { tags: [1, 2, { id: 3, name: 'new' }] }],
  ])('that the other side links at the same time are linked once: %s', async (_, body) => {
    const linked = { before: 'INSERT INTO bikes_tags VALUES (1, 2)' };
    const answer = await held(linked, 'PATCH', 'bikes/1?fields=tags', body);
    const tags = body.tags.map((tag) => (typeof tag === 'number' ? tag : tag.id));
    expect([answer.status, answer.json.data]).toEqual([200, { tags }]);
  });

  it.each([
    ['POST', 'bikes', { id: 3, parts: [{ id: 9, label: 'mine' }] }, 3],
    ['PATCH', 'bikes/1', { parts: { upsert: [{ id: 9, label: 'mine' }] } }, 1],
    [
      'PATCH',
      'bikes',
      { query: { filter: { id: { _eq: 1 } } }, data: { parts: { upsert: [{ id: 9, label: 'mine' }] } } },
      1,
    ],
    ['POST', 'bikes?on_conflict=id', { id: 1, parts: { upsert: [{ id: 9, label: 'mine' }] } }, 1],
  ])('that come to be meanwhile are changed: %s %s', async (method, path, body, bike) => {
    const made = { before: `INSERT INTO parts VALUES (9, NULL, 'other')` };
    expect((await held(made, method, path, body)).status).toBe(200);
    expect(await project.cells('SELECT bike_id, label FROM parts WHERE id = 9')).toEqual([[bike, 'mine']]);
  });

  it('may have left a list that does without none, by an earlier step', async () => {
    await project.rows('INSERT INTO books VALUES (1, 1)');
    const made = { before: 'INSERT INTO notes VALUES (9, NULL, NULL)' };
    const body = { notes: { upsert: [{ id: 9, book: { id: 1, shelf: 2 } }] }, books: [] };
    expect((await held(made, 'PATCH', 'shelves/1?fields=id,books', body)).json.data).toEqual({ id: 1, books: [] });
    expect(await project.cells('SELECT shelf FROM books')).toEqual([[2]]);
  });

  it('are told to be taken where they were to be made', async () => {
    const made = { before: `INSERT INTO parts VALUES (9, NULL, 'other')` };
    const answer = await held(made, 'PATCH', 'bikes/1', { parts: { create: [{ id: 9, label: 'mine' }] } });
    expect([answer.status, answer.json.errors[0].extensions.type]).toEqual([400, 'unique']);
  });
});

it.each([
  ['goes', 'DELETE FROM steps WHERE id = 2', [4, 1, 3]],
  ['moves', 'UPDATE steps SET place = 90 WHERE id = 2', [4, 1, 3, 2]],
  ['is the one to move', 'UPDATE steps SET place = 5 WHERE id = 4', [1, 4, 2, 3]],
])('move items in the order in which they are when one %s meanwhile', async (_, before, expected) => {
  const send = () => project.admin('/utils/sort/steps', { method: 'POST', body: { item: 4, to: 1 } });
  const { status, text } = await whileHeld(project.database.url, { before }, send);
  expect([status, text]).toEqual([200, '']);
  expect((await project.cells('SELECT id FROM steps ORDER BY place')).map(([id]) => id)).toEqual(expected);
});

it('may refer to what triggers make, where another request makes the same link', async () => {
  const body = { tags: [1, 2], bells: { create: [{ id: 1, kind: 7 }] } };
  const send = () => project.ask('/items/bikes/1?fields=tags,bells', { method: 'PATCH', body });
  const answer = await whileHeld(project.database.url, { before: 'INSERT INTO bikes_tags VALUES (1, 2)' }, send);
  expect([answer.status, answer.json.data]).toEqual([200, { tags: [1, 2], bells: [1] }]);
});

const hook = `import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ before }) => {
  before('docs.update', async () => {});
});
`;

const approving = {
  postgres: `
    CREATE FUNCTION approve() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO approvals (doc) VALUES (NEW.id); RETURN NULL; END $$;
    CREATE TRIGGER approve AFTER UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION approve();`,
  mysql: 'CREATE TRIGGER approve AFTER UPDATE ON docs FOR EACH ROW INSERT INTO approvals (doc) VALUES (NEW.id);',
};

/** A file with an item. */
function fileOf(item: object): FormData {
  const body = new FormData();
  body.append('file', new Blob([JSON.stringify([item])], { type: 'application/json' }), 'docs.json');
  return body;
}

const changed = { title: 'new', grades: [3] };
describe.each([
  ['beside hooks', { 'docs.ts': hook }, 'PATCH', 'items/docs/1', changed],
  ['in imports', undefined, 'POST', 'utils/import/docs', fileOf({ id: 1, ...changed })],
])('rules that triggers fulfil, %s', (_, extensions, method, path, body) => {
  let served: ServedProject;
  beforeAll(async () => {
    served = await serveProject({
      ...(extensions && { extensions }),
      system: true,
      portable: true,
      disturbed: true,
      sql: `
        CREATE TABLE docs (id integer PRIMARY KEY, title varchar(20));
        CREATE TABLE grades (id integer PRIMARY KEY, name varchar(20));
        CREATE TABLE docs_grades (
          doc integer REFERENCES docs, grade integer REFERENCES grades, PRIMARY KEY (doc, grade));
        CREATE TABLE approvals (
          id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, doc integer REFERENCES docs);
        INSERT INTO docs VALUES (1, 'old');
        INSERT INTO grades VALUES (3, 'high');
        ${approving[isOnMariadb() ? 'mysql' : 'postgres']}`,
      permissions: `
permissions:
  public:
    docs:
      read: true
      create: true
      update: { fields: '*', filter: {}, validation: { approvals: { _some: { id: { _gt: 0 } } } } }
    grades: { read: true }
    docs_grades: { read: true, create: true, delete: true }
    approvals: { read: true }
`,
    });
  });
  afterAll(() => served?.close());

  it('hold where another request makes a link at the same time', async () => {
    const linked = { before: 'INSERT INTO docs_grades VALUES (1, 3)' };
    const answer = await whileHeld(served.database.url, linked, () => served.ask(`/${path}`, { method, body }));
    expect(answer.status).toBeLessThan(300);
    expect((await served.ask('/items/docs/1?fields=title,grades')).json.data).toEqual(changed);
  });
});
