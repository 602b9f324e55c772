/** Changes are logged by one statement however many they are, on a server and embedded. */
import { type MigrationConnection, migrate } from '@tablewright/runtime/tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ChangeOrigin,
  type LoggedChange,
  logChanges,
  revisionOf,
} from '../../packages/runtime/src/system/log-changes.ts';
import { createDatabase, withClient } from '../support/database.ts';
import { createEmbedded } from '../support/embedded.ts';
import { installSystem } from '../support/system.ts';

const ada = '00000000-0000-4000-8000-00000000000a';
const origin: ChangeOrigin = { user: ada, ip: '::1', userAgent: 'x'.repeat(999), origin: null };
const nobody: ChangeOrigin = { user: null, ip: null, userAgent: null, origin: null };

const revision = { data: { id: 1, title: 'é', big: '9007199254740993' }, delta: { title: 'é' } };
const changes: readonly LoggedChange[] = [
  { action: 'create', collection: 'articles', item: '1', revision, parent: null },
  { action: 'update', collection: 'comments', item: '7', revision: { data: { id: 7 }, delta: {} }, parent: 0 },
  { action: 'delete', collection: 'c'.repeat(100), item: 'k'.repeat(300), revision: null, parent: 0 },
];

type Run = (text: string, parameters: readonly (string | null)[]) => Promise<readonly unknown[]>;

const places = {
  async server() {
    const database = await createDatabase();
    await installSystem(database.url);
    const run: Run = (text, values) =>
      withClient(database.url, async (client) => (await client.query(text, [...values])).rows);
    return { run, close: () => database.drop() };
  },
  async embedded() {
    const database = await createEmbedded();
    const parsers = new Proxy({}, { get: () => (value: string) => value, has: () => true });
    const connection: MigrationConnection = {
      query: async (text, parameters) =>
        (await database.query<(string | null)[]>(text, [...parameters], { rowMode: 'array', parsers })).rows,
      script: async (text) => void (await database.exec(text)),
    };
    await migrate(connection);
    const run: Run = async (text, values) => (await database.query(text, [...values])).rows;
    return { run, close: () => database.close() };
  },
};

describe.each(['server', 'embedded'] as const)('on the %s', (place) => {
  let run: Run;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ run, close } = await places[place]());
    await run(`INSERT INTO platform.platform_users (id) VALUES ('${ada}')`, []);
  });
  afterAll(() => close?.());

  it('writes activity and revisions that belong together', async () => {
    const { text, parameters } = logChanges('"platform"', origin, changes);
    expect(await run(text, parameters)).toEqual([]);
    const activity = await run(
      `SELECT id, action, "user"::text, ip, length(user_agent) AS agent, origin, left(collection, 9) AS collection, length(item) AS item
       FROM platform.platform_activity ORDER BY id`,
      [],
    );
    const who = { user: ada, ip: '::1', agent: 255, origin: null };
    expect(activity).toEqual([
      { id: 1, action: 'create', ...who, collection: 'articles', item: 1 },
      { id: 2, action: 'update', ...who, collection: 'comments', item: 1 },
      { id: 3, action: 'delete', ...who, collection: 'ccccccccc', item: 255 },
    ]);
    expect(
      await run(
        'SELECT id, activity, collection, item, data, delta, parent FROM platform.platform_revisions ORDER BY id',
        [],
      ),
    ).toEqual([
      { id: 1, activity: 1, collection: 'articles', item: '1', ...revision, parent: null },
      { id: 2, activity: 2, collection: 'comments', item: '7', data: { id: 7 }, delta: {}, parent: 1 },
    ]);
  });

  it('takes thousands at once, and none', async () => {
    const many = Array.from(
      { length: 5000 },
      (_, index): LoggedChange => ({
        action: 'create',
        collection: 'items',
        item: String(index),
        revision: { data: { id: index }, delta: { id: index } },
        parent: index === 0 ? null : 0,
      }),
    );
    for (const list of [many, []]) {
      const { text, parameters } = logChanges('"platform"', nobody, list);
      await run(text, parameters);
    }
    const paired = await run(
      `SELECT count(*)::int AS n, count(DISTINCT r.parent)::int AS parents
       FROM platform.platform_activity a JOIN platform.platform_revisions r ON r.activity = a.id
       WHERE a.collection = 'items' AND a.item = r.item AND r.data->>'id' = a.item`,
      [],
    );
    expect(paired).toEqual([{ n: 5000, parents: 1 }]);
  });
});

describe('a revision', () => {
  const field = (name: string, type: 'text' | 'hash' | 'json') => ({
    name,
    type,
    column: `"${name}"`,
    native: 'text',
    wire: { kind: 'text' as const },
    nullable: true,
    writable: true,
  });
  const collection = { fields: [field('title', 'text'), field('meta', 'json'), field('password', 'hash')] };

  it('holds what changed, by value, and never a secret', () => {
    const before = { title: 'a', meta: { a: [1] }, password: 'old' };
    const after = { title: 'b', meta: { a: [1] }, password: 'new' };
    expect(revisionOf(collection, before, after)).toEqual({
      data: { title: 'b', meta: { a: [1] } },
      delta: { title: 'b' },
    });
    expect(revisionOf(collection, null, after).delta).toEqual({ title: 'b', meta: { a: [1] } });
  });
});
