/** Conditions on written rows that look at other rows: they see everything that the request wrote. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE TABLE nodes (id integer PRIMARY KEY, parent_id integer REFERENCES nodes, kind text NOT NULL, label text);
      CREATE TABLE marks (id integer PRIMARY KEY, node_id integer REFERENCES nodes, value integer);
      CREATE TABLE authors (id integer PRIMARY KEY, active boolean);
      CREATE TABLE books (id integer PRIMARY KEY, title text, author_id integer REFERENCES authors);
      CREATE TABLE chapters (
        id integer PRIMARY KEY, book_id integer REFERENCES books, author_id integer REFERENCES authors);
      CREATE TABLE papers (id integer PRIMARY KEY, title text);
      CREATE TABLE notes (id integer PRIMARY KEY, paper_id integer REFERENCES papers);
      CREATE TABLE essays (id integer PRIMARY KEY, title text, rank integer);
      CREATE TABLE remarks (id integer PRIMARY KEY, essay_id integer REFERENCES essays, body text);
      CREATE TABLE tracts (id integer PRIMARY KEY, title text, rank integer);
      CREATE TABLE glosses (id integer PRIMARY KEY, tract_id integer REFERENCES tracts, body text);`,
    config: `{ relations: { 'nodes.nodes': { name: 'children' } } }`,
    permissions: `
permissions:
  public:
    nodes:
      read: { fields: ["*"], filter: { kind: { _neq: secret } } }
      create:
        fields: [id, parent_id, kind, label]
        validation: { _or: [{ parent_id: { _null: true } }, { parent_id: { kind: { _eq: folder } } }] }
      update:
        - fields: [kind, parent_id]
          filter: { kind: { _eq: folder } }
          validation: { children: { _none: { kind: { _eq: odd } } } }
        - fields: [label, parent_id]
          filter: { marks: { _some: { value: { _gt: 0 } } } }
    marks:
      read: { fields: ["*"], filter: { node_id: { kind: { _eq: folder } } } }
      create: { fields: [id, node_id, value] }
    authors: { read: { fields: ["*"] }, update: { fields: [active] } }
    chapters: { read: { fields: ["*"] }, create: { fields: ["*"] } }
    papers:
      read: true
      update:
        - { fields: [notes], filter: { title: { _neq: c } }, validation: { 'count(notes)': { _lte: 2 } } }
        - { fields: [title, notes], filter: { title: { _eq: b } }, validation: { 'count(notes)': { _lte: 3 } } }
    notes: { read: true, create: true }
    essays:
      read: true
      update:
        - { fields: [title, remarks], filter: {}, validation: { 'count(remarks)': { _lte: 2 } } }
        - { fields: [title, rank, remarks], filter: { rank: { _gt: 5 } } }
        - { fields: [rank], filter: { rank: { _lte: 5 } } }
    remarks:
      read: true
      update: { fields: [essay_id, body], filter: { essay_id: { remarks: { _some: { id: { _gt: 0 } } } } } }
    tracts:
      read: true
      update:
        - { fields: [glosses], filter: {}, validation: { 'count(glosses)': { _lte: 2 } } }
        - { fields: [title], filter: { rank: { _lte: 5 } } }
        - { fields: [title], filter: { rank: { _gt: 0 } } }
    glosses:
      read: true
      update: { fields: [tract_id, body], filter: { tract_id: { glosses: { _some: { id: { _gt: 0 } } } } } }
    books:
      read: { fields: ["*"] }
      update: { fields: [title, chapters], filter: {}, validation: { author_id: { active: { _eq: true } } } }`,
  });
});
beforeEach(() =>
  withClient(project.database.url, async (client) => {
    await client.query(
      'TRUNCATE nodes, marks, authors, books, chapters, papers, notes, essays, remarks, tracts, glosses',
    );
    await client.query("INSERT INTO papers VALUES (1, 'a'), (2, 'b'), (3, 'c')");
    await client.query("INSERT INTO essays VALUES (1, 'a', 1); INSERT INTO remarks VALUES (1, 1, NULL)");
    await client.query("INSERT INTO tracts VALUES (1, 'a', 1); INSERT INTO glosses VALUES (1, 1, NULL)");
    await client.query(`INSERT INTO authors VALUES (1, true); INSERT INTO books VALUES (1, 'a', 1)`);
    await client.query(
      `INSERT INTO nodes VALUES (1, NULL, 'folder'), (2, 1, 'file'), (3, 1, 'odd'), (4, NULL, 'secret')`,
    );
    await client.query('INSERT INTO marks VALUES (1, 2, 5), (2, 3, 0)');
  }),
);
afterAll(() => project?.close());

function ask(method: string, path: string, body: unknown) {
  return project.ask(`/items/${path}`, { method, body });
}

function rows(sql: string): Promise<unknown[]> {
  return withClient(project.database.url, async (client) => (await client.query(sql)).rows);
}

it('an item may be linked to one of the same request, and is judged by it', async () => {
  const well = [
    { id: 12, parent_id: 11, kind: 'file' },
    { id: 11, parent_id: 1, kind: 'folder' },
  ];
  expect((await ask('POST', 'nodes?fields=id', well)).json.data).toEqual([{ id: 12 }, { id: 11 }]);
  const wrong = [
    { id: 22, parent_id: 21, kind: 'file' },
    { id: 21, parent_id: 1, kind: 'file' },
  ];
  const answer = await ask('POST', 'nodes', wrong);
  expect([failure(answer), answer.json.errors[0].extensions]).toEqual([
    '400 FAILED_VALIDATION',
    { code: 'FAILED_VALIDATION', collection: 'nodes', type: 'check', index: 0 },
  ]);
  expect(await rows('SELECT 1 FROM nodes WHERE id > 20')).toEqual([]);
});

it('a link to a hidden item of the same collection is forbidden, also to one that hides itself', async () => {
  expect(failure(await ask('POST', 'nodes', { id: 10, parent_id: 4, kind: 'file' }))).toBe('403 FORBIDDEN');
  const pair = [
    { id: 11, parent_id: null, kind: 'secret' },
    { id: 12, parent_id: 11, kind: 'file' },
  ];
  expect(failure(await ask('POST', 'nodes', pair))).toBe('403 FORBIDDEN');
  expect(await rows('SELECT 1 FROM nodes WHERE id > 9')).toEqual([]);
});

it('a check through children is judged on what they are now', async () => {
  const answer = await ask('PATCH', 'nodes/1', { kind: 'folder' });
  expect([failure(answer), answer.json.errors[0].extensions.type]).toEqual(['400 FAILED_VALIDATION', 'eq']);
  await withClient(project.database.url, (client) => client.query(`UPDATE nodes SET kind = 'file' WHERE id = 3`));
  expect((await ask('PATCH', 'nodes/1', { kind: 'box' })).status).toBe(200);
});

it('of several rules only those that matched the stored row count where nothing but related items is written', async () => {
  const notes = (...keys: number[]) => ({ notes: { create: keys.map((id) => ({ id })) } });
  expect((await ask('PATCH', 'papers/1', notes(1, 2))).status).toBe(200);
  expect(failure(await ask('PATCH', 'papers/1', notes(3)))).toBe('400 FAILED_VALIDATION');
  expect((await ask('PATCH', 'papers/2', notes(4, 5, 6))).status).toBe(200);
  expect(failure(await ask('PATCH', 'papers/3', notes(7)))).toBe('403 FORBIDDEN');
  const each = [
    { id: 1, ...notes() },
    { id: 2, ...notes(8) },
  ];
  expect(failure(await ask('PATCH', 'papers', each))).toBe('400 FAILED_VALIDATION');
  expect((await rows('SELECT id FROM notes ORDER BY id')).length).toBe(5);
});

it('of several rules those that matched the stored row count before a step that depends on them', async () => {
  const remarks = { update: [{ id: 1, body: 'x' }] };
  expect((await ask('PATCH', 'essays/1', { title: 'b', rank: 2, remarks })).status).toBe(200);
  expect(failure(await ask('PATCH', 'essays/1', { title: 'b', rank: 9 }))).toBe('403 FORBIDDEN');
  expect(await rows('SELECT rank FROM essays')).toEqual([{ rank: 2 }]);
  const glosses = { update: [{ id: 1, body: 'x' }] };
  expect((await ask('PATCH', 'tracts/1', { title: 'b', glosses })).status).toBe(200);
});

it('of several rules only those that matched the stored row count', async () => {
  expect((await ask('PATCH', 'nodes/2?fields=label', { label: 'a' })).json).toEqual({ data: { label: 'a' } });
  expect(failure(await ask('PATCH', 'nodes/3', { label: 'a' }))).toBe('403 FORBIDDEN');
  expect(failure(await ask('PATCH', 'nodes/2', { kind: 'folder' }))).toBe('403 FORBIDDEN');
  const each = [
    { id: 2, label: 'b' },
    { id: 1, kind: 'folder' },
  ];
  expect(failure(await ask('PATCH', 'nodes', each))).toBe('400 FAILED_VALIDATION');
  await withClient(project.database.url, (client) => client.query(`UPDATE nodes SET kind = 'file' WHERE id = 3`));
  expect((await ask('PATCH', 'nodes?fields=id,label,kind', each)).json.data).toEqual([
    { id: 2, label: 'b', kind: 'file' },
    { id: 1, label: null, kind: 'folder' },
  ]);
});

it('a link to rows whose rule follows a relation is judged by it', async () => {
  expect((await ask('POST', 'marks', { id: 10, node_id: 1, value: 1 })).status).toBe(200);
  expect((await ask('POST', 'marks', { id: 11, node_id: 2, value: 1 })).status).toBe(204);
  expect(failure(await ask('POST', 'marks', { id: 12, node_id: 4, value: 1 }))).toBe('403 FORBIDDEN');
  expect(failure(await ask('POST', 'marks', { id: 13, node_id: 99, value: 1 }))).toBe('403 FORBIDDEN');
});

it('what a request writes elsewhere is seen by a rule that another request did not touch', async () => {
  const change = (title: string, chapter: object) =>
    ask('PATCH', 'books/1?fields=title', { title, chapters: { create: [chapter] } });
  expect((await change('b', { id: 1 })).json).toEqual({ data: { title: 'b' } });
  expect(failure(await change('c', { id: 2, author_id: { id: 1, active: false } }))).toBe('400 FAILED_VALIDATION');
  expect(await rows('SELECT title, active FROM books JOIN authors ON authors.id = author_id')).toEqual([
    { title: 'b', active: true },
  ]);
});
