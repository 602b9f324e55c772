/** Activity and revisions: what is kept of writes, in their transaction, by few statements. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isOnMariadb } from '../support/contract-database.ts';
import { notebookSql, resetSql, triggersSql } from '../support/notebook.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

/** Known while the file is read: what stands within `describe` runs later. */
const mariadb = isOnMariadb();

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: notebookSql(),
    postgres: triggersSql,
    system: true,
    config: `{ collections: {
      tokens: { fields: { secret: { type: 'secret' }, pass: { type: 'hash' } } },
      settings: { singleton: true }, counters: { accountability: 'activity' }, serials: { accountability: 'none' } } }`,
    permissions: `
permissions:
  public:
    people: { read: { fields: [id, name] }, create: { fields: [name] }, update: { fields: [name], filter: { hidden: { _eq: false } } } }
    notes: { create: { fields: [title], validation: { title: { _neq: no } } } }`,
    environment: { MAX_PAYLOAD_SIZE: '4mb' },
  });
});
beforeEach(() =>
  rows(`${resetSql}; TRUNCATE platform.platform_revisions, platform.platform_activity RESTART IDENTITY CASCADE`),
);
afterAll(() => project?.close());

function rows(sql: string): ReturnType<ServedProject['rows']> {
  return project.rows(sql);
}

function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return project.admin(`/items/${path}`, { method, headers, ...(body !== undefined && { body }) });
}

/** Action, collection and key of everything that was logged, in its order. */
async function activity(): Promise<string[]> {
  const logged = await rows('SELECT action, collection, item FROM platform.platform_activity ORDER BY id');
  return logged.map(({ action, collection, item }) => `${action} ${collection} ${item}`);
}

function revisions(): ReturnType<ServedProject['rows']> {
  return rows('SELECT item, data, delta FROM platform.platform_revisions ORDER BY id');
}

