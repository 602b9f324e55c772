/** A database that no longer fits what was compiled: what reaches the changed table is refused, all else is served. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CompiledApi } from '@tablewright/runtime';
import { openDatabase } from '@tablewright/runtime';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createDriftWatch, type DriftWatch } from '../../packages/runtime/src/drift-watch.ts';
import { continueWithin, currentRecord, RequestRecord } from '../../packages/runtime/src/operate/request-record.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { generateHosted } from '../support/host.ts';
import { createProject, type Platform, startPlatform } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { installSystem } from '../support/system.ts';

const unavailable = '503 SERVICE_UNAVAILABLE';

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  database = await createDatabase();
  await installSystem(database.url);
  await alter(`
    CREATE TABLE kept (id integer PRIMARY KEY, title text NOT NULL, owner uuid REFERENCES platform.platform_users);
    CREATE TABLE changed (id integer PRIMARY KEY, amount integer, gone text);
    CREATE TABLE owned (id integer PRIMARY KEY, name text, changed_id integer REFERENCES changed);
    CREATE TABLE links (kept_id integer REFERENCES kept, owned_id integer REFERENCES owned, PRIMARY KEY (kept_id, owned_id));
    CREATE TABLE ruled (id integer PRIMARY KEY, changed_id integer REFERENCES changed, note text);
    CREATE TYPE spot AS (lat integer, lon integer);
    CREATE TYPE address AS (street text, spot spot);
    CREATE TABLE placed (id integer PRIMARY KEY, address address);
    CREATE TABLE marked (id integer PRIMARY KEY, spots spot[]);
    INSERT INTO placed VALUES (1, ('x', (1, 2)));
    INSERT INTO kept VALUES (1, 'a');
    INSERT INTO changed VALUES (1, 2, 'b');
    INSERT INTO owned VALUES (1, 'c', 1);
    INSERT INTO ruled VALUES (1, 1, 'd');`);
  project = await createProject('test/contract/drift');
  await generateHosted(project.folder, database.url);
});
afterAll(() => Promise.all([database?.drop(), project?.remove()]));

function alter(sql: string): Promise<unknown> {
  return withClient(database.url, (client) => client.query(sql));
}

/** Serves what was generated, without compiling again. */
async function served<T>(use: (platform: Platform) => Promise<T>, environment = {}): Promise<T> {
  const platform = await startPlatform(project.folder, database.url, environment, []);
  try {
    return await use(platform);
  } finally {
    await platform.stop();
  }
}

const search = (platform: Platform, collection: string, query: object) =>
  platform.admin(`/items/${collection}`, { method: 'SEARCH', body: { query } });
const send = (platform: Platform, method: string, path: string, body: unknown) =>
  platform.admin(path, { method, body });
const ask = (platform: Platform, query: string) => platform.admin('/graphql', { method: 'POST', body: { query } });
const statuses = async (platform: Platform): Promise<readonly number[]> =>
  Promise.all(['/server/health', '/server/ready'].map(async (path) => (await platform.ask(path)).status));

it('is at fault where a column came that needs a value, and no payload can have one', async () => {
  await served(
    async (platform) => {
      const column = 'ALTER TABLE kept ADD added integer DEFAULT 1 NOT NULL';
      await alter(`${column}; ALTER TABLE kept ALTER added DROP DEFAULT`);
      const created = await Promise.all([
        send(platform, 'POST', '/items/kept', { id: 5, title: 'e' }),
        send(platform, 'POST', '/items/kept', [{ id: 6, title: 'f' }]),
        send(platform, 'POST', '/items/links', { kept_id: { id: 7, title: 'g' }, owned_id: 1 }),
      ]);
      expect(created.map(failure)).toEqual(created.map(() => unavailable));
      const told = String.raw`The column \"added\" of \"public\".\"kept\" needs a value and is not compiled.`;
      await vi.waitFor(() => expect(platform.log()).toContain(told));
      expect((await send(platform, 'PATCH', '/items/kept/1', { title: null })).json.errors[0].extensions.field).toBe(
        'title',
      );
      expect((await send(platform, 'PATCH', '/items/kept/1', { title: 'a' })).status).toBe(200);
    },
    { LOG_LEVEL: 'warn' },
  );
  await alter('ALTER TABLE kept DROP added');
});

