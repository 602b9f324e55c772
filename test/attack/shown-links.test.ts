/** Links by key to items that are hidden, and that the link itself would show: a person may not join a club that way. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { allServers } from '../support/servers.ts';

const sql = `
  CREATE TABLE clubs (id integer PRIMARY KEY, name varchar(20));
  CREATE TABLE people (
    id integer PRIMARY KEY, name varchar(20), parent integer REFERENCES people,
    club integer REFERENCES clubs, second integer REFERENCES clubs);
  CREATE TABLE guilds (id bigint PRIMARY KEY);
  CREATE TABLE badges (id varchar(20) PRIMARY KEY);
  CREATE TABLE holders (
    id integer PRIMARY KEY, guild bigint REFERENCES guilds, badge varchar(20) REFERENCES badges);
  CREATE TABLE rooms (site integer, number integer, name varchar(20), PRIMARY KEY (site, number));
  CREATE TABLE keepers (
    id integer PRIMARY KEY, site integer, room integer, FOREIGN KEY (site, room) REFERENCES rooms (site, number));
`;

const rows = [
  "INSERT INTO clubs VALUES (1, 'a'), (2, 'b'), (4, 'd')",
  "INSERT INTO people (id, name, club) VALUES (1, 'Ann', 1), (2, 'Bob', NULL), (3, 'Cid', NULL)",
  'INSERT INTO guilds VALUES (9007199254740993), (9007199254740992)',
  "INSERT INTO badges VALUES ('gold'), ('1')",
  "INSERT INTO holders VALUES (1, 9007199254740993, 'gold'), (2, NULL, NULL)",
  "INSERT INTO rooms VALUES (1, 1, 'kept'), (1, 2, 'hidden')",
  'INSERT INTO keepers VALUES (1, 1, 1), (2, 1, NULL), (3, NULL, NULL)',
];

const permissions = `
permissions:
  public:
    clubs:
      read: { fields: '*', filter: { people_by_club: { _some: { name: { _nnull: true } } } } }
      create: true
    people: { read: true, create: true, update: true }
    guilds: { read: { fields: '*', filter: { holders: { _some: { id: { _gt: 0 } } } } } }
    badges: { read: { fields: '*', filter: { holders: { _some: { id: { _gt: 0 } } } } } }
    holders: { read: true, create: true, update: true }
    rooms: { read: { fields: '*', filter: { keepers: { _some: { id: { _gt: 0 } } } } } }
    keepers: { read: true, create: true, update: true }
`;

describe.each(allServers)('on $name', ({ dialect, missing }) => {
  describe.skipIf(missing)('links', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        project = await serveProject({ sql, portable: true, permissions });
      }),
    );
    afterAll(() => project?.close());

    /** Sends a write to rows as they are above; gives its status, and links of all items. */
    async function sent(method: string, path: string, body: unknown) {
      const { ask, cells } = project;
      const tables = ['people', 'clubs', 'keepers', 'rooms', 'holders', 'guilds', 'badges'];
      const emptied = ['UPDATE people SET parent = NULL', ...tables.map((table) => `DELETE FROM ${table}`)];
      await project.rows([...emptied, ...rows].join('; '));
      const { status } = await ask(path, { method, body });
      const links = await cells('SELECT id, club, second FROM people ORDER BY id');
      return { status, links, rooms: await cells('SELECT id, site, room FROM keepers ORDER BY id') };
    }

    const people = '/items/people?fields=id';

    describe.each([
      { name: 'a new item', method: 'POST', path: people, bodyOf: (club: number) => ({ id: 10, name: 'x', club }) },
      {
        name: 'one of several new items',
        method: 'POST',
        path: people,
        bodyOf: (club: number) => [
          { id: 10, name: 'x', club: 1 },
          { id: 11, name: 'y' },
          { id: 12, name: 'z', club },
        ],
      },
      { name: 'an item', method: 'PATCH', path: '/items/people/2?fields=id', bodyOf: (club: number) => ({ club }) },
      {
        name: 'items by keys',
        method: 'PATCH',
        path: people,
        bodyOf: (club: number) => ({ keys: [2, 3], data: { club } }),
      },
      {
        name: 'items of a query',
        method: 'PATCH',
        path: people,
        bodyOf: (club: number) => ({ query: { filter: { id: { _gt: 1 } } }, data: { club } }),
      },
      {
        name: 'several items',
        method: 'PATCH',
        path: people,
        bodyOf: (club: number) => [
          { id: 2, name: 'B' },
          { id: 3, club },
        ],
      },
      {
        name: 'an upsert',
        method: 'POST',
        path: `${people}&on_conflict=id`,
        bodyOf: (club: number) => ({ id: 2, name: 'Bob', club }),
      },
      {
        name: 'an item below another',
        method: 'PATCH',
        path: '/items/people/2?fields=id',
        bodyOf: (club: number) => ({ people: { create: [{ id: 20, name: 'new', club }], update: [], delete: [] } }),
      },
      {
        name: 'a new item beside a new club',
        method: 'POST',
        path: people,
        bodyOf: (club: number) => ({ id: 10, name: 'x', club, second: { id: 50, name: 'made' } }),
      },
    ])('$name', ({ method, path, bodyOf }) => {
      it('links a visible club', async () => {
        const { status, links } = await sent(method, path, bodyOf(1));
        expect(status).toBe(200);
        expect(links.filter(([, club]) => String(club) === '1').length).toBeGreaterThan(1);
      });

      it.each([2, 4, 99])('refuses club %i, which is hidden or missing', async (club) => {
        const before = (await sent('PATCH', '/items/people/1?fields=id', { name: 'Ann' })).links;
        expect(await sent(method, path, bodyOf(club))).toMatchObject({ status: 403, links: before });
      });
    });

    it('links a club that the same request makes', async () => {
      const body = { id: 10, name: 'x', club: 50, second: { id: 50, name: 'made' } };
      const { status, links } = await sent('POST', people, body);
      expect(status).toBe(200);
      expect(links.map(String)).toContain('10,50,50');
    });

    it('judges a key of several columns by the parts that a change leaves alone', async () => {
      const change = (id: number, data: unknown) => sent('PATCH', `/items/keepers/${id}?fields=id`, data);
      const linked = await change(2, { room: 1 });
      expect(linked.status).toBe(200);
      expect(linked.rooms.map(String)).toContain('2,1,1');
      const refused = await change(2, { room: 2 });
      expect(refused.status).toBe(403);
      expect(refused.rooms.map(String)).toContain('2,1,');
      expect((await change(3, { site: 1, room: 2 })).status).toBe(403);
      expect((await change(3, { site: 1, room: 1 })).status).toBe(200);
      expect((await sent('POST', '/items/keepers?fields=id', { id: 9, site: 1, room: 2 })).status).toBe(403);
      const shared = { keys: [2], data: { room: 2 } };
      expect((await sent('PATCH', '/items/keepers?fields=id', shared)).status).toBe(403);
    });

    it.each([
      { link: { guild: '9007199254740993' }, status: 200 },
      { link: { guild: '9007199254740992' }, status: 403 },
      { link: { badge: 'gold' }, status: 200 },
      { link: { badge: '1' }, status: 403 },
    ])('compares keys exactly: $link', async ({ link, status }) => {
      expect((await sent('POST', '/items/holders?fields=id', { id: 9, ...link })).status).toBe(status);
      expect((await sent('PATCH', '/items/holders/2?fields=id', link)).status).toBe(status);
      expect((await sent('PATCH', '/items/holders?fields=id', { keys: [2], data: link })).status).toBe(status);
    });
  });
});
