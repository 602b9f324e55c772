/**
 * Values that a hidden row has taken, where the write is a part of a transaction: one that hooks wait for, an import, a
 * revert, a comment. Rules and links come before the unique key there, too.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { file, form } from '../support/files.ts';
import type { Answer } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { expectSameRefusal } from '../support/refusals.ts';
import { allServers } from '../support/servers.ts';

const token = 'token-of-bob-0000000000';

const sql = `
  CREATE TABLE clubs (id integer PRIMARY KEY, open boolean NOT NULL);
  CREATE TABLE seats (
    id integer PRIMARY KEY, club integer NOT NULL REFERENCES clubs, name varchar(20) NOT NULL, UNIQUE (club, name));
  CREATE TABLE lists (id integer PRIMARY KEY, open boolean NOT NULL);
  CREATE TABLE entries (
    id integer PRIMARY KEY, list integer NOT NULL REFERENCES lists, name varchar(20) NOT NULL, UNIQUE (list, name));
  CREATE TABLE diaries (id integer PRIMARY KEY, list integer, name varchar(20));
  CREATE TABLE counted (id integer PRIMARY KEY, name varchar(20) UNIQUE, runs integer);
  CREATE TABLE counted_parts (id integer PRIMARY KEY, counted integer REFERENCES counted);
  INSERT INTO platform.platform_roles (id, name) VALUES ('00000000-0000-4000-8000-0000000000ed', 'member');
  INSERT INTO platform.platform_users (id, email, role, token) VALUES
    ('00000000-0000-4000-8000-00000000000b', 'bob@example.com', '00000000-0000-4000-8000-0000000000ed', '${token}');
  INSERT INTO diaries VALUES (5, NULL, NULL);
  INSERT INTO clubs VALUES (1, true), (2, false);
  INSERT INTO seats (id, club, name) VALUES (1, 1, 'ann'), (2, 2, 'bob');
  INSERT INTO lists VALUES (1, true), (2, false);
  INSERT INTO entries (id, list, name) VALUES (1, 1, 'ann'), (2, 2, 'bob'), (3, 1, 'cid');
`;

const permissions = `
roles: { member: {} }
permissions:
  public:
    platform_revisions: { read: true }
    clubs: { read: { fields: '*', filter: { open: { _eq: true } } } }
    seats:
      read: { fields: '*', filter: { club: { open: { _eq: true } } } }
      create: true
      update: { fields: '*', filter: { club: { open: { _eq: true } } } }
    lists: { read: true }
    entries:
      read: { fields: '*', filter: { list: { open: { _eq: true } } } }
      create: { fields: '*', validation: { list: { open: { _eq: true } } } }
      update: { fields: '*', filter: { list: { open: { _eq: true } } }, validation: { list: { open: { _eq: true } } } }
    diaries: { read: true, create: true }
    counted: { read: true, create: true, update: true }
    counted_parts: { read: true, create: true, update: true }
    platform_activity: { read: true }
  member:
    diaries: { read: true }
    lists: { read: true }
    entries: { create: { fields: '*', validation: { list: { open: { _eq: true } } } } }
    platform_files:
      create:
        - { fields: [description, title], validation: { uploaded_by: { _eq: $CURRENT_USER } } }
        - { fields: [description, title], validation: { title: { _eq: $CURRENT_USER.avatar.title } } }
    platform_comments:
      read: true
      create: { fields: [id, collection, item, comment], validation: { user_created: { _eq: $CURRENT_USER } } }
`;

/** Hooks that do nothing, and one that writes what its payload says. */
const extensions = {
  'wait.ts': `import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ before, after }) => {
  let runs = 0;
  before('counted.create', ({ payload }) => {
    payload.runs = ++runs;
  });
  after('platform_files.create', async ({ payload, items }) => {
    await items('entries').create({ id: 30, list: 1, name: payload.description ?? '' });
  });
  after('platform_comments.create', async ({ payload, items }) => {
    const [list, name] = (payload.comment ?? '').split(' ');
    if (name !== undefined) await items('entries').create({ id: 30, list: Number(list), name });
  });
  before('seats.create', () => {});
  before('seats.update', () => {});
  after('entries.create', () => {});
  after('entries.update', () => {});
  after('diaries.create', async ({ payload, items }) => {
    await items('entries').create({ id: 20, list: payload.list ?? 1, name: payload.name ?? '' });
  });
});
`,
};

