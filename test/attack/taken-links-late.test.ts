/**
 * Values that a hidden row has taken, where the write itself could make the row that a link leads to: links into the own
 * collection, and trees. What was hidden before answers first there, too, and what the write makes is waited for.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOnMariadb, onServer } from '../support/contract-database.ts';
import { file, form } from '../support/files.ts';
import { whileHeld } from '../support/holding.ts';
import type { Answer } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { expectSameRefusal } from '../support/refusals.ts';
import { serverForms } from '../support/servers.ts';

const folders = `(
    id integer PRIMARY KEY, open boolean NOT NULL, parent integer, name varchar(20) NOT NULL, UNIQUE (parent, name),`;

const sql = `
  CREATE TABLE folders ${folders} FOREIGN KEY (parent) REFERENCES folders (id));
  CREATE TABLE pages (id integer PRIMARY KEY, folder integer NOT NULL, FOREIGN KEY (folder) REFERENCES folders (id));
  CREATE TABLE tags (id integer PRIMARY KEY, note varchar(20));
  CREATE TABLE folders_tags (
    folder integer, tag integer, place integer NOT NULL, PRIMARY KEY (folder, tag),
    FOREIGN KEY (folder) REFERENCES folders (id), FOREIGN KEY (tag) REFERENCES tags (id));
  CREATE TABLE shelves ${folders} FOREIGN KEY (parent) REFERENCES shelves (id));
  CREATE TABLE rings (
    id integer PRIMARY KEY, open boolean NOT NULL, following integer, code varchar(20) NOT NULL UNIQUE,
    FOREIGN KEY (following) REFERENCES rings (id));
  CREATE TABLE clubs (id integer PRIMARY KEY, open boolean NOT NULL);
  CREATE TABLE people (id integer PRIMARY KEY, note varchar(20));
  CREATE TABLE seats (
    id integer PRIMARY KEY, person integer, club integer, name varchar(20) NOT NULL, UNIQUE (club, name),
    FOREIGN KEY (person) REFERENCES people (id), FOREIGN KEY (club) REFERENCES clubs (id));
  CREATE TABLE home (id integer PRIMARY KEY, name varchar(20));
  CREATE TABLE doors (
    id integer PRIMARY KEY, home integer, club integer, name varchar(20) NOT NULL, UNIQUE (club, name),
    FOREIGN KEY (home) REFERENCES home (id), FOREIGN KEY (club) REFERENCES clubs (id));
  CREATE TABLE matches (
    id integer PRIMARY KEY, host integer, guest integer, name varchar(20) NOT NULL, UNIQUE (guest, name),
    FOREIGN KEY (host) REFERENCES clubs (id), FOREIGN KEY (guest) REFERENCES clubs (id));
  CREATE TABLE drawers ${folders} FOREIGN KEY (parent) REFERENCES drawers (id));
  CREATE TABLE chests ${folders} FOREIGN KEY (parent) REFERENCES chests (id));
  CREATE TABLE trees (id integer PRIMARY KEY, note varchar(20));
  CREATE TABLE branches (
    tree integer, id integer, open boolean NOT NULL, parent integer, name varchar(20) NOT NULL,
    PRIMARY KEY (tree, id), UNIQUE (tree, parent, name), FOREIGN KEY (tree) REFERENCES trees (id),
    FOREIGN KEY (tree, parent) REFERENCES branches (tree, id));
`;

/** Triggers that refuse one row, and leave out another where the server can. */
const triggers = {
  postgres: `
    ALTER TABLE folders ADD address inet;
    CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.id = 66 THEN RAISE EXCEPTION 'No.'; END IF;
      IF NEW.id = 67 THEN RAISE EXCEPTION 'No.' USING ERRCODE = 'TW422'; END IF;
      IF NEW.id = 68 THEN RETURN NULL; END IF;
      RETURN NEW; END $$;
    CREATE TRIGGER judged BEFORE INSERT ON folders FOR EACH ROW EXECUTE FUNCTION judge();`,
  mysql: `
    CREATE TRIGGER judged BEFORE INSERT ON folders FOR EACH ROW BEGIN
      IF NEW.id = 66 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'No.'; END IF;
      IF NEW.id = 67 THEN SIGNAL SQLSTATE 'TW422' SET MESSAGE_TEXT = 'No.'; END IF; END;`,
};