describe('a write', () => {
  it('leaves who, how and from where', async () => {
    await ask('POST', 'people', { name: 'Ann' }, { 'user-agent': 'test/1', origin: 'https://example.com' });
    expect(
      await rows('SELECT action, "user", ip, user_agent, origin, collection, item FROM platform.platform_activity'),
    ).toEqual([
      {
        action: 'create',
        user: null,
        ip: '127.0.0.1',
        user_agent: 'test/1',
        origin: 'https://example.com',
        collection: 'people',
        item: '1',
      },
    ]);
  });

  it('leaves the whole item after it and what it changed, in the forms of the API', async () => {
    await ask('POST', 'notes', { title: 'a', price: '1.50', stars: 1, meta: { n: '$', big: 1 } });
    const big = '{"meta":{"n":12345678901234567890},"price":"1.5","title":"b"}';
    expect((await ask('PATCH', 'notes/1', big)).status).toBe(200);
    const [made, changed] = await revisions();
    expect(made?.delta).toEqual(made?.data);
    expect(made?.data).toMatchObject({ id: '1', title: 'a', price: '1.50', state: 'draft', length: 1 });
    expect(Object.keys(changed?.delta ?? {}).sort()).toEqual(['meta', 'title']);
    expect(changed?.data).toMatchObject({ id: '1', title: 'b', price: '1.50', stars: 1 });
    const [{ text } = {}] = await rows('SELECT delta::text AS text FROM platform.platform_revisions WHERE id = 2');
    expect(text).toContain('"meta":{"n":12345678901234567890}');
  });

  it('keeps no secret, and nothing a caller may not read is missing', async () => {
    await ask('POST', 'tokens', { label: 'x', secret: 'hidden', pass: 'word' });
    const [made] = await revisions();
    expect(Object.keys(made?.data ?? {}).sort()).toEqual(['id', 'label']);
    await project.ask('/items/people', { method: 'POST', body: { name: 'Bob' } });
    expect((await revisions())[1]?.data).toEqual({ id: 1, name: 'Bob', hidden: false });
  });

  it('names items by their keys in the form of a path', async () => {
    await ask('POST', 'seats', [
      { line: 1, number: 2 },
      { line: 3, number: 4 },
    ]);
    await ask('PATCH', 'seats/1,2', { label: 'a' });
    await ask('DELETE', 'seats', ['3,4']);
    await ask('POST', 'countries', { code: 'Ö,' });
    await ask('PATCH', 'settings', { title: 'one' });
    await ask('PATCH', 'settings', { title: 'two' });
    expect(await activity()).toEqual([
      'create seats 1,2',
      'create seats 3,4',
      'update seats 1,2',
      'delete seats 3,4',
      'create countries %C3%96%2C',
      'create settings 1',
      'update settings 1',
    ]);
    expect((await revisions()).map(({ item, delta }) => [item, delta]).slice(2, 3)).toEqual([['1,2', { label: 'a' }]]);
  });

  it('of a query leaves what it changed and removed', async () => {
    await ask('POST', 'people', [{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    await rows('TRUNCATE platform.platform_activity RESTART IDENTITY CASCADE');
    await ask('PATCH', 'people', { query: { filter: { id: { _gt: 1 } } }, data: { hidden: true } });
    await ask('PATCH', 'people', { keys: [1], data: {} });
    await ask('DELETE', 'people', { query: { filter: { hidden: { _eq: true } } } });
    expect(await activity()).toEqual(['update people 2', 'update people 3', 'delete people 2', 'delete people 3']);
  });

  it('with on_conflict leaves what it made and what it changed', async () => {
    await ask('POST', 'people', { name: 'Ann' });
    await ask('POST', 'people?on_conflict=name', [{ name: 'Bob' }, { name: 'Ann', hidden: true }]);
    expect(await activity()).toEqual(['create people 1', 'create people 2', 'update people 1']);
    expect((await revisions()).at(-1)?.delta).toEqual({ hidden: true });
  });

  it('of a whole tree leaves a row for each item of it', async () => {
    const tree = { title: 'a', person_id: { name: 'Ann' }, notes: [{ title: 'b' }, { title: 'c' }] };
    const made = await ask('POST', 'notes?fields=id', tree);
    expect([made.status, (await activity()).sort()]).toEqual([
      200,
      ['create notes 1', 'create notes 2', 'create notes 3', 'create people 1'],
    ]);
  });

  it('that fails leaves nothing', async () => {
    await rows(`INSERT INTO people (name, hidden) VALUES ('Ann', true)`);
    const update = await project.ask('/items/people/1', { method: 'PATCH', body: { name: 'x' } });
    expect(failure(update)).toBe('403 FORBIDDEN');
    const create = await project.ask('/items/notes', { method: 'POST', body: [{ title: 'yes' }, { title: 'no' }] });
    expect(failure(create)).toBe('400 FAILED_VALIDATION');
    expect(failure(await ask('POST', 'people', [{ name: 'b' }, { name: 'b' }]))).toBe('400 FAILED_VALIDATION');
    expect(await activity()).toEqual([]);
  });
});

describe('accountability', () => {
  it('may be for activity alone, or for nothing', async () => {
    await ask('POST', 'counters', { value: 1 });
    await ask('PATCH', 'counters/1', { value: 2 });
    await ask('POST', 'serials', {});
    expect(await activity()).toEqual(['create counters 1', 'update counters 1']);
    expect(await revisions()).toEqual([]);
  });
});

describe('statements', () => {
  it.skipIf(mariadb)(
    'are as many for thousands of items as for one',
    async () => {
      const count = async (method: string, body: unknown, path = 'people?fields=id') => {
        project.statements.reset();
        expect((await ask(method, path, body)).status).toBeLessThan(300);
        return project.statements.executed();
      };
      const names = Array.from({ length: 3_000 }, (_, place) => ({ name: `n${place}` }));
      expect(await count('POST', names)).toBe(await count('POST', [{ name: 'x' }, { name: 'y' }]));
      const keys = names.map((_, place) => place + 1);
      const few = await count('PATCH', { keys: [1, 2], data: { hidden: false } });
      expect(await count('PATCH', { keys, data: { hidden: true } })).toBe(few);
      const removed = await count('DELETE', [1], 'people');
      expect(await count('DELETE', keys.slice(1), 'people')).toBe(removed);
      expect((await activity()).length).toBe(3_002 + 3_002 + 3_000);
      const paired = `SELECT count(*)::int AS n FROM platform.platform_activity a JOIN platform.platform_revisions r
      ON r.activity = a.id AND r.item = a.item AND r.data->>'id' = a.item WHERE a.action <> 'delete'`;
      expect(await rows(paired)).toEqual([{ n: 6_004 }]);
    },
    60_000,
  );
});

it('writers of one item follow each other: each delta starts where the one before it ended', async () => {
  await ask('POST', 'people', { name: 'start' });
  await Promise.all(Array.from({ length: 20 }, (_, place) => ask('PATCH', 'people/1', { name: `n${place}` })));
  const all = await rows(`SELECT r.delta->>'name' AS name, a.id FROM platform.platform_revisions r
    JOIN platform.platform_activity a ON a.id = r.activity WHERE a.action = 'update'`);
  expect(new Set(all.map(({ name }) => name)).size).toBe(20);
});
