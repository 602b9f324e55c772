/** What a role may write: fields, rows, presets, checks of the written row, and links. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resetSql, serveNotebook } from '../support/notebook.ts';
import { failure, type ServedProject } from '../support/project.ts';

const permissions = `
permissions:
  public:
    people:
      read: { fields: [id, name], filter: { hidden: { _eq: false } } }
      create: { fields: [name], presets: { hidden: true } }
    notes:
      read: { fields: [id, title, body, state, stars, mood, person_id], filter: { state: { _neq: archived } } }
      create:
        fields: [title, body, state, person_id, parent_id]
        validation: { state: { _in: [draft, published] }, title: { _nstarts_with: x }, person_id: { _or: [{ hidden: { _eq: false } }, { name: { _eq: Eve } }] } }
        presets: { mood: sad, body: preset, seen: "$NOW(-1 day)" }
      update:
        - fields: [title, body]
          filter: { state: { _eq: draft } }
          validation: { title: { _nempty: true } }
          presets: { mood: sad }
        - fields: [body, state, stars]
          filter: { state: { _eq: published } }
          presets: { mood: happy, stars: 1 }
      delete: { filter: { state: { _eq: draft } } }
    seats:
      read: { fields: [line, number, label] }
      create: { fields: [number, label] }
      update: { fields: [label], filter: { label: { _neq: locked } } }
    countries:
      create: { fields: [code, name] }
      update: { fields: [name], filter: { name: { _neq: Hidden } }, validation: {} }
    tokens:
      create: { fields: [label], presets: { secret: $CURRENT_USER } }
      update: { fields: [label], filter: { label: { _neq: $CURRENT_USER } } }
    late:
      read: { fields: [id] }
      create: { fields: [id, other], validation: { other: { _gt: 0 } } }
`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveNotebook(permissions);
});
beforeEach(async () => {
  await project.rows(resetSql);
  await project.rows(`INSERT INTO people (name, hidden) VALUES ('Ann', false), ('Eve', true), ('Bob', true)`);
  await project.rows(`INSERT INTO notes (title, state) VALUES ('d', 'draft'), ('p', 'published'), ('a', 'archived')`);
  await project.rows(`INSERT INTO seats VALUES (1, 1, 'free'), (1, 2, 'locked')`);
  await project.rows(`INSERT INTO countries VALUES ('AA', 'Open'), ('BB', 'Hidden')`);
});
afterAll(() => project?.close());

function ask(method: string, path: string, body?: unknown) {
  return project.ask(`/items/${path}`, { method, ...(body !== undefined && { body }) });
}

function rows(sql: string): ReturnType<ServedProject['rows']> {
  return project.rows(sql);
}

function violations({ json }: { json: { errors: { extensions: Record<string, unknown> }[] } }): unknown[] {
  return json.errors.map(({ extensions: { index, field, type } }) => [index, field, type]);
}

/** The bytes of every refusal. */
const forbidden =
  '{"errors":[{"message":"Not found, or you do not have permission.","extensions":{"code":"FORBIDDEN"}}]}';