describe.each(allServers)('on $name', ({ dialect, missing }) => {
  describe.skipIf(missing)('a unique key tells nothing of hidden rows', () => {
    let hooked: ServedProject;
    let plain: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        hooked = await serveProject({ system: true, sql, permissions, extensions });
        plain = await serveProject({ system: true, sql, permissions });
      }),
    );
    afterAll(() => Promise.all([hooked?.close(), plain?.close()]));

    const writes = (link: string) => [
      ['POST', '', (name: string) => ({ id: 10, [link]: 2, name })] as const,
      ['POST', '?on_conflict=id', (name: string) => ({ id: 10, [link]: 2, name })] as const,
      ['PATCH', '/1', (name: string) => ({ [link]: 2, name })] as const,
      ['PATCH', '', (name: string) => ({ keys: [1], data: { [link]: 2, name } })] as const,
    ];

    it.each([
      ...writes('club').map((parts) => ['seats', ...parts] as const),
      ...writes('list').map((parts) => ['entries', ...parts] as const),
      ['diaries', 'POST', '', (name: string) => ({ id: 1, list: 2, name })] as const,
    ])('where hooks wait: %s %s %s', async (table, method, rest, bodyOf) => {
      const send = (name: string) => hooked.ask(`/items/${table}${rest}`, { method, body: bodyOf(name) });
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
    });

    it('where hooks wait for a comment', async () => {
      const send = (comment: string) =>
        hooked.ask('/activity/comment', { method: 'POST', token, body: { collection: 'diaries', item: '5', comment } });
      const [taken, free] = [await send('2 bob'), await send('2 new')];
      expectSameRefusal(taken, free);
    });

    const isUnique = ({ status, json }: Answer) => [status, json.errors[0].extensions.type];

    it('and is told where rules ask for what the server fills in', async () => {
      const comment = { id: '00000000-0000-4000-8000-0000000000c0', collection: 'diaries', item: '5', comment: 'one' };
      const write = () => hooked.ask('/comments', { method: 'POST', token, body: comment });
      expect((await write()).status).toBe(200);
      expect(isUnique(await write())).toEqual([400, 'unique']);
      expect(
        isUnique(
          await hooked.ask('/comments', {
            method: 'POST',
            token,
            body: { ...comment, id: undefined, comment: '1 ann' },
          }),
        ),
      ).toEqual([400, 'unique']);
      const upload = (description: string) =>
        hooked.ask('/files', { method: 'POST', token, body: form(['description', description], file('x')) });
      expect(isUnique(await upload('ann'))).toEqual([400, 'unique']);
      expect((await upload('eve')).status).toBeLessThan(300);
    });

    it.each([
      [1, '', {}],
      [4, '?on_conflict=id', {}],
      [7, '', { counted_parts: { create: [{ id: 7 }] } }],
    ])('and hooks run once where nothing is to be judged: %s %s', async (id, query, related) => {
      const make = (path: string, body: object) => hooked.ask(`/items/counted${path}`, { method: 'POST', body });
      const first = await make('', { id, name: `name ${id}` });
      expect(isUnique(await make(query, { id: id + 1, name: `name ${id}`, ...related }))).toEqual([400, 'unique']);
      const third = await make('', { id: id + 2, name: `name ${id + 2}` });
      expect(third.json.data.runs - first.json.data.runs).toBe(2);
    });

    it.each(['seats', 'entries'])('in an import: %s', async (table) => {
      const link = table === 'seats' ? 'club' : 'list';
      const send = (name: string) => {
        const items = [
          { id: 10, [link]: 1, name: 'first' },
          { id: 11, [link]: 2, name },
        ];
        const part = file(JSON.stringify(items), 'items.json', 'application/json');
        return plain.ask(`/utils/import/${table}`, { method: 'POST', body: form(part) });
      };
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
    });

    it('in a revert', async () => {
      const change = (body: object) => plain.admin('/items/entries/3', { method: 'PATCH', body });
      await change({ list: 2, name: 'dan' });
      await change({ list: 1, name: 'cid' });
      const query = 'filter[collection][_eq]=entries&filter[item][_eq]=3&sort=id&fields=id';
      const [{ id }] = (await plain.admin(`/revisions?${query}`)).json.data;
      const revert = () => plain.ask(`/utils/revert/${id}`, { method: 'POST' });
      const free = await revert();
      await plain.admin('/items/entries', { method: 'POST', body: { id: 9, list: 2, name: 'dan' } });
      const taken = await revert();
      expectSameRefusal(taken, free);
    });
  });
});
