/**
 * Links by what the caller may not read: keys of several columns of a hidden collection, a hidden collection that shares a
 * column with one that can be read, and unique values that are hidden.
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
  CREATE TABLE staff (id integer PRIMARY KEY);
  CREATE TABLE hr_files (person integer PRIMARY KEY);
  CREATE TABLE employees (
    id integer PRIMARY KEY, person integer, CONSTRAINT a_person FOREIGN KEY (person) REFERENCES staff (id),
    CONSTRAINT b_file FOREIGN KEY (person) REFERENCES hr_files (person));
  CREATE TABLE codes (id integer PRIMARY KEY, code varchar(40) NOT NULL UNIQUE);
  CREATE TABLE badges (id integer PRIMARY KEY, code varchar(40), FOREIGN KEY (code) REFERENCES codes (code));
  INSERT INTO staff VALUES (1), (2);
  INSERT INTO hr_files VALUES (1);
  INSERT INTO employees VALUES (1, NULL);
  INSERT INTO codes VALUES (1, 'one');
  INSERT INTO badges VALUES (1, NULL);
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
    staff: { read: true }
    employees: { read: true, create: true, update: true }
    codes: { read: true }
    badges: { read: true, create: true, update: true }
`;

describe.each(allServers)('on $name', ({ dialect, missing }) => {
  describe.skipIf(missing)('links by hidden values', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        project = await serveProject({
          portable: true,
          sql,
          permissions,
          config: "{ collections: { codes: { fields: { code: { type: 'secret' } } } } }",
        });
      }),
    );
    afterAll(() => project?.close());

    const send = (method: string, path: string, body: unknown) => project.ask(`/items/${path}`, { method, body });

    it.each([
      ['keepers', { site: 1, room: 1 }, { site: 1, room: 9 }],
      ['letters', { recipient: 'ann@example.com' }, { recipient: 'eve@example.com' }],
      ['cards', { recipient: 'bob@example.com' }, { recipient: 'eve@example.com' }],
      ['employees', { person: 1 }, { person: 2 }],
      ['badges', { code: 'one' }, { code: 'two' }],
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
        await send('POST', 'employees', { id: 20, person: null }),
        await project.admin('/items/employees', { method: 'POST', body: { id: 21, person: 1 } }),
        await project.admin('/items/badges', { method: 'POST', body: { id: 21, code: 'one' } }),
      ];
      expect(made.map(({ status }) => status)).toEqual(made.map(() => 200));
      const unknown = await project.admin('/items/letters', { method: 'POST', body: { id: 22, recipient: 'eve' } });
      expect([failure(unknown), unknown.json.errors[0].extensions.type]).toEqual([
        '400 FAILED_VALIDATION',
        'foreign_key',
      ]);
    });
  });
});

describe('in a tenant, links by hidden keys', () => {
  const token = 'token-of-ann-0000000000';
  let project: ServedProject;
  beforeAll(async () => {
    project = await serveProject({
      system: true,
      sql: `
        ALTER TABLE platform.platform_users ADD COLUMN tenant_id integer;
        CREATE TABLE vaults (tenant_id integer NOT NULL, id integer NOT NULL, PRIMARY KEY (tenant_id, id));
        CREATE TABLE notes (
          id integer PRIMARY KEY, tenant_id integer NOT NULL, vault integer,
          FOREIGN KEY (tenant_id, vault) REFERENCES vaults (tenant_id, id));
        INSERT INTO vaults VALUES (1, 7), (2, 8);
        INSERT INTO notes VALUES (1, 1, NULL);
        INSERT INTO platform.platform_roles (id, name) VALUES ('00000000-0000-4000-8000-0000000000ed', 'member');
        INSERT INTO platform.platform_users (id, email, role, token, tenant_id) VALUES
          ('00000000-0000-4000-8000-00000000000a', 'ann@example.com', '00000000-0000-4000-8000-0000000000ed', '${token}', 1);`,
      config: "{ tenant: { column: 'tenant_id', of: '$CURRENT_USER.tenant_id' } }",
      permissions: `
roles: { member: {} }
permissions:
  member:
    platform_users: { read: true }
    notes: { read: true, create: true, update: true }`,
    });
  });
  afterAll(() => project?.close());

  it('have one answer, whether or not they exist', async () => {
    const made = (vault: number) => project.ask('/items/notes', { method: 'POST', token, body: { id: 10, vault } });
    const changed = (vault: number) => project.ask('/items/notes/1', { method: 'PATCH', token, body: { vault } });
    for (const send of [made, changed]) {
      const [existing, absent, other] = [await send(7), await send(9), await send(8)];
      expect(failure(existing)).toBe('403 FORBIDDEN');
      expect([absent.text, other.text]).toEqual([existing.text, existing.text]);
    }
  });
});
