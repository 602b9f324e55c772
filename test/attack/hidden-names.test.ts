/**
 * Links by what the caller may not read: keys of several columns of a hidden collection, and unique values that are hidden.
 * Existing and missing ones have one answer, so that no guess is confirmed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { allServers } from '../support/servers.ts';

const sql = `
  CREATE TABLE rooms (site integer NOT NULL, number integer NOT NULL, PRIMARY KEY (site, number));
  CREATE TABLE keepers (
    id integer PRIMARY KEY, site integer, room integer, FOREIGN KEY (site, room) REFERENCES rooms (site, number));
  CREATE TABLE people (
    id integer PRIMARY KEY, name varchar(20), email varchar(40) NOT NULL UNIQUE, open boolean NOT NULL);
  CREATE TABLE letters (
    id integer PRIMARY KEY, recipient varchar(40), FOREIGN KEY (recipient) REFERENCES people (email));
  CREATE TABLE friends (
    id integer PRIMARY KEY, name varchar(20), email varchar(40) NOT NULL UNIQUE, open boolean NOT NULL);
  CREATE TABLE cards (
    id integer PRIMARY KEY, recipient varchar(40), FOREIGN KEY (recipient) REFERENCES friends (email));
  INSERT INTO rooms VALUES (1, 1), (1, 2);
  INSERT INTO keepers VALUES (1, 1, NULL);
  INSERT INTO people VALUES (1, 'Ann', 'ann@example.com', true), (2, 'Bob', 'bob@example.com', false);
  INSERT INTO friends VALUES (1, 'Ann', 'ann@example.com', true), (2, 'Bob', 'bob@example.com', false);
  INSERT INTO letters VALUES (1, NULL);
  INSERT INTO cards VALUES (1, NULL);
`;

const permissions = `
permissions:
  public:
    keepers: { read: true, create: true, update: true }
    people: { read: { fields: [id, name] } }
    letters: { read: true, create: true, update: true }
    friends: { read: [{ fields: [id, name] }, { fields: [email], filter: { open: { _eq: true } } }] }
    cards: { read: true, create: true, update: true }
`;

describe.each(allServers)('on $name', ({ dialect, missing }) => {
  describe.skipIf(missing)('links by hidden values', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        project = await serveProject({ portable: true, sql, permissions });
      }),
    );
    afterAll(() => project?.close());

    const send = (method: string, path: string, body: unknown) => project.ask(`/items/${path}`, { method, body });

    it.each([
      ['keepers', { site: 1, room: 1 }, { site: 1, room: 9 }],
      ['letters', { recipient: 'ann@example.com' }, { recipient: 'eve@example.com' }],
      ['cards', { recipient: 'bob@example.com' }, { recipient: 'eve@example.com' }],
    ])('have one answer, whether or not they exist: %s', async (table, existing, absent) => {
      const pairs = [
        [await send('POST', table, { id: 10, ...existing }), await send('POST', table, { id: 10, ...absent })],
        [await send('PATCH', `${table}/1`, existing), await send('PATCH', `${table}/1`, absent)],
        [
          await send('POST', table, [{ id: 11 }, { id: 10, ...existing }]),
          await send('POST', table, [{ id: 10, ...absent }]),
        ],
      ] as const;
      for (const [first, second] of pairs) {
        expect(failure(first)).toBe('403 FORBIDDEN');
        expect(first.text).toBe(second.text);
      }
      expect((await project.cells(`SELECT id FROM ${table}`)).map(String)).toEqual(['1']);
    });

    it('are there where the caller names no or a visible one, and for administrators', async () => {
      const made = [
        await send('POST', 'keepers', { id: 20, site: 1 }),
        await send('POST', 'letters', { id: 20, recipient: null }),
        await send('POST', 'cards', { id: 20, recipient: 'ann@example.com' }),
        await project.admin('/items/keepers', { method: 'POST', body: { id: 21, site: 1, room: 2 } }),
        await project.admin('/items/letters', { method: 'POST', body: { id: 21, recipient: 'bob@example.com' } }),
      ];
      expect(made.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      const unknown = await project.admin('/items/letters', { method: 'POST', body: { id: 22, recipient: 'eve' } });
      expect([failure(unknown), unknown.json.errors[0].extensions.type]).toEqual([
        '400 FAILED_VALIDATION',
        'foreign_key',
      ]);
    });
  });
});
