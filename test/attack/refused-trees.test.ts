/**
 * Refused trees whose steps a hidden row decides: it has a unique key that an earlier step writes, or the key of an item. The
 * answer is that of a request where the row is missing, as long as anything else refuses the request.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { expectSameRefusal } from '../support/refusals.ts';
import { serverForms } from '../support/servers.ts';

const books = 'INSERT INTO books VALUES (1, 1, 0, 9), (2, NULL, 0, 9), (3, NULL, 1, 9), (4, NULL, 1, 0);';
const rods = 'INSERT INTO rods VALUES (1, 1, -1), (2, 3, 1), (3, 3, 1), (4, 3, 1), (5, NULL, 1);';

const sql = `
  CREATE TABLE lists (id integer PRIMARY KEY, open boolean NOT NULL);
  CREATE TABLE entries (
    id integer PRIMARY KEY, list integer NOT NULL REFERENCES lists, name varchar(20) NOT NULL, size integer,
    parent integer REFERENCES entries, UNIQUE (list, name));
  CREATE TABLE kinds (id integer PRIMARY KEY, label varchar(20) NOT NULL);
  CREATE TABLE parts (
    id integer PRIMARY KEY, entry integer REFERENCES entries, kind integer REFERENCES kinds, size integer,
    code varchar(20) UNIQUE);
  CREATE TABLE shelves (
    id integer PRIMARY KEY, list integer NOT NULL REFERENCES lists, name varchar(20) NOT NULL, UNIQUE (list, name));
  CREATE TABLE racks (
    id integer PRIMARY KEY, list integer NOT NULL REFERENCES lists, name varchar(20) NOT NULL, UNIQUE (list, name));
  CREATE TABLE rods (id integer PRIMARY KEY, rack integer REFERENCES racks, size integer);
  CREATE TABLE books (id integer PRIMARY KEY, shelf integer REFERENCES shelves, size integer, pages integer);
  INSERT INTO lists VALUES (1, true), (2, false);
  INSERT INTO entries VALUES (1, 1, 'ann', 1, NULL), (2, 2, 'bob', 1, NULL);
  INSERT INTO kinds VALUES (1, 'good'), (2, 'bad');
  INSERT INTO parts VALUES (1, 1, 1, 1, 'ann'), (2, 2, 1, 1, 'bob'), (3, NULL, 2, 0, NULL);
  INSERT INTO shelves VALUES (1, 1, 'ann'), (2, 2, 'bob');
  ${books}
  INSERT INTO racks VALUES (1, 1, 'ann'), (2, 2, 'bob'), (3, 1, 'cid');
  ${rods}
`;

const isFree = '{ _or: [{ entry: { _null: true } }, { entry: { list: { open: { _eq: true } } } }] }';
const permissions = `
permissions:
  public:
    lists: { read: true }
    kinds: { read: true }
    entries:
      read: { fields: '*', filter: { list: { open: { _eq: true } } } }
      create: { fields: '*', validation: { parent: { size: { _gt: 0 } } } }
      update: { fields: '*', filter: { list: { open: { _eq: true } } }, validation: {} }
    parts:
      read: { fields: '*', filter: ${isFree} }
      create: { fields: '*', validation: { kind: { label: { _eq: good } } } }
      update:
        fields: '*'
        filter: ${isFree}
        validation: { _and: [{ size: { _gt: 0 } }, { kind: { label: { _eq: good } } }] }
    shelves:
      read: { fields: '*', filter: { list: { open: { _eq: true } } } }
      update:
        fields: '*'
        filter: { list: { open: { _eq: true } } }
        validation: { books: { _some: { size: { _gt: 0 }, pages: { _gt: 0 } } } }
    books: { read: true, create: true, update: true }
    racks:
      read: { fields: '*', filter: { list: { open: { _eq: true } } } }
      update:
        fields: '*'
        filter: { list: { open: { _eq: true } } }
        validation: { rods: { _none: { size: { _lt: 0 } } }, 'count(rods)': { _lte: 2 } }
    rods: { read: true, create: true, update: true }
`;

describe.each(serverForms)('on $name, $form', ({ dialect, missing, environment }) => {
  describe.skipIf(missing)('a refused tree', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        project = await serveProject({ portable: true, sql, permissions, environment });
      }),
    );
    afterAll(() => project?.close());

    const above = (name: string) => ({ id: 10, list: 2, name, size: 1, parent: 1 });
    const [forbidden, size, kind] = ['403 FORBIDDEN', 'gt', 'eq'];

    it.each([
      ['PATCH', 'parts/2', (name: string) => ({ entry: above(name) }), forbidden],
      ['PATCH', 'parts/99', (name: string) => ({ entry: above(name) }), forbidden],
      ['PATCH', 'parts/2', (name: string) => ({ entry: { id: 1, list: 2, name } }), forbidden],
      ['PATCH', 'parts/3', (name: string) => ({ entry: above(name), kind: 1 }), size],
      ['PATCH', 'parts/1', (name: string) => ({ entry: above(name), kind: 2 }), kind],
      ['PATCH', 'parts', (name: string) => [{ id: 1, entry: above(name) }, { id: 2 }], forbidden],
      ['POST', 'parts', (name: string) => ({ id: 10, entry: above(name), kind: 2 }), kind],
      ['POST', 'parts', (name: string) => ({ id: 10, entry: { ...above(name), parent: 99 }, kind: 1 }), forbidden],
    ])('tells nothing of the key of an object that is written first: %s %s, %#', async (method, path, bodyOf, told) => {
      const send = (name: string) => project.ask(`/items/${path}`, { method, body: bodyOf(name) });
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
      expect(told === forbidden ? failure(free) : free.json.errors[0].extensions.type).toBe(told);
    });

    it.each([
      (name: string) => ({ ...above(name), parts: [{ id: 10, entry: 1, kind: 1 }] }),
      (name: string) => ({ id: 11, list: 1, name: 'new', parent: { ...above(name), parts: [{ id: 10, entry: 11 }] } }),
    ])('tells nothing of a hidden row beside what contradicts itself: %#', async (bodyOf) => {
      const send = (name: string) => project.ask('/items/entries', { method: 'POST', body: bodyOf(name) });
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
      expect(failure(free)).toBe('400 INVALID_PAYLOAD');
    });

    it('tells nothing of a hidden row beside items to be removed that are not there', async () => {
      const send = (name: string, part: number) => {
        const body = { list: 2, name, parts: { delete: [part] } };
        return project.ask('/items/entries/1', { method: 'PATCH', body });
      };
      const [taken, free] = [await send('bob', 99), await send('new', 99)];
      expectSameRefusal(taken, free);
      expectSameRefusal(await send('bob', 2), free);
      expect(failure(free)).toBe('403 FORBIDDEN');
    });

    it.each([
      ['entries/1', (id: number) => ({ parts: [{ id, size: 1, kind: 2 }] })],
      ['entries/1', (id: number) => ({ parts: { upsert: [{ id, size: 1, kind: 2 }] } })],
      ['entries/1', (id: number) => ({ parts: [{ id, size: 1, kind: 99 }] })],
    ])(
      'refuses an object with the key of a hidden row as a new one, as far as that is refused: %s, %#',
      async (path, bodyOf) => {
        const send = (id: number) => project.ask(`/items/${path}`, { method: 'PATCH', body: bodyOf(id) });
        expectSameRefusal(await send(2), await send(99));
      },
    );

    it('refuses an object with the key of a hidden row, where nothing else is wrong', async () => {
      const body = { parts: { upsert: [{ id: 2, size: 1, kind: 1 }] } };
      expect(failure(await project.ask('/items/entries/1', { method: 'PATCH', body }))).toBe('403 FORBIDDEN');
      expect(await project.rows('SELECT entry FROM parts WHERE id = 2')).toEqual([{ entry: 2 }]);
    });

    it('tells nothing of a hidden row beside a new item that is hidden from what links it', async () => {
      const send = (name: string) => {
        const body = { id: 10, list: 2, name, size: 1, parent: 10 };
        return project.ask('/items/entries', { method: 'POST', body });
      };
      const [taken, free] = [await send('bob'), await send('other')];
      expectSameRefusal(taken, free);
      expect(failure(free)).toBe('403 FORBIDDEN');
    });

    it.each([
      (id: number) => ({ id, list: 99, name: 'new', parent: 1 }),
      (id: number) => [
        { id, list: 1, name: 'new', parent: 1 },
        { id: 11, list: 99, name: 'new', parent: 1 },
      ],
      (id: number) => ({ id: 11, list: 99, name: 'new', parent: { id, list: 1, name: 'new', size: 1, parent: 1 } }),
    ])('tells nothing of a hidden row beside a link to a row that is missing: %#', async (bodyOf) => {
      const send = (id: number) => project.ask('/items/entries', { method: 'POST', body: bodyOf(id) });
      const [taken, free] = [await send(2), await send(10)];
      expectSameRefusal(taken, free);
      expect(free.json.errors).toMatchObject([{ extensions: { field: 'list', type: 'foreign_key' } }]);
      expect(free.json.errors[0].message).toContain('"99"');
    });

    it.each([
      ['shelves/1', (name: string) => ({ list: 2, name, books: [] })],
      ['shelves/1', (name: string) => ({ list: 2, name, books: [1, 2] })],
      ['shelves/1', (name: string) => ({ list: 2, name, books: { update: [{ id: 4, size: 5 }] } })],
      ['shelves/1', (name: string) => ({ list: 2, name, books: { create: [{ id: 10, size: 0, pages: 1 }] } })],
      ['books/2', (name: string) => ({ shelf: { id: 1, list: 2, name } })],
      ['racks/1', (name: string) => ({ list: 2, name, rods: { create: [{ id: 10, size: 1 }] } }), 'lt'],
      ['racks/3', (name: string) => ({ list: 2, name, rods: { update: [{ id: 5 }] } }), 'lte'],
      [
        'racks',
        (name: string) => [
          { id: 1, list: 2, name },
          { id: 3, rods: [2] },
        ],
        'lt',
      ],
    ])(
      'tells nothing of a hidden row beside a rule about items below that the request writes: %s %#',
      async (path, bodyOf, type = 'check') => {
        const send = (name: string) => project.ask(`/items/${path}`, { method: 'PATCH', body: bodyOf(name) });
        const [taken, free] = [await send('bob'), await send('new')];
        expectSameRefusal(taken, free);
        expect(free.json.errors).toMatchObject([{ extensions: { type } }]);
      },
    );

    const restored = `
      DELETE FROM books; UPDATE shelves SET list = 1, name = 'ann' WHERE id = 1; ${books}
      DELETE FROM rods; UPDATE racks SET list = 1, name = 'ann' WHERE id = 1; ${rods}
      UPDATE racks SET list = 1, name = 'cid' WHERE id = 3`;
    it.each([
      ['shelves/1', { books: { update: [{ id: 3 }] } }],
      ['shelves/1', { books: { update: [{ id: 2, size: 1 }] } }],
      ['shelves/1', { books: { create: [{ id: 10, size: 1, pages: 1 }] } }],
      ['racks/1', { rods: [] }],
      ['racks/1', { rods: { update: [{ id: 1, size: 1 }] } }],
      ['racks/1', { rods: { delete: [1] } }],
      ['racks/3', { rods: [2, 3] }],
    ])('is told where items below meet the rule that the request writes: %s %j', async (path, below) => {
      const send = (name: string) =>
        project.ask(`/items/${path}`, { method: 'PATCH', body: { list: 2, name, ...below } });
      expect((await send('bob')).json.errors).toMatchObject([{ extensions: { type: 'unique' } }]);
      expect((await send('new')).status).toBeLessThan(300);
      await project.rows(restored);
    });

    it('tells nothing of a hidden row beside rules about other items of the request', async () => {
      const send = (name: string) => {
        const body = [
          { id: 11, list: 1, name: 'new', size: 0, parent: 1 },
          { id: 10, list: 2, name, parent: 11 },
        ];
        return project.ask('/items/entries', { method: 'POST', body });
      };
      const [taken, free] = [await send('bob'), await send('other')];
      expectSameRefusal(taken, free);
      expect(free.json.errors).toMatchObject([{ extensions: { field: 'parent', type: 'gt', index: 1 } }]);
    });
  });
});