describe('fields', () => {
  it('that are hidden, not listed or unknown are the same, and nothing of the request is applied', async () => {
    const before = await rows('SELECT * FROM notes ORDER BY id');
    for (const name of ['words', 'id', 'length', 'mood', 'stars', 'nope', 'notes', 'constructor', 'toString']) {
      const created = await ask('POST', 'notes', { title: 'new', [name]: null });
      expect([created.status, created.text]).toEqual([403, forbidden]);
      const many = await ask('POST', 'notes', [{ title: 'new' }, { title: 'new', [name]: null }]);
      expect([many.status, many.text]).toEqual([403, forbidden]);
    }
    for (const name of ['words', 'length', 'mood', 'person_id', 'nope']) {
      const updated = await ask('PATCH', 'notes/1', { body: 'new', [name]: null });
      expect([updated.status, updated.text]).toEqual([403, forbidden]);
    }
    expect(await rows('SELECT * FROM notes ORDER BY id')).toEqual(before);
  });

  it('that the role cannot give a value are missed without their names', async () => {
    const message =
      'The item needs a value in a field that the role may not write; rules or the database must fill it.';
    const extensions = { code: 'FAILED_VALIDATION', collection: 'seats', type: 'required' };
    const unnamed = await ask('POST', 'seats', { number: 7 });
    expect([unnamed.status, unnamed.json]).toEqual([400, { errors: [{ message, extensions }] }]);
    const both = await ask('POST', 'seats', [{ number: 8 }, { label: 'x' }]);
    expect(both.json.errors.map((error: { message: string }) => error.message)).toEqual([
      message,
      message,
      '"number" of item 1 is required.',
    ]);
    expect(unnamed.text + both.text).not.toContain('line');
  });

  it('of hidden relations are as unknown ones, also where no item is changed', async () => {
    for (const name of ['notes', 'parent_id', 'person_id', 'nope']) {
      for (const items of [{ keys: [] }, { query: { filter: { id: { _eq: -1 } } } }]) {
        const none = await ask('PATCH', 'notes', { ...items, data: { [name]: {}, body: 'new' } });
        expect([name, items, none.status, none.text]).toEqual([name, items, 403, forbidden]);
      }
    }
  });

  it('of collections without a rule for the action are all forbidden', async () => {
    for (const [method, path, body] of [
      ['POST', 'seats', { line: 1, number: 9 }],
      ['POST', 'counters', {}],
      ['POST', 'nothing', {}],
      ['PATCH', 'people/1', { name: 'x' }],
      ['PATCH', 'counters/1', {}],
      ['DELETE', 'people/1'],
      ['DELETE', 'seats', [{ line: 1, number: 1 }]],
      ['DELETE', 'nothing', [1]],
      ['PATCH', 'settings', { title: 'x' }],
    ] as const) {
      const answer = await ask(method, path, body);
      expect([method, path, answer.text]).toEqual([method, path, forbidden]);
    }
    expect(failure(await ask('POST', 'settings', {}))).toBe('403 FORBIDDEN');
  });
});

describe('what is wrong', () => {
  const value = 'filter[stars][_eq]=abc';
  const long = 'x'.repeat(21);
  const queried = (filter: unknown, data: unknown) => ({ query: { filter }, data });
  it.each([
    ['POST', `notes?${value}`, { title: 'a', nope: 1 }, '403 FORBIDDEN'],
    ['POST', `notes?${value}`, [{ title: 'a' }, { title: 'a', words: [] }], '403 FORBIDDEN'],
    ['POST', `notes?${value}`, { title: long }, '400 INVALID_QUERY'],
    ['POST', `notes?${value}`, { title: 'a' }, '400 INVALID_QUERY'],
    ['POST', 'notes?filter[stars][_nope]=1', { title: 'a', nope: 1 }, '400 INVALID_QUERY'],
    ['POST', 'notes?filter[words][_eq]=1', { title: long }, '403 FORBIDDEN'],
    ['POST', `notes?${value}&fields=words`, { title: long }, '403 FORBIDDEN'],
    ['PATCH', `notes/1?${value}`, { words: [] }, '403 FORBIDDEN'],
    ['PATCH', `notes/1?${value}`, { title: long }, '400 INVALID_QUERY'],
    ['PATCH', 'notes', queried({ stars: { _nope: 1 } }, { words: [] }), '400 INVALID_QUERY'],
    ['PATCH', 'notes', queried({ words: { _eq: 1 } }, { title: 5 }), '403 FORBIDDEN'],
    ['PATCH', 'notes', queried({ stars: { _eq: 'abc' } }, { words: [] }), '403 FORBIDDEN'],
    ['PATCH', 'notes', queried({ stars: { _eq: 'abc' } }, { title: long }), '400 INVALID_QUERY'],
    ['PATCH', 'notes', queried({ stars: { _eq: 1 } }, { title: 5 }), '400 INVALID_PAYLOAD'],
  ])('is told by its stage: %s %s %j is %s', async (method, path, body, expected) => {
    const before = await rows('SELECT * FROM notes ORDER BY id');
    expect(failure(await ask(method, path, body))).toBe(expected);
    expect(await rows('SELECT * FROM notes ORDER BY id')).toEqual(before);
  });
});

