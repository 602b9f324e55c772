/**
 * Values that a hidden row has taken: rules and links come before constraints, so a unique key tells nothing of rows that
 * the caller may not write in any case.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOnMariadb, onServer } from '../support/contract-database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { expectSameRefusal } from '../support/refusals.ts';
import { serverForms } from '../support/servers.ts';

const sql = `
  CREATE TABLE clubs (id integer PRIMARY KEY, open boolean NOT NULL);
  CREATE TABLE people (id integer PRIMARY KEY, note varchar(20));
  CREATE TABLE seats (
    id integer PRIMARY KEY, person integer REFERENCES people, club integer NOT NULL REFERENCES clubs, name varchar(20) NOT NULL, UNIQUE (club, name));
  CREATE TABLE benches (id integer PRIMARY KEY, club integer REFERENCES clubs, person integer REFERENCES people);
  CREATE TABLE lists (id integer PRIMARY KEY, open boolean NOT NULL);
  CREATE TABLE entries (
    id integer PRIMARY KEY, person integer REFERENCES people, list integer NOT NULL REFERENCES lists, name varchar(20) NOT NULL, UNIQUE (list, name));
  CREATE TABLE tickets (
    id integer PRIMARY KEY, code integer, kind varchar(9) NOT NULL DEFAULT 'club', name varchar(20) UNIQUE,
    club integer GENERATED ALWAYS AS (CASE kind WHEN 'club' THEN code - 10 END) STORED,
    FOREIGN KEY (club) REFERENCES clubs (id));
  CREATE TABLE vaults (id integer PRIMARY KEY);
  CREATE TABLE hooks (
    id integer PRIMARY KEY, code integer, vault integer GENERATED ALWAYS AS (code + 0) STORED,
    FOREIGN KEY (vault) REFERENCES vaults (id));
  INSERT INTO vaults VALUES (1);
  CREATE TABLE labels (
    id integer PRIMARY KEY, size integer NOT NULL, total integer GENERATED ALWAYS AS (size * 2) STORED,
    name varchar(20) NOT NULL, UNIQUE (size, name));
  INSERT INTO clubs VALUES (1, true), (2, false);
  INSERT INTO labels (id, size, name) VALUES (1, 1, 'ann'), (2, 2, 'bob'), (3, 1, 'cid');
  INSERT INTO tickets (id, code, kind, name) VALUES (1, 11, 'club', 'ann'), (2, 12, 'club', 'bob'), (3, 12, 'none', NULL), (4, 19, 'none', NULL);
  INSERT INTO people VALUES (1, NULL);
  INSERT INTO seats (id, club, name) VALUES (1, 1, 'ann'), (2, 2, 'bob'), (3, 1, 'cid');
  INSERT INTO lists VALUES (1, true), (2, false);
  INSERT INTO entries (id, list, name) VALUES (1, 1, 'ann'), (2, 2, 'bob'), (3, 1, 'cid');
`;

/** A trigger that refuses one row. */
const refusing = {
  postgres: `
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.id = 66 THEN RAISE EXCEPTION 'No.'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER refused BEFORE INSERT ON benches FOR EACH ROW EXECUTE FUNCTION refuse();`,
  mysql: `
    CREATE TRIGGER refused BEFORE INSERT ON benches FOR EACH ROW BEGIN
      IF NEW.id = 66 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'No.'; END IF; END;`,
};

const permissions = `
permissions:
  public:
    clubs: { read: { fields: '*', filter: { open: { _eq: true } } } }
    people: { read: true, create: true, update: true }
    seats:
      read: { fields: '*', filter: { club: { open: { _eq: true } } } }
      create: true
      update: { fields: '*', filter: { club: { open: { _eq: true } } }, validation: {} }
    benches: { read: true, create: true, update: true }
    labels:
      read: { fields: '*', filter: { total: { _lt: 4 } } }
      create: { fields: '*', validation: { total: { _lt: 4 } } }
      update: { fields: '*', filter: { total: { _lt: 4 } } }
    tickets: { read: true, create: true, update: true }
    hooks: { read: true, create: true }
    lists: { read: true }
    entries:
      read: { fields: '*', filter: { list: { open: { _eq: true } } } }
      create: { fields: '*', validation: { list: { open: { _eq: true } } } }
      update: { fields: '*', filter: { list: { open: { _eq: true } } } }
`;

