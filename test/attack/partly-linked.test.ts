/**
 * Links by several columns of which the item above sets a part, and the payload the rest: they lead to items that the
 * caller may read, as all links do.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { allServers } from '../support/servers.ts';

const sql = `
  CREATE TABLE sites (id integer PRIMARY KEY, name varchar(20));
  CREATE TABLE rooms (
    site integer NOT NULL REFERENCES sites, number integer NOT NULL, open boolean NOT NULL, PRIMARY KEY (site, number));
  CREATE TABLE keepers (
    id integer PRIMARY KEY, site integer REFERENCES sites, room integer,
    FOREIGN KEY (site, room) REFERENCES rooms (site, number));
`;

const rows = [
  'DELETE FROM keepers',
  'DELETE FROM rooms',
  'DELETE FROM sites',
  "INSERT INTO sites VALUES (1, 'a'), (2, 'b')",
  'INSERT INTO rooms VALUES (1, 1, true), (1, 2, false), (2, 1, false)',
  'INSERT INTO keepers VALUES (1, 1, 1), (2, NULL, NULL)',
];

const reads = [
  '{ open: { _eq: true } }',
  '{ _or: [{ open: { _eq: true } }, { keepers: { _some: { id: { _gt: 1 } } } }] }',
];

describe.each(allServers)('on $name', ({ dialect, missing }) => {
  describe.skipIf(missing).each(reads)('where rooms are read by %s', (filter) => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        project = await serveProject({
          sql,
          portable: true,
          permissions: `
permissions:
  public:
    sites: { read: true, create: true, update: true }
    rooms: { read: { fields: '*', filter: ${filter} }, create: true }
    keepers: { read: true, create: true, update: true }`,
        });
      }),
    );
    afterAll(() => project?.close());

    async function sent(method: string, path: string, body: unknown) {
      await project.rows(rows.join('; '));
      const answer = await project.ask(path, { method, body });
      const keepers = await project.cells('SELECT id, room FROM keepers WHERE site IS NOT NULL ORDER BY id');
      return { told: answer.status < 300 ? 'done' : failure(answer), keepers: keepers.map(String) };
    }

    it.each([
      ['a new item', '/items/sites/1', { keepers: { create: [{ id: 10, room: 2 }] } }],
      [
        'one of several',
        '/items/sites/1',
        {
          keepers: {
            create: [
              { id: 10, room: 1 },
              { id: 11, room: 2 },
            ],
          },
        },
      ],
      ['a stored item', '/items/sites/1', { keepers: { update: [{ id: 2, room: 2 }] } }],
      ['an item that comes with its room', '/items/sites/2', { keepers: { update: [{ id: 1 }] } }],
      ['a missing room', '/items/sites/1', { keepers: { create: [{ id: 10, room: 9 }] } }],
    ])('refuses %s', async (_, path, body) => {
      expect(await sent('PATCH', path, body)).toEqual({ told: '403 FORBIDDEN', keepers: ['1,1'] });
    });

    it.each([
      ['a readable room', 'PATCH', '/items/sites/1', { keepers: { create: [{ id: 10, room: 1 }] } }],
      ['no room', 'PATCH', '/items/sites/1', { keepers: { create: [{ id: 10 }] } }],
      [
        'a room that the request makes',
        'POST',
        '/items/sites',
        { id: 5, rooms: [{ number: 1, open: true }], keepers: [{ id: 10, room: 1 }] },
      ],
    ])('links %s', async (_, method, path, body) => {
      expect((await sent(method, path, body)).told).toBe('done');
    });
  });
});