describe('presets', () => {
  it('stand under the payload of a create', async () => {
    const first = await ask('POST', 'notes?fields=title,body,mood', [
      { title: 'one', person_id: 1 },
      { title: 'two', body: 'own', person_id: 1 },
      { title: 'three', body: null, person_id: 1 },
    ]);
    expect(first.json.data).toEqual([
      { title: 'one', body: 'preset', mood: 'sad' },
      { title: 'two', body: 'own', mood: 'sad' },
      { title: 'three', body: null, mood: 'sad' },
    ]);
    expect((await ask('POST', 'notes?fields=body', { title: 'four', person_id: 1 })).json.data).toEqual({
      body: 'preset',
    });
    const [age] = await rows(`SELECT max(seen) < now() - interval '23 hours' AS old FROM notes WHERE title = 'one'`);
    expect(age).toEqual({ old: true });
  });

  it('of the rule that matches the stored row are set by an update', async () => {
    await ask('PATCH', 'notes', { query: { filter: { state: { _in: ['draft', 'published'] } } }, data: { body: 'b' } });
    expect(await rows('SELECT title, body, mood, stars FROM notes ORDER BY id')).toEqual([
      { title: 'd', body: 'b', mood: 'sad', stars: null },
      { title: 'p', body: 'b', mood: 'happy', stars: 1 },
      { title: 'a', body: null, mood: 'happy', stars: null },
    ]);
    await ask('PATCH', 'notes', [
      { id: 1, title: 'D' },
      { id: 2, stars: 4 },
    ]);
    expect(await rows('SELECT title, stars FROM notes WHERE id < 3 ORDER BY id')).toEqual([
      { title: 'D', stars: null },
      { title: 'p', stars: 4 },
    ]);
  });

  it('that need a caller who is not there make their rule none', async () => {
    expect((await ask('POST', 'tokens', { label: 'x' })).text).toBe(forbidden);
    expect(await rows('SELECT * FROM tokens')).toEqual([]);
  });
});

describe('the stored row', () => {
  it('must match a rule, else it is as if it were not there', async () => {
    for (const path of ['seats/1,2', 'seats/9,9', 'seats/x,1']) {
      expect([path, (await ask('PATCH', path, { label: 'x' })).text]).toEqual([path, forbidden]);
    }
    expect((await ask('PATCH', 'seats', { keys: ['1,1', '1,2'], data: { label: 'x' } })).text).toBe(forbidden);
    expect((await ask('PATCH', 'seats/1,2', {})).text).toBe(forbidden);
    expect(await rows('SELECT label FROM seats ORDER BY number')).toEqual([{ label: 'free' }, { label: 'locked' }]);
    for (const path of ['notes/2', 'notes/3', 'notes/99']) {
      expect((await ask('DELETE', path)).text).toBe(forbidden);
    }
    expect((await ask('DELETE', 'notes', [1, 2])).text).toBe(forbidden);
    expect((await ask('DELETE', 'notes/1')).status).toBe(204);
    expect(await rows('SELECT id FROM notes ORDER BY id')).toEqual([{ id: '2' }, { id: '3' }]);
  });

  it('decides with the fields: each must be granted by a rule that matches, never by two halves', async () => {
    expect((await ask('PATCH', 'notes/2', { title: 'x' })).text).toBe(forbidden);
    expect((await ask('PATCH', 'notes/1', { state: 'published' })).text).toBe(forbidden);
    expect((await ask('PATCH', 'notes/1', { body: 'x', stars: 1 })).text).toBe(forbidden);
    expect((await ask('PATCH', 'notes/3', { body: 'x' })).text).toBe(forbidden);
    const mixed = [
      { id: 1, title: 'x' },
      { id: 2, title: 'x' },
    ];
    expect((await ask('PATCH', 'notes', mixed)).text).toBe(forbidden);
    const fitting = [
      { id: 1, title: 'x' },
      { id: 2, stars: 2 },
    ];
    expect((await ask('PATCH', 'notes?fields=title,stars', fitting)).json.data).toEqual([
      { title: 'x', stars: null },
      { title: 'p', stars: 2 },
    ]);
  });

  it('of a query is passed over when it does not match', async () => {
    const { json } = await ask('PATCH', 'notes?fields=id', { query: {}, data: { title: 'x' } });
    expect(json.data).toEqual([{ id: '1' }]);
    expect((await ask('DELETE', 'notes', { query: {} })).status).toBe(204);
    expect(await rows('SELECT id FROM notes ORDER BY id')).toEqual([{ id: '2' }, { id: '3' }]);
  });

  it('never matches by a caller who is not there, also under a negation', async () => {
    await rows(`INSERT INTO tokens (label) VALUES ('a')`);
    const [token] = await rows('SELECT id FROM tokens');
    expect((await ask('PATCH', `tokens/${token?.id}`, { label: 'b' })).text).toBe(forbidden);
  });
});