describe.each(serverForms)('on $name, $form', ({ dialect, missing, environment }) => {
  describe.skipIf(missing)('a unique key', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        project = await serveProject({
          portable: true,
          sql: sql + refusing[isOnMariadb() ? 'mysql' : 'postgres'],
          permissions,
          environment,
        });
      }),
    );
    afterAll(() => project?.close());

    const send = (method: string, path: string, body: unknown) => project.ask(path, { method, body });

    const bodies = (link: string) => [
      ['POST', '?on_conflict=id', (name: string) => ({ id: 10, [link]: 2, name })] as const,
      ['PATCH', '', (name: string) => ({ query: { filter: { id: { _eq: 1 } } }, data: { [link]: 2, name } })] as const,
      ['POST', '', (name: string) => ({ id: 10, [link]: 2, name })] as const,
      [
        'POST',
        '',
        (name: string) => [
          { id: 10, [link]: 1, name: 'free' },
          { id: 11, [link]: 2, name },
        ],
      ] as const,
      ['POST', `?on_conflict=${link},name`, (name: string) => ({ id: 10, [link]: 2, name })] as const,
      ...[{ name: 5 }, { name: 'x', nothing: 1 }, {}].map(
        (wrong) =>
          [
            'POST',
            `?on_conflict=${link},name`,
            (name: string) => [
              { id: 10, [link]: 2, name },
              { id: 11, [link]: 1, ...wrong },
            ],
          ] as const,
      ),
      ['PATCH', '/1', (name: string) => ({ [link]: 2, name })] as const,
      ['PATCH', '', (name: string) => ({ keys: [1], data: { [link]: 2, name } })] as const,
      ['PATCH', '', (name: string) => [{ id: 1, [link]: 2, name }]] as const,
    ];

    it.each([
      ...bodies('club').map((parts) => ['seats', ...parts] as const),
      ...bodies('list').map((parts) => ['entries', ...parts] as const),
      ...bodies('size').map((parts) => ['labels', ...parts] as const),
    ])('tells nothing of hidden %s: %s%s', async (table, method, key, bodyOf) => {
      const [taken, free] = [
        await send(method, `/items/${table}${key}`, bodyOf('bob')),
        await send(method, `/items/${table}${key}`, bodyOf('new')),
      ];
      expectSameRefusal(taken, free);
    });

    it.each([[], [{ id: 11, club: 1, name: 5 }], [{ id: 11, club: 1 }]])(
      'items by hidden links are refused as those by missing ones, beside %j',
      async (...wrong) => {
        const bodyOf = (club: number) => [{ id: 10, club, name: 'bob' }, ...wrong];
        const hidden = await send('POST', '/items/seats?on_conflict=club,name', bodyOf(2));
        expectSameRefusal(await send('POST', '/items/seats?on_conflict=club,name', bodyOf(9)), hidden);
      },
    );

    it.each([
      ['seats', 'club'],
      ['entries', 'list'],
    ])('tells nothing of hidden %s below others', async (table, link) => {
      const bodyOf = (name: string) => ({ [table]: { create: [{ id: 10, [link]: 2, name }] } });
      const [taken, free] = [
        await send('PATCH', '/items/people/1', bodyOf('bob')),
        await send('PATCH', '/items/people/1', bodyOf('new')),
      ];
      expectSameRefusal(taken, free);
    });

    it.each([
      (club: number) => ({ id: 10, club, person: 99 }),
      (club: number) => [
        { id: 10, club },
        { id: 11, person: 99 },
      ],
      (club: number) => ({ id: 66, club }),
      (club: number) => ({ id: 66, club, person: { id: 1 } }),
      (club: number) => [{ id: 10, club }, { id: 66 }],
    ])('links to hidden items are refused as those to missing ones, beside what else is wrong', async (bodyOf) => {
      const hidden = await send('POST', '/items/benches', bodyOf(2));
      expect(failure(hidden)).toBe('403 FORBIDDEN');
      expectSameRefusal(await send('POST', '/items/benches', bodyOf(9)), hidden);
    });

    it.each(['seats', 'entries', 'labels'])('is told where the caller may write: %s', async (table) => {
      const link = { seats: 'club', entries: 'list' }[table] ?? 'size';
      const made = await send('POST', `/items/${table}`, { id: 10, [link]: 1, name: 'ann' });
      expect([failure(made), made.json.errors[0].extensions.type]).toEqual(['400 FAILED_VALIDATION', 'unique']);
      const changed = await send('PATCH', `/items/${table}/1`, { name: 'cid' });
      expect([failure(changed), changed.json.errors[0].extensions.type]).toEqual(['400 FAILED_VALIDATION', 'unique']);
    });

    it.each([
      ['POST', '', (code: number) => ({ id: 10, code })],
      ['POST', '', (code: number) => ({ id: 10, code, name: 'bob' })],
      ['POST', '', (code: number) => [{ id: 10 }, { id: 11, code }]],
      ['POST', '?on_conflict=id', (code: number) => ({ id: 1, code })],
      ['PATCH', '/1', (code: number) => ({ code })],
      ['PATCH', '/1', (code: number) => ({ code, name: 'bob' })],
      ['PATCH', '', (code: number) => ({ keys: [code === 12 ? 3 : 4], data: { kind: 'club' } })],
      ['PATCH', '', (code: number) => ({ keys: [1], data: { code } })],
      ['PATCH', '', (code: number) => [{ id: 1, code }]],
    ])('links no hidden item by what the database computes: %s%s', async (method, path, bodyOf) => {
      const hidden = await send(method, `/items/tickets${path}`, bodyOf(12));
      const missing = await send(method, `/items/tickets${path}`, bodyOf(19));
      expect(failure(hidden)).toBe('403 FORBIDDEN');
      expectSameRefusal(missing, hidden);
      expect(await project.cells('SELECT id, code, kind FROM tickets WHERE id <> 2 ORDER BY id')).toEqual([
        [1, 11, 'club'],
        [3, 12, 'none'],
        [4, 19, 'none'],
      ]);
    });

    it('links nothing of collections that are not read by what the database computes', async () => {
      const [there, missing] = [1, 2].map((code) => send('POST', '/items/hooks', { id: code, code }));
      if (there !== undefined && missing !== undefined) expectSameRefusal(await missing, await there);
      expect((await send('POST', '/items/hooks', { id: 3 })).status).toBe(200);
    });

    it('is told of items that hold such links, which stay, and lead to what is shown', async () => {
      const answers = [
        await send('PATCH', '/items/tickets/2', { name: 'new' }),
        await send('POST', '/items/tickets', [{ id: 10, code: 11 }, { id: 11 }, { id: 12, code: 12, kind: 'none' }]),
        await send('PATCH', '/items/tickets/10', { code: null }),
      ];
      expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(({ text }) => [200, text]));
      const taken = await send('PATCH', '/items/tickets/1', { code: 11, name: 'new' });
      expect([failure(taken), taken.json.errors[0].extensions.type]).toEqual(['400 FAILED_VALIDATION', 'unique']);
    });
  });
});