it('refuses what reaches the table, however it does, and serves all else', async () => {
  await served(async (platform) => {
    expect((await platform.admin('/items/changed')).status).toBe(200);
    await alter('ALTER TABLE changed RENAME COLUMN gone TO went');
    // Whoever asks for the state has the tables looked at again.
    await vi.waitFor(
      async () => expect((await platform.ask('/server/health')).json).toEqual({ status: 'warn' }),
      20_000,
    );
    const refused = await Promise.all([
      // The column that changed is not even named.
      platform.admin('/items/changed?fields=id'),
      search(platform, 'owned', { fields: ['id', 'changed_id.id'] }),
      search(platform, 'owned', { fields: ['id'], filter: { changed_id: { amount: { _gt: 1 } } } }),
      search(platform, 'owned', { fields: ['id'], sort: ['changed_id.amount'] }),
      search(platform, 'kept', { fields: ['owned.changed_id.id'] }),
      search(platform, 'changed', { aggregate: { count: '*' } }),
      platform.ask('/items/ruled'),
      send(platform, 'POST', '/items/changed', { id: 9 }),
      send(platform, 'PATCH', '/items/changed/1', { amount: 3 }),
      send(platform, 'DELETE', '/items/changed/1', undefined),
      send(platform, 'POST', '/items/owned', { id: 9, changed_id: { id: 8, amount: 1 } }),
      send(platform, 'PATCH', '/items/owned', {
        query: { filter: { changed_id: { amount: 2 } } },
        data: { name: 'x' },
      }),
    ]);
    expect(refused.map(failure)).toEqual(refused.map(() => unavailable));
    for (const query of [
      '{ changed { id } }',
      '{ owned { changed_id { id } } }',
      '{ changed_aggregated { countAll } }',
    ]) {
      const [error] = (await ask(platform, query)).json.errors;
      expect([query, error.extensions.code]).toEqual([query, 'SERVICE_UNAVAILABLE']);
    }
    expect((await ask(platform, '{ kept { id owned { name } } }')).json).toEqual({
      data: { kept: [{ id: 1, owned: [] }] },
    });
    expect((await send(platform, 'POST', '/items/owned', { id: 7, name: 'e' })).status).toBe(200);
    const answered = await Promise.all([
      platform.admin('/items/kept?fields=*,owned.name'),
      platform.admin('/items/owned?fields=id,name,changed_id'),
      platform.admin('/items/ruled'),
      send(platform, 'PATCH', '/items/owned/7', { name: 'f' }),
      platform.admin('/users?limit=1'),
      platform.admin('/server/specs/oas'),
    ]);
    expect(answered.map(({ status }) => status)).toEqual(answered.map(() => 200));
    expect(await statuses(platform)).toEqual([200, 200]);
    const ready = (await platform.admin('/server/ready')).json;
    expect([ready.status, ready.checks.schema.status]).toEqual(['ok', 'warn']);
    for (const name of ['changed', 'gone']) expect(ready.checks.schema.output.join()).toContain(name);
    await alter('ALTER TABLE changed RENAME COLUMN went TO gone');
    await vi.waitFor(async () => expect((await platform.ask('/server/health')).json).toEqual({ status: 'ok' }), 20_000);
    expect((await platform.admin('/items/changed?fields=gone')).json).toEqual({ data: [{ gone: 'b' }] });
  });
});

it.each<[change: string, back: string, closed: readonly string[], told: string, type?: string]>([
  ['ADD ATTRIBUTE city text', 'DROP ATTRIBUTE city', ['placed'], 'has the new member "city"'],
  ['RENAME ATTRIBUTE street TO road', 'RENAME ATTRIBUTE road TO street', ['placed'], 'lost the member "street"'],
  ['ADD ATTRIBUTE alt integer', 'DROP ATTRIBUTE alt', ['placed', 'marked'], 'has the new member "alt"', 'spot'],
  ['RENAME ATTRIBUTE lat TO north', 'RENAME ATTRIBUTE north TO lat', ['placed', 'marked'], '"lat"', 'spot'],
])('closes what has values of a composite type: %s', async (change, back, closed, told, type = 'address') => {
  await alter(`ALTER TYPE ${type} ${change}`);
  await served(async (platform) => {
    for (const name of ['placed', 'marked', 'kept']) {
      const answer = await platform.admin(`/items/${name}?fields=id`);
      const isClosed = closed.includes(name);
      expect([name, isClosed ? failure(answer) : answer.status]).toEqual([name, isClosed ? unavailable : 200]);
    }
    const ready = (await platform.admin('/server/ready')).json;
    expect(ready.checks.schema.output.join()).toContain(told);
    await alter(`ALTER TYPE ${type} ${back}`);
    const read = async () => expect((await platform.admin('/items/placed')).status).toBe(200);
    await vi.waitFor(async () => {
      await platform.ask('/server/health');
      await read();
    }, 20_000);
    const body = { address: { street: 'y', spot: { lat: 3, lon: 4 } } };
    expect((await send(platform, 'PATCH', '/items/placed/1', body)).json.data).toMatchObject(body);
  });
});