describe('the written row', () => {
  it('must meet the validation, every condition of which is told', async () => {
    const answer = await ask('POST', 'notes', { title: 'x', state: 'archived', person_id: 1 });
    expect([failure(answer), violations(answer)]).toEqual([
      '400 FAILED_VALIDATION',
      [
        [undefined, 'state', 'in'],
        [undefined, 'title', 'starts_with'],
      ],
    ]);
    const many = await ask('POST', 'notes', [
      { title: 'fine', person_id: 1 },
      { title: 'x', person_id: 1 },
      { title: 'y', state: 'archived', person_id: 1 },
    ]);
    expect(violations(many)).toEqual([
      [2, 'state', 'in'],
      [1, 'title', 'starts_with'],
    ]);
    expect(await rows('SELECT count(*)::int AS count FROM notes')).toEqual([{ count: 3 }]);
    expect(violations(await ask('POST', 'late', { id: 1, other: 0 }))).toEqual([[undefined, 'other', 'gt']]);
    expect(violations(await ask('POST', 'late', { id: 1 }))).toEqual([[undefined, undefined, 'gt']]);
  });

  it('must still match the rule when it has no validation', async () => {
    expect((await ask('PATCH', 'seats/1,1', { label: 'locked' })).text).toBe(forbidden);
    expect((await ask('PATCH', 'notes/2', { state: 'draft' })).text).toBe(forbidden);
    expect(await rows(`SELECT 1 FROM seats WHERE label = 'free'`)).toHaveLength(1);
  });

  it('may leave the rule when its validation is empty', async () => {
    expect((await ask('PATCH', 'countries/AA', { name: 'Hidden' })).status).toBe(204);
    expect(await rows(`SELECT name FROM countries WHERE code = 'AA'`)).toEqual([{ name: 'Hidden' }]);
  });

  it('is judged by the rule that granted it when there are several', async () => {
    const answer = await ask('PATCH', 'notes/1', { title: '' });
    expect([failure(answer), violations(answer)]).toEqual(['400 FAILED_VALIDATION', [[undefined, 'title', 'nempty']]]);
    expect((await ask('PATCH', 'notes/2', { body: '' })).status).toBe(200);
  });
});

describe('the answer', () => {
  it('is empty when the caller may not read', async () => {
    const answer = await ask('POST', 'countries', { code: 'CC', name: 'C' });
    expect([answer.status, answer.text]).toEqual([204, '']);
    const hidden = await ask('POST', 'people', { name: 'Zoe' });
    expect([hidden.status, hidden.text]).toEqual([204, '']);
    expect(await rows(`SELECT hidden FROM people WHERE name = 'Zoe'`)).toEqual([{ hidden: true }]);
  });

  it('does not name what the caller may not read', async () => {
    expect((await ask('POST', 'countries?fields=name', { code: 'DD', name: 'D' })).text).toBe(forbidden);
    expect((await ask('POST', 'late?fields=other', { id: 5, other: 5 })).text).toBe(forbidden);
    expect((await ask('POST', 'late', { id: 5, other: 5 })).json).toEqual({ data: { id: 5 } });
    expect((await ask('PATCH', 'notes?fields=words', { keys: [1], data: { body: 'b' } })).text).toBe(forbidden);
  });

  it('keeps the items that can be read', async () => {
    const created = await ask('POST', 'notes?fields=title&filter[title][_neq]=q', [
      { title: 'q', person_id: 1 },
      { title: 'r', person_id: 1 },
    ]);
    expect(created.json).toEqual({ data: [{ title: 'r' }] });
  });
});

describe('links by key', () => {
  it('lead only to what the caller may read, a missing key is as a hidden one', async () => {
    expect((await ask('POST', 'notes', { title: 'one', person_id: 1 })).status).toBe(200);
    for (const person_id of [2, 3, 99]) {
      expect((await ask('POST', 'notes', { title: 'two', person_id })).text).toBe(forbidden);
      const many = [{ title: 'm1', person_id: 1 }, { title: 'm2' }, { title: 'm3', person_id }];
      expect((await ask('POST', 'notes', many)).text).toBe(forbidden);
    }
    const alone = await ask('POST', 'notes', { title: 'three', person_id: null });
    expect(violations(alone)).toEqual([[undefined, 'person_id', 'check']]);
    expect((await ask('POST', 'notes', { title: 'own', parent_id: 3, person_id: 1 })).text).toBe(forbidden);
    expect((await ask('POST', 'notes', { title: 'own', parent_id: 1, person_id: 1 })).status).toBe(200);
  });
});
