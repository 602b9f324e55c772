/** POST: items as they were sent, with what the database and the rules fill in. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { usualPasswords } from '../support/bundled.ts';
import { withClient } from '../support/database.ts';
import { resetSql, serveNotebook } from '../support/notebook.ts';
import { failure, type ServedProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveNotebook('permissions: {}', { ...usualPasswords, MAX_PAYLOAD_SIZE: '4mb' });
});
beforeEach(() => withClient(project.database.url, (client) => client.query(resetSql)));
afterAll(() => project?.close());

function post(path: string, body: unknown) {
  return project.admin(`/items/${path}`, { method: 'POST', body });
}

function rows(sql: string): Promise<Record<string, unknown>[]> {
  return withClient(project.database.url, async (client) => (await client.query(sql)).rows);
}

/** The violations of an answer, in short. */
function violations({ json }: { json: { errors: { extensions: Record<string, unknown> }[] } }): unknown[] {
  return json.errors.map(({ extensions: { index, field, type } }) => [index, field, type]);
}

describe('one item', () => {
  it('is answered with what the database filled in, shaped by the query', async () => {
    const { status, json } = await post('notes?fields=id,title,state,mood,stars,length', { title: 'hello' });
    expect(status).toBe(200);
    expect(json).toEqual({
      data: { id: '1', title: 'hello', state: 'draft', mood: 'happy', stars: null, length: 5 },
    });
  });

  it('may be empty where nothing is required', async () => {
    expect((await post('counters', {})).json).toEqual({ data: { id: 1, value: null } });
    expect((await post('serials', {})).json).toEqual({ data: { id: 1 } });
    expect((await post('tokens?fields=label', {})).json).toEqual({ data: { label: null } });
  });

  it('nests what it is linked to', async () => {
    await post('people', { name: 'Ann' });
    const { json } = await post('notes?fields=person_id.name,parent_id', { title: 'a', person_id: 1 });
    expect(json).toEqual({ data: { person_id: { name: 'Ann' }, parent_id: null } });
  });

  it('may have a key of its own, natural or composite', async () => {
    expect((await post('countries', { code: 'DE', name: 'Germany' })).json.data.code).toBe('DE');
    expect((await post('seats', { line: 2, number: 7 })).json.data).toEqual({ line: 2, number: 7, label: null });
    expect((await post('notes?fields=id', { id: '9007199254740993', title: 'big' })).json.data.id).toBe(
      '9007199254740993',
    );
    const again = await post('seats', { line: 2, number: 7 });
    expect([failure(again), violations(again)]).toEqual(['400 FAILED_VALIDATION', [[undefined, 'line', 'unique']]]);
  });

  it('keeps every digit and every type', async () => {
    const given = {
      title: 'types',
      stars: '5',
      price: '1234.50',
      rank: 7,
      meta: { deep: [1, { a: 'é"\\' }], big: '12345678901234567890' },
      words: ['a', 'b,"c"', null, ''],
      seen: '2020-02-29T12:30:00+01:00',
      address: '10.1.2.3',
    };
    const { json } = await post('notes?fields=stars,price,rank,meta,words,seen,address', given);
    expect(json.data).toEqual({
      stars: 5,
      price: '1234.50',
      rank: 7,
      meta: given.meta,
      words: given.words,
      seen: '2020-02-29T11:30:00+00:00',
      address: '10.1.2.3',
    });
  });

  it('takes null for null, also in JSON', async () => {
    const { json } = await post('notes?fields=meta,mood,words', { title: 'a', meta: null, mood: null, words: null });
    expect(json.data).toEqual({ meta: null, mood: null, words: null });
    expect(await rows('SELECT meta IS NULL AS is_null FROM notes')).toEqual([{ is_null: true }]);
  });

  it('hides secrets and stores passwords as hashes', async () => {
    const { json } = await post('tokens?fields=secret,pass', { secret: 'knock', pass: 'correct horse' });
    expect(json.data).toEqual({ secret: '**********', pass: '**********' });
    const [stored] = await rows('SELECT secret, pass FROM tokens');
    expect(stored?.secret).toBe('knock');
    expect(stored?.pass).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    const masked = await post('tokens', { secret: '**********' });
    expect(violations(masked)).toEqual([[undefined, 'secret', 'check']]);
  });

  it('can be made through a view, as far as the view shows it', async () => {
    expect((await post('drafts', { title: 'seen' })).json.data).toEqual({ id: '1', title: 'seen', state: 'draft' });
    const unseen = await post('drafts', { title: 'unseen', state: 'published' });
    expect([failure(unseen), violations(unseen)]).toEqual(['400 FAILED_VALIDATION', [[undefined, undefined, 'check']]]);
  });
});