const emptied = ['matches', 'doors', 'home', 'seats', 'people', 'clubs'].map((table) => `DELETE FROM ${table}`);
const rows = [
  'DELETE FROM pages',
  'DELETE FROM folders_tags',
  'DELETE FROM tags',
  'INSERT INTO tags VALUES (1, NULL)',
  'UPDATE rings SET following = NULL',
  'DELETE FROM rings',
  "INSERT INTO rings VALUES (1, true, NULL, 'taken')",
  ...['folders', 'shelves', 'drawers', 'chests'].flatMap((table) => [
    `UPDATE ${table} SET parent = NULL`,
    `DELETE FROM ${table}`,
    `INSERT INTO ${table} VALUES (1, true, NULL, 'root'), (2, false, NULL, 'secret')`,
    `INSERT INTO ${table} VALUES (3, true, 1, 'ann'), (4, false, 2, 'bob')`,
  ]),
  'INSERT INTO pages VALUES (1, 3)',
  ...emptied,
  'INSERT INTO clubs VALUES (1, true), (2, false)',
  'INSERT INTO people VALUES (1, NULL)',
  "INSERT INTO seats VALUES (1, NULL, 2, 'bob')",
  "INSERT INTO home VALUES (1, 'home')",
  "INSERT INTO doors VALUES (1, NULL, 2, 'bob')",
  "INSERT INTO matches VALUES (1, NULL, 2, 'bob'), (5, 1, 1, 'eve')",
  'UPDATE branches SET parent = NULL',
  'DELETE FROM branches',
  'DELETE FROM trees',
  'INSERT INTO trees VALUES (1, NULL)',
  "INSERT INTO branches VALUES (1, 1, true, NULL, 'root'), (1, 2, false, NULL, 'secret')",
  "INSERT INTO branches VALUES (1, 3, true, 1, 'ann'), (1, 4, false, 2, 'bob')",
];

const permissions = `
permissions:
  public:
    folders:
      read: { fields: '*', filter: { open: { _eq: true } } }
      create: true
      update: { fields: '*', filter: { open: { _eq: true } }, validation: {} }
    pages: { read: true, create: true, update: true }
    tags: { read: true }
    folders_tags: { read: true, create: true }
    chests:
      read: { fields: '*', filter: { open: { _eq: true } } }
      update: { fields: [id, parent, name] }
    shelves:
      read: true
      create: &inOpen
        { fields: '*', validation: { _or: [{ parent: { _null: true } }, { parent: { open: { _eq: true } } }] } }
      update: *inOpen
    rings:
      read: true
      create: { fields: '*', validation: { following: { open: { _eq: true } } } }
      update: true
    clubs: { read: { fields: '*', filter: { open: { _eq: true } } }, create: true, update: true }
    matches: { read: true, create: true, update: true }
    drawers: { read: { fields: '*', filter: { open: { _eq: true } } }, create: true, update: true }
    trees: { read: true, update: true }
    branches:
      read: { fields: '*', filter: { open: { _eq: true } } }
      create: { fields: '*', presets: { tree: 1 } }
      update: true
    people: { read: true, update: true }
    seats: { read: { fields: '*', filter: { club: { open: { _eq: true } } } }, create: true }
    home: { read: true, update: true }
    doors: { read: { fields: '*', filter: { club: { open: { _eq: true } } } }, create: true }
`;

