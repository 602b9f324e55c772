/** PATCH and DELETE in all their forms. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isOnMariadb, skippedFor } from '../support/contract-database.ts';
import { resetSql, serveNotebook } from '../support/notebook.ts';
import { failure, type ServedProject } from '../support/project.ts';

/** Known while the file is read: what stands within `describe` runs later. */
const mariadb = isOnMariadb();
/** A field of many values; MariaDB and MySQL have no arrays. */
const many = mariadb ? 'meta' : 'words';

let project: ServedProject;
beforeAll(async () => {
  project = await serveNotebook('permissions: {}', { MAX_BATCH_MUTATION: '5' });
});
beforeEach(() =>
  rows(`${resetSql};
    INSERT INTO notes (title, stars) VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4);
    INSERT INTO seats VALUES (1, 1, 'x'), (1, 2, 'y'), (2, 1, 'z')`),
);
afterAll(() => project?.close());

function patch(path: string, body: unknown) {
  return project.admin(`/items/${path}`, { method: 'PATCH', body });
}

function remove(path: string, body?: unknown) {
  return project.admin(`/items/${path}`, { method: 'DELETE', ...(body !== undefined && { body }) });
}

function rows(sql: string): ReturnType<ServedProject['rows']> {
  return project.rows(sql);
}

const titles = () => rows('SELECT id::int, title FROM notes ORDER BY id');

describe('PATCH of one item', () => {
  it('changes what it names and answers the item', async () => {
    const { status, json } = await patch('notes/2?fields=id,title,stars,length', { title: 'hello' });
    expect([status, json]).toEqual([200, { data: { id: '2', title: 'hello', stars: 2, length: 5 } }]);
    expect((await patch('seats/1,2', { label: 'new' })).json.data).toEqual({ line: 1, number: 2, label: 'new' });
  });

  it('changes nothing without data', async () => {
    expect((await patch('notes/1?fields=title', {})).json).toEqual({ data: { title: 'a' } });
  });

  it('takes the key of the item itself, and no other', async () => {
    expect((await patch('notes/1?fields=title', { id: '1', title: 'z' })).json).toEqual({ data: { title: 'z' } });
    expect(failure(await patch('notes/1', { id: 2, title: 'z' }))).toBe('400 INVALID_PAYLOAD');
    expect(failure(await patch('seats/1,2', { line: 1, number: 3 }))).toBe('400 INVALID_PAYLOAD');
  });

  it('leaves a secret that is sent back as its mask', async () => {
    const token = '00000000-0000-4000-8000-000000000001';
    await rows(`INSERT INTO tokens (id, label, secret) VALUES ('${token}', 'a', 'kept')`);
    await patch(`tokens/${token}`, { label: 'b', secret: '**********' });
    expect(await rows('SELECT label, secret FROM tokens')).toEqual([{ label: 'b', secret: 'kept' }]);
  });

  it.each(['notes/99', 'notes/abc', 'notes/1,2', 'seats/1', 'seats/9,9', 'nothing/1', 'heap/1'])(
    'forbids %s',
    async (path) => {
      expect(failure(await patch(path, {}))).toBe('403 FORBIDDEN');
      expect(failure(await patch(path, { title: 'z' }))).toBe('403 FORBIDDEN');
      expect(failure(await remove(path))).toBe('403 FORBIDDEN');
    },
  );

  it.each(['', '[]', '[{"id":1}]'])('takes an object and not %j', async (body) => {
    expect(failure(await patch('notes/1', body))).toBe('400 INVALID_PAYLOAD');
  });

  it('reports what the item breaks', async () => {
    const { json } = await patch('notes/1', { title: null, stars: 70_000 });
    expect(json.errors.map((error: { extensions: unknown }) => error.extensions)).toEqual([
      { code: 'FAILED_VALIDATION', collection: 'notes', field: 'title', type: 'required' },
      { code: 'FAILED_VALIDATION', collection: 'notes', field: 'stars', type: 'range' },
    ]);
    const taken = await patch('notes/1', { title: 'b', stars: 2 });
    expect(taken.json.errors[0]).toMatchObject({
      message: '"title" has a value that is taken together with that of "stars".',
      extensions: { type: 'unique', field: 'title' },
    });
  });
});