describe('an array', () => {
  it('is answered in its order, whatever fields each item has', async () => {
    const { json } = await post('notes?fields=id,title,state,mood,words', [
      { title: 'a', state: 'published' },
      { title: 'b', mood: 'sad', words: ['x'] },
      { title: 'c', id: 100 },
      { title: 'd', mood: null },
    ]);
    expect(json.data).toEqual([
      { id: '1', title: 'a', state: 'published', mood: 'happy', words: null },
      { id: '2', title: 'b', state: 'draft', mood: 'sad', words: ['x'] },
      { id: '100', title: 'c', state: 'draft', mood: 'happy', words: null },
      { id: '3', title: 'd', state: 'draft', mood: null, words: null },
    ]);
  });

  it('may be empty, of one item, or of empty items', async () => {
    expect((await post('notes', [])).json).toEqual({ data: [] });
    expect((await post('counters', [{}])).json).toEqual({ data: [{ id: 1, value: null }] });
    expect((await post('serials?fields=id', [{}, {}, {}])).json.data).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  it('can be sorted, filtered and cut by the query; what it leaves out is not answered', async () => {
    const items = [{ title: 'b' }, { title: 'a' }, { title: 'c' }];
    const { json } = await post('notes?fields=title&sort=-title&limit=2&meta=filter_count', items);
    expect(json).toEqual({ data: [{ title: 'c' }, { title: 'b' }], meta: { filter_count: 3 } });
    const none = await post('notes?filter[title][_eq]=z', [{ title: 'd' }]);
    expect([none.status, none.text, none.headers.get('content-length')]).toEqual([204, '', null]);
  });

  it('of 10,000 items is one statement beside BEGIN, answer and COMMIT, and keeps its order', async () => {
    const items = Array.from({ length: 10_000 }, (_, place) => ({
      title: `t${place}`,
      ...(place % 3 === 0 && { mood: 'sad' }),
      ...(place % 5 === 0 && { words: [`w${place}`] }),
    }));
    project.statements.reset();
    const { json } = await post('notes?fields=title', items);
    expect(project.statements.executed()).toBeLessThanOrEqual(5);
    expect(json.data).toEqual(items.map(({ title }) => ({ title })));
    const [counts] = await rows(
      `SELECT count(*)::int AS all, (count(*) FILTER (WHERE mood = 'sad'))::int AS sad FROM notes`,
    );
    expect(counts).toEqual({ all: 10_000, sad: 3_334 });
  });

  it('is made as a whole or not at all', async () => {
    const items = [{ title: 'a', stars: 1 }, { title: 'b' }, { title: 'a', stars: 1 }];
    const answer = await post('notes', items);
    expect([failure(answer), violations(answer)]).toEqual(['400 FAILED_VALIDATION', [[undefined, 'title', 'unique']]]);
    expect(await rows('SELECT * FROM notes')).toEqual([]);
  });
});

describe('what is wrong', () => {
  it('is told all at once, each with its place', async () => {
    const answer = await post('notes', [
      { title: 'x'.repeat(21), stars: 40_000, state: 'gone', mood: 'angry', price: '12345.6' },
      {},
      { title: null, price: '1.234' },
      { title: 'well', price: '1.20' },
    ]);
    expect(violations(answer)).toEqual([
      [0, 'title', 'max_length'],
      [0, 'stars', 'range'],
      [0, 'state', 'enum'],
      [0, 'mood', 'enum'],
      [0, 'price', 'range'],
      [2, 'title', 'required'],
      [2, 'price', 'range'],
      [1, 'title', 'required'],
    ]);
    const only = await post('notes', { stars: 1 });
    expect(only.json.errors).toEqual([
      {
        message: '"title" is required.',
        extensions: { code: 'FAILED_VALIDATION', collection: 'notes', field: 'title', type: 'required' },
      },
    ]);
  });

  it.each([
    [{ title: 1 }],
    [{ title: 'a', stars: 'many' }],
    [{ title: 'a', stars: 1.5 }],
    [{ title: 'a', words: 'a' }],
    [{ title: 'a', seen: '2023-02-30' }],
    [{ title: 'a', price: true }],
    [{ title: 'a', address: 'nowhere' }],
    [{ title: 'a', length: 1 }],
    ['[1]'],
    ['[[]]'],
    [''],
  ])('%j is no payload', async (body) => {
    expect(failure(await post('notes', body))).toBe('400 INVALID_PAYLOAD');
    expect(await rows('SELECT * FROM notes')).toEqual([]);
  });

  it('of a constraint names its field, and nothing of other rows', async () => {
    await post('notes', { title: 'taken', stars: 1 });
    const cases: [unknown, unknown[]][] = [
      [{ title: 'taken', stars: 1 }, ['title', 'unique']],
      [{ title: 'a', stars: 9 }, ['stars', 'check']],
      [{ title: 'a', stars: 3, price: 1 }, ['price', 'check']],
      [{ title: 'a', rank: 0 }, ['rank', 'check']],
      [{ title: 'a', person_id: 99 }, ['person_id', 'foreign_key']],
    ];
    for (const [body, expected] of cases) {
      const answer = await post('notes', body);
      expect([failure(answer), violations(answer)]).toEqual(['400 FAILED_VALIDATION', [[undefined, ...expected]]]);
      expect(answer.text).not.toMatch(/taken"|notes_|title_and|SQL|Key \(/);
    }
  });

  it('of a constraint that waits for COMMIT, or of a trigger, is told as well', async () => {
    const late = await post('late', [
      { id: 1, other: 1 },
      { id: 2, other: 1 },
    ]);
    expect(violations(late)).toEqual([[undefined, 'other', 'unique']]);
    expect(violations(await post('guarded', { id: 13 }))).toEqual([[undefined, undefined, 'check']]);
    expect(violations(await post('guarded', [{ id: 1 }, { id: 14 }]))).toEqual([[undefined, undefined, 'check']]);
    expect(await rows('SELECT id FROM late UNION ALL SELECT id FROM guarded')).toEqual([]);
  });

  it('with the query is known before anything is written', async () => {
    expect(failure(await post('notes?fields=nope', { title: 'a' }))).toBe('403 FORBIDDEN');
    expect(failure(await post('notes?filter[title][_nope]=1', { title: 'a' }))).toBe('400 INVALID_QUERY');
    expect(failure(await post('notes?aggregate[count]=*', [{ title: 'a' }]))).toBe('400 INVALID_QUERY');
    expect(await rows('SELECT * FROM notes')).toEqual([]);
  });

  it('is forbidden where there is no key, no such field, and no such collection', async () => {
    for (const [path, body] of [
      ['heap', { value: 1 }],
      ['notes', { title: 'a', nope: 1 }],
      ['nothing', {}],
      ['platform_users', {}],
    ] as const) {
      expect(failure(await post(path, body))).toBe('403 FORBIDDEN');
    }
    expect(failure(await post('settings', {}))).toBe('404 ROUTE_NOT_FOUND');
  });
});