it('closes them where a member is gone', async () => {
  await alter('ALTER TYPE spot DROP ATTRIBUTE lon');
  await served(async (platform) => {
    expect(failure(await platform.admin('/items/placed?fields=id'))).toBe(unavailable);
    expect(failure(await platform.admin('/items/marked?fields=id'))).toBe(unavailable);
    expect((await platform.admin('/items/kept')).status).toBe(200);
  });
  await alter('ALTER TYPE spot ADD ATTRIBUTE lon integer');
});

it('closes a junction, and neither of the collections that it links', async () => {
  await alter('ALTER TABLE links RENAME COLUMN owned_id TO other_id');
  await served(async (platform) => {
    expect(failure(await platform.admin('/items/kept?fields=owned.id'))).toBe(unavailable);
    expect((await platform.admin('/items/kept?fields=id,title')).status).toBe(200);
    expect((await platform.admin('/items/owned?fields=id')).status).toBe(200);
    expect((await platform.ask('/server/health')).json).toEqual({ status: 'warn' });
  });
  await alter('ALTER TABLE links RENAME COLUMN other_id TO owned_id');
});

it('is not ready once one of the tables of the platform is damaged, and is again when it was mended', async () => {
  await served(async (platform) => {
    expect(await statuses(platform)).toEqual([200, 200]);
    await alter('ALTER TABLE platform.platform_users RENAME COLUMN title TO name_before');
    await vi.waitFor(async () => expect(await statuses(platform)).toEqual([503, 503]), 20_000);
    expect((await platform.ask('/server/ready?role=any')).json).toEqual({ status: 'schema' });
    expect((await platform.admin('/items/changed?fields=id')).status).toBe(200);
    await alter('ALTER TABLE platform.platform_users RENAME COLUMN name_before TO title');
    await vi.waitFor(async () => expect(await statuses(platform)).toEqual([200, 200]), 20_000);
  });
});

/** A watch over the compiled project that looks often, and what it logs. */
async function watched(
  use: (watch: DriftWatch, messages: readonly string[], notes: readonly string[]) => Promise<void>,
  isOutdated?: () => Promise<boolean>,
): Promise<void> {
  const path = pathToFileURL(join(project.folder, 'generated', 'server.js')).href;
  const { api }: { readonly api: CompiledApi } = await import(path);
  const connected = await openDatabase({ url: database.url });
  const more = isOutdated && { isOutdated };
  const watch = createDriftWatch({ database: connected, fingerprint: api.fingerprint, interval: 50, ...more });
  const messages: string[] = [];
  const notes: string[] = [];
  const log = {
    info: (_: object, message: string) => void notes.push(message),
    warn: () => undefined,
    error: (_: object, message: string) => void messages.push(message),
  };
  try {
    await watch.start(log);
    expect([...watch.closed()]).toEqual([]);
    await use(watch, messages, notes);
  } finally {
    watch.stop();
    await connected.close(0);
  }
}

const rename = (to: 'went' | 'gone') =>
  alter(`ALTER TABLE changed RENAME COLUMN ${to === 'went' ? 'gone' : 'went'} TO ${to}`);
const closes = (watch: DriftWatch) =>
  vi.waitFor(() => expect([...watch.closed()]).toEqual(['"public"."changed"']), 20_000);
const opens = (watch: DriftWatch) => vi.waitFor(() => expect([...watch.closed()]).toEqual([]), 20_000);

it('is found on the timer, and so is its end', async () => {
  await watched(async (watch, messages, notes) => {
    await rename('went');
    await closes(watch);
    expect(messages.join('\n')).toContain('gone');
    await rename('gone');
    await opens(watch);
    expect(notes).toEqual([
      'Column "went" of public.changed is new and not compiled.',
      'The database fits the API again.',
    ]);
  });
});

it('is looked for outside of the request whose change has begun that', async () => {
  const records: unknown[] = [];
  const isOutdated = async () => {
    records.push(currentRecord());
    return false;
  };
  const follow = () =>
    watched(async (watch) => {
      await rename('went');
      await closes(watch);
      await rename('gone');
      await opens(watch);
    }, isOutdated);
  await continueWithin(new RequestRecord('id', 'trace', 0), follow, undefined);
  expect(new Set(records)).toEqual(new Set([undefined]));
});

it('is none where the model was changed, whose API is about to be served, for as long as that may take', async () => {
  let asked = 0;
  let isOutdated = true;
  await watched(
    async (watch, messages) => {
      await rename('went');
      await expect.poll(() => asked).toBeGreaterThan(2);
      expect([[...watch.closed()], messages]).toEqual([[], []]);
      isOutdated = false;
      await closes(watch);
      await rename('gone');
      await opens(watch);
      // Rows that do not compile are waited for in vain.
      isOutdated = true;
      await rename('went');
      await closes(watch);
      await rename('gone');
    },
    async () => {
      asked += 1;
      return isOutdated;
    },
  );
});