describe('PATCH of several items', () => {
  it('gives all keys the same data, each once, in their order', async () => {
    const { json } = await patch('notes?fields=id,body', { keys: [3, '1', 3], data: { body: 'same' } });
    expect(json.data).toEqual([
      { id: '3', body: 'same' },
      { id: '1', body: 'same' },
    ]);
    const seats = await patch('seats', {
      keys: [{ line: 2, number: 1 }, '1,2'],
      data: { label: 'w' },
    });
    expect(seats.json.data).toEqual([
      { line: 2, number: 1, label: 'w' },
      { line: 1, number: 2, label: 'w' },
    ]);
  });

  it('gives each its own data, whatever fields it has', async () => {
    if (!mariadb) project.statements.reset();
    const { json } = await patch(`notes?fields=id,title,body,${many}`, [
      { id: 3, title: 'C' },
      { id: 1, body: 'one', [many]: ['x'] },
      { id: 2, title: 'B', body: null },
    ]);
    if (!mariadb) expect(project.statements.executed()).toBeLessThanOrEqual(6);
    expect(json.data).toEqual([
      { id: '3', title: 'C', body: null, [many]: null },
      { id: '1', title: 'a', body: 'one', [many]: ['x'] },
      { id: '2', title: 'B', body: null, [many]: null },
    ]);
    expect((await patch('notes', [])).json).toEqual({ data: [] });
    expect((await patch('notes?fields=id', { keys: [], data: { body: 'x' } })).json).toEqual({ data: [] });
  });

  it('counts an item that comes twice once, the later fields win', async () => {
    const { json } = await patch('notes?fields=id,title,body', [
      { id: 1, title: 'first', body: 'first' },
      { id: '1', title: 'second' },
    ]);
    expect(json.data).toEqual([{ id: '1', title: 'second', body: 'first' }]);
  });

  it('finds items by a query', async () => {
    const query = { filter: { stars: { _gte: 2 } }, sort: ['-stars'], limit: 2 };
    const { json } = await patch('notes?fields=title,body', { query, data: { body: 'found' } });
    expect(json.data).toEqual([
      { title: 'd', body: 'found' },
      { title: 'c', body: 'found' },
    ]);
    const none = await patch('notes', { query: { filter: { id: { _eq: 99 } } }, data: { body: 'x' } });
    expect([none.status, none.json]).toEqual([200, { data: [] }]);
  });

  it('changes all or none', async () => {
    expect(failure(await patch('notes', { keys: [1, 99], data: { body: 'x' } }))).toBe('403 FORBIDDEN');
    expect(failure(await patch('notes', { keys: [1, 'x'], data: { body: 'x' } }))).toBe('403 FORBIDDEN');
    expect(failure(await patch('notes', [{ id: 1, body: 'x' }, { id: 99 }]))).toBe('403 FORBIDDEN');
    const taken = [
      { id: 1, title: 'z' },
      { id: 2, title: 'c', stars: 3 },
    ];
    expect(failure(await patch('notes', taken))).toBe('400 FAILED_VALIDATION');
    expect(await rows(`SELECT * FROM notes WHERE body IS NOT NULL OR title = 'z'`)).toEqual([]);
  });

  it.each([
    [{}],
    [{ data: {} }],
    [{ keys: [1] }],
    [{ keys: 1, data: {} }],
    [{ keys: [1], query: {}, data: {} }],
    [{ keys: [1], data: [] }],
    [{ keys: [1], data: {}, more: 1 }],
    [{ keys: [1, 2], data: { id: 1 } }],
    [{ query: {}, data: { id: 1 } }],
    [[1]],
    [[{ title: 'no key' }]],
    [[{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }, { id: 5 }, { id: 6 }]],
    [{ keys: [1, 2, 3, 4, 5, 6], data: {} }],
    [''],
  ])('%j is no payload', async (body) => {
    expect(failure(await patch('notes', body))).toBe('400 INVALID_PAYLOAD');
  });

  it('judges its query as a read does', async () => {
    const ask = async (query: unknown) => failure(await patch('notes', { query, data: { body: 'x' } }));
    expect(await ask({ filter: { nope: 1 } })).toBe('403 FORBIDDEN');
    expect(await ask({ filter: { stars: { _nope: 1 } } })).toBe('400 INVALID_QUERY');
    expect(await ask({ filter: { stars: { _eq: 'x' } } })).toBe('400 INVALID_QUERY');
    expect(await ask([])).toBe('400 INVALID_QUERY');
  });

  it('refuses a misspelt parameter of its query, without which every item would be found', async () => {
    const query = { filtr: { id: { _eq: 1 } } };
    for (const answer of [await patch('notes', { query, data: { body: 'x' } }), await remove('notes', { query })]) {
      expect(failure(answer)).toBe('400 INVALID_QUERY');
      expect(answer.json.errors[0].message).toMatch(/^"query" takes fields, filter, .*, and no "filtr"\.$/);
    }
    expect(await titles()).toHaveLength(4);
    expect(await rows('SELECT * FROM notes WHERE body IS NOT NULL')).toEqual([]);
  });

  it('refuses groups in its query, whose conditions would be passed over', async () => {
    const query = { groupBy: ['title'], having: { count: { _gt: 1 } } };
    for (const answer of [await patch('notes', { query, data: { body: 'x' } }), await remove('notes', { query })]) {
      expect(failure(answer)).toBe('400 INVALID_QUERY');
    }
    expect(failure(await remove('notes', { query: { aggregate: { count: '*' } } }))).toBe('400 INVALID_QUERY');
    expect(await titles()).toHaveLength(4);
    expect(await rows('SELECT * FROM notes WHERE body IS NOT NULL')).toEqual([]);
  });

  it('is limited in the items that a query finds, too', async () => {
    await rows(`INSERT INTO notes (title) VALUES ('e'), ('f'), ('g')`);
    expect(failure(await patch('notes', { query: {}, data: { body: 'x' } }))).toBe('400 INVALID_PAYLOAD');
    expect(failure(await remove('notes', { query: {} }))).toBe('400 INVALID_PAYLOAD');
    expect(await rows('SELECT * FROM notes WHERE body IS NOT NULL')).toEqual([]);
    expect((await patch('notes', { query: { limit: 5 }, data: { body: 'x' } })).json.data).toHaveLength(5);
  });
});