describe.each(serverForms)('on $name, $form', ({ dialect, missing, environment }) => {
  describe.skipIf(missing)('a unique key', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        project = await serveProject({
          system: true,
          disturbed: true,
          sql: sql + triggers[isOnMariadb() ? 'mysql' : 'postgres'],
          permissions,
          environment,
          config: '{ collections: { home: { singleton: true } } }',
        });
      }),
    );
    afterAll(() => project?.close());

    async function send(method: string, path: string, body: unknown): Promise<Answer> {
      await project.rows(rows.join('; '));
      return project.ask(path, { method, body });
    }

    const told = (answer: Answer) => [failure(answer), answer.json?.errors?.[0]?.extensions.type];

    const branch = (created: object) => ({ branches: { create: [{ open: true, ...created }] } });
    const inside = (name: string) => ({ id: 10, open: true, parent: 2, name });
    it.each(
      ['folders', 'shelves'].flatMap((table) => [
        [table, 'POST', '', inside] as const,
        [table, 'POST', '?on_conflict=id', inside] as const,
        [table, 'POST', '', (name: string) => [{ ...inside('x'), id: 11, parent: 1 }, inside(name)]] as const,
        [table, 'POST', '', (name: string) => [inside(name), { ...inside('x'), id: 11, parent: 10 }]] as const,
        [table, 'POST', '', (name: string) => ({ ...inside(name), [table]: [{ id: 11, open: true, name: 'x' }] })],
        [table, 'PATCH', '/3', (name: string) => ({ parent: 2, name })] as const,
        [table, 'PATCH', '', (name: string) => ({ keys: [3], data: { parent: 2, name } })] as const,
        [table, 'PATCH', '', (name: string) => ({ query: { filter: { id: { _eq: 3 } } }, data: { parent: 2, name } })],
        [
          table,
          'PATCH',
          '',
          (name: string) => [
            { id: 1, name: 'x' },
            { id: 3, parent: 2, name },
          ],
        ] as const,
      ]),
    )('tells nothing of what is in hidden %s: %s %s', async (table, method, rest, bodyOf) => {
      const [taken, free] = [
        await send(method, `/items/${table}${rest}`, bodyOf('bob')),
        await send(method, `/items/${table}${rest}`, bodyOf('new')),
      ];
      expectSameRefusal(taken, free);
    });

    it.each([
      ['people/1', 'seats'],
      ['home', 'doors'],
    ])('tells nothing of hidden clubs below %s, where others are made', async (path, table) => {
      const bodyOf = (name: string) => ({
        [table]: {
          create: [
            { id: 10, club: 2, name },
            { id: 11, club: { id: 9, open: true }, name: 'x' },
          ],
        },
      });
      const [taken, free] = [
        await send('PATCH', `/items/${path}`, bodyOf('bob')),
        await send('PATCH', `/items/${path}`, bodyOf('new')),
      ];
      expect(failure(free)).toBe('403 FORBIDDEN');
      expectSameRefusal(taken, free);
    });

    const inFolder = (parent: number) => ({ id: 10, open: true, parent, name: 'x' });
    const below = (parent: number, folder: object) => ({ ...inFolder(parent), folders: [folder] });
    it.each([
      ['POST', '/items/folders', (parent: number) => ({ id: 3, open: true, parent, name: 'x' })] as const,
      ['PATCH', '/items/trees/1', (parent: number) => branch({ id: 3, parent, name: 'x' })] as const,
      [
        'POST',
        '/items/folders',
        (parent: number) => below(parent, { id: 11, open: true, parent: 99, name: 'y' }),
      ] as const,
      ['PATCH', '/items/folders/3', (parent: number) => ({ parent, pages: [] })] as const,
      ['POST', '/items/folders', (parent: number) => ({ ...inFolder(parent), tags: [1] })] as const,
      ...[66, 67, 68].flatMap((id) => [
        ['POST', '/items/folders', (parent: number) => [inFolder(parent), { id, open: true, name: 'y' }]] as const,
        ['POST', '/items/folders', (parent: number) => below(parent, { id, open: true, name: 'y' })] as const,
      ]),
      ...(dialect === null && !isOnMariadb()
        ? [
            [
              'POST',
              '/items/folders',
              (parent: number) => below(parent, { id: 11, open: true, name: 'y', address: 'nonsense' }),
            ] as const,
          ]
        : []),
    ])('tells hidden rows not from missing ones: %s %s', async (method, path, bodyOf) => {
      const [hidden, absent] = [await send(method, path, bodyOf(2)), await send(method, path, bodyOf(9))];
      expect(failure(hidden)).toBe('403 FORBIDDEN');
      expectSameRefusal(absent, hidden);
    });

    it.each([
      [{ update: [{ id: 5 }] }, (guest: number) => ({ update: [{ id: 5, guest }] })],
      [{ upsert: [{ id: 10 }] }, (guest: number) => ({ create: [{ id: 10, guest, name: 'x' }] })],
    ])('tells hidden rows not from missing ones where it links an item elsewhere, too: %j', async (again, stated) => {
      const bodyOf = (guest: number) => ({ matches_by_host: stated(guest), matches_by_guest: again });
      const [hidden, absent] = [
        await send('PATCH', '/items/clubs/1', bodyOf(2)),
        await send('PATCH', '/items/clubs/1', bodyOf(9)),
      ];
      expect(failure(hidden)).toBe('403 FORBIDDEN');
      expectSameRefusal(absent, hidden);
      expect((await send('PATCH', '/items/clubs/1', bodyOf(1))).status).toBe(200);
      const opened = [
        { id: 2, open: true },
        { id: 1, ...bodyOf(2) },
      ];
      expect((await send('PATCH', '/items/clubs', opened)).status).toBe(200);
    });

    it('tells hidden rows not from missing ones where an item is written above and below itself', async () => {
      const below = { update: [{ id: 1, folders: { update: [{ id: 3 }] } }] };
      const [hidden, absent] = [
        await send('PATCH', '/items/folders/3', { parent: 2, folders: below }),
        await send('PATCH', '/items/folders/3', { parent: 9, folders: below }),
      ];
      expect(failure(hidden)).toBe('403 FORBIDDEN');
      expectSameRefusal(absent, hidden);
      expect((await send('PATCH', '/items/folders/3', { parent: 1, folders: below })).status).toBe(200);
    });

    it('tells nothing of a hidden row that the request changes, but does not make readable', async () => {
      const bodyOf = (name: string) => [
        { id: 2, name: 'secret' },
        { id: 3, parent: 2, name },
      ];
      const [taken, free] = [
        await send('PATCH', '/items/chests', bodyOf('bob')),
        await send('PATCH', '/items/chests', bodyOf('new')),
      ];
      expect(failure(free)).toBe('403 FORBIDDEN');
      expectSameRefusal(taken, free);
    });

    it('tells nothing of links of which an item above gives a part', async () => {
      const write = (name: string) => send('PATCH', '/items/trees/1', branch({ id: 10, parent: 2, name }));
      const [taken, free] = [await write('bob'), await write('new')];
      expect(failure(free)).toBe('403 FORBIDDEN');
      expectSameRefusal(taken, free);
      const open = await send('PATCH', '/items/trees/1', branch({ id: 10, parent: 1, name: 'ann' }));
      expect(told(open)).toEqual(['400 FAILED_VALIDATION', 'unique']);
    });

    it.each([
      [
        '/items/drawers',
        (name: string) => [
          { id: 2, open: true },
          { id: 3, parent: 2, name },
        ],
      ],
      ['/items/clubs/2', (name: string) => ({ open: true, matches_by_host: { create: [{ id: 10, guest: 2, name }] } })],
    ] as const)('is told where the request makes a hidden row readable: %s', async (path, bodyOf) => {
      expect((await send('PATCH', path, bodyOf('new'))).status).toBe(200);
      expect(told(await send('PATCH', path, bodyOf('bob')))).toEqual(['400 FAILED_VALIDATION', 'unique']);
    });

    const made = [
      { id: 20, open: true, name: 'top' },
      { id: 21, open: true, parent: 20, name: 'below' },
    ];
    it.each([
      ['folders', 'id'],
      ['shelves', 'id'],
      ['branches', 'tree,id'],
    ])('is told where other rows of the request make what links lead to: %s', async (table, key) => {
      expect((await send('POST', `/items/${table}`, made)).status).toBe(200);
      const taken = { id: 22, open: true, parent: 1, name: 'ann' };
      for (const items of [
        [...made, taken],
        [taken, ...made.toReversed()],
      ])
        expect(told(await send('POST', `/items/${table}`, items))).toEqual(['400 FAILED_VALIDATION', 'unique']);
      expect(told(await send('POST', `/items/${table}?on_conflict=${key}`, [...made, taken]))).toEqual([
        ...['400 FAILED_VALIDATION', 'unique'],
      ]);
      await project.rows(rows.join('; '));
      const part = file(JSON.stringify([...made, taken]), 'items.json', 'application/json');
      const imported = await project.ask(`/utils/import/${table}`, { method: 'POST', body: form(part) });
      expect(told(imported)).toEqual(['400 FAILED_VALIDATION', 'unique']);
    });

    it('is told where another change of the request opens what a link leads to', async () => {
      await project.rows(rows.join('; '));
      const changes = (name: string) => [
        { id: 2, open: true },
        { id: 3, parent: 2, name },
      ];
      expect((await send('PATCH', '/items/shelves', changes('new'))).status).toBe(200);
      expect(told(await send('PATCH', '/items/shelves', changes('bob')))).toEqual(['400 FAILED_VALIDATION', 'unique']);
    });

    it('is told where items link each other in a circle', async () => {
      const circle = (code: string) => ({
        ...{ id: 10, open: true, code: 'first' },
        following: { id: 11, open: true, code, following: 10 },
      });
      expect((await send('POST', '/items/rings', circle('second'))).status).toBe(200);
      expect(told(await send('POST', '/items/rings', circle('taken')))).toEqual(['400 FAILED_VALIDATION', 'unique']);
    });

    it.skipIf(dialect !== null)('keeps no import from being done that another request overtakes', async () => {
      await project.rows(rows.join('; '));
      const other = { before: "INSERT INTO shelves VALUES (23, true, NULL, 'other')" };
      const items = [...made, { id: 23, open: true, name: 'mine' }];
      const imported = await whileHeld(project.database.url, other, () => {
        const part = file(JSON.stringify(items), 'items.json', 'application/json');
        return project.ask('/utils/import/shelves', { method: 'POST', body: form(part) });
      });
      expect([imported.status < 300, imported.text]).toEqual([true, '']);
      expect(await project.cells('SELECT name FROM shelves WHERE id > 19 ORDER BY id')).toEqual([
        ['top'],
        ['below'],
        ['mine'],
      ]);
    });
  });
});