describe('DELETE', () => {
  it('removes one item', async () => {
    const answer = await remove('notes/2');
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await remove('seats/1,2')).status).toBe(204);
    expect((await titles()).map(({ title }) => title)).toEqual(['a', 'c', 'd']);
  });

  it('removes several by their keys, in both forms', async () => {
    expect((await remove('notes', [1, '2', 1])).status).toBe(204);
    expect((await remove('notes', { keys: [3] })).status).toBe(204);
    expect((await remove('notes', [])).status).toBe(204);
    expect((await titles()).map(({ title }) => title)).toEqual(['d']);
  });

  it('removes what a query finds', async () => {
    expect((await remove('notes', { query: { filter: { stars: { _lt: 3 } } } })).status).toBe(204);
    expect((await titles()).map(({ title }) => title)).toEqual(['c', 'd']);
  });

  it('removes all or none', async () => {
    expect(failure(await remove('notes', [1, 99]))).toBe('403 FORBIDDEN');
    expect(failure(await remove('notes', [1, null]))).toBe('403 FORBIDDEN');
    expect(await titles()).toHaveLength(4);
  });

  it('does not remove what others refer to', async () => {
    await rows('UPDATE notes SET parent_id = 1 WHERE id = 2');
    const { json } = await remove('notes/1');
    expect(json.errors[0].extensions).toEqual({ code: 'FAILED_VALIDATION', collection: 'notes', type: 'foreign_key' });
    // MariaDB and MySQL look at each row by itself, so the note that refers to the other one goes first.
    if (mariadb) expect(failure(await remove('notes', [1, 2]))).toBe('400 FAILED_VALIDATION');
    for (const keys of mariadb ? [[2], [1]] : [[1, 2]]) expect((await remove('notes', keys)).status).toBe(204);
  });

  it.each([[{}], [{ keys: [1], query: {} }], [{ keys: 1 }], [{ data: {} }], ['']])('%j is no payload', async (body) => {
    expect(failure(await remove('notes', body))).toBe('400 INVALID_PAYLOAD');
  });
});

describe.skipIf(mariadb)(`a view that triggers write${skippedFor('MariaDB and MySQL have no such triggers')}`, () => {
  it('is changed and emptied as a table is, though its rows cannot be locked', async () => {
    await rows(`TRUNCATE seats; INSERT INTO seats SELECT g % 3, g, 'old' FROM generate_series(1, 9) g`);
    const items = [2, 0].map((id) => ({ id, label: `line ${id}` }));
    const changed = await project.admin('/items/lines?fields=id,label', { method: 'PATCH', body: items });
    expect(changed.json.data).toEqual(items);
    const both = { keys: [1, 2], data: { label: 'both' } };
    expect((await project.admin('/items/lines', { method: 'PATCH', body: both })).status).toBe(200);
    expect((await project.admin('/items/lines', { method: 'DELETE', body: [0, 2] })).status).toBe(204);
    expect(await rows('SELECT DISTINCT line, label FROM seats')).toEqual([{ line: 1, label: 'both' }]);
  });
});

describe('a singleton', () => {
  it('is made by the first PATCH and changed by the next, also by many at once', async () => {
    const first = await patch('settings', { size: 5 });
    expect([first.status, first.json.data]).toEqual([200, { id: 1, title: 'Untitled', size: 5 }]);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, place) => patch('settings?fields=title', { title: `t${place}` })),
    );
    expect(answers.map(({ json }) => json.data.title)).toEqual(answers.map((_, place) => `t${place}`));
    expect(await rows('SELECT count(*)::int AS count FROM settings')).toEqual([{ count: 1 }]);
  });

  it('is made only once by many at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => patch('settings', { title: 'x' })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await rows('SELECT count(*)::int AS count FROM settings')).toEqual([{ count: 1 }]);
  });

  it('has no other way to be written', async () => {
    expect(failure(await patch('settings/1', {}))).toBe('404 ROUTE_NOT_FOUND');
    expect(failure(await remove('settings/1'))).toBe('404 ROUTE_NOT_FOUND');
    expect(failure(await remove('settings', [1]))).toBe('404 ROUTE_NOT_FOUND');
    expect(failure(await patch('settings', []))).toBe('400 INVALID_PAYLOAD');
  });
});
