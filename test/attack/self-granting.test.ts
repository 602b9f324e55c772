/**
 * Rows that would grant themselves: a rule that looks for other rows must find them before the write, not only the row that
 * is written. Else the right to write memberships would open every club.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOnMariadb, onServer } from '../support/contract-database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { serverForms } from '../support/servers.ts';

const role = '00000000-0000-4000-8000-0000000000ed';
const ann = '00000000-0000-4000-8000-00000000000a';
const bob = '00000000-0000-4000-8000-00000000000b';
const token = 'token-of-ann-0000000000';

const sql = `
  ALTER TABLE platform.platform_users ADD COLUMN team integer;
  CREATE TABLE clubs (id integer PRIMARY KEY, name varchar(20));
  CREATE TABLE seats (
    id integer PRIMARY KEY, club integer REFERENCES clubs, person uuid REFERENCES platform.platform_users,
    grade varchar(10) NOT NULL DEFAULT 'guest', note varchar(20));
  CREATE TABLE passes (
    id integer PRIMARY KEY, club integer REFERENCES clubs, person uuid REFERENCES platform.platform_users,
    note varchar(20));
  CREATE VIEW chairs AS SELECT id, club, person FROM passes;
  CREATE TABLE permits (
    id integer PRIMARY KEY, club integer REFERENCES clubs, person uuid REFERENCES platform.platform_users,
    place numeric(9, 1) GENERATED ALWAYS AS (club / 3.0) STORED, code varchar(9) UNIQUE);
  CREATE TABLE wishes (
    id integer PRIMARY KEY, club integer REFERENCES clubs, person uuid REFERENCES platform.platform_users);
  CREATE TABLE lists (id integer PRIMARY KEY, club integer REFERENCES clubs, opened integer NOT NULL, changes integer);
  CREATE TABLE members (id integer PRIMARY KEY, list integer REFERENCES lists);
  CREATE TABLE entries (id integer PRIMARY KEY, club integer REFERENCES clubs, list integer REFERENCES lists);
  CREATE TABLE club_hosts (
    club integer REFERENCES clubs, host uuid REFERENCES platform.platform_users, PRIMARY KEY (club, host));
  CREATE TABLE houses (id integer PRIMARY KEY, owner uuid REFERENCES platform.platform_users);
  CREATE TABLE door_keys (
    id integer PRIMARY KEY, house integer REFERENCES houses, holder uuid REFERENCES platform.platform_users);
  CREATE TABLE nodes (
    id integer PRIMARY KEY, parent integer REFERENCES nodes, owner uuid REFERENCES platform.platform_users);
  INSERT INTO platform.platform_roles (id, name) VALUES ('${role}', 'member');
  INSERT INTO platform.platform_users (id, email, role, token, team) VALUES
    ('${ann}', 'ann@example.com', '${role}', '${token}', 1), ('${bob}', 'bob@example.com', '${role}', NULL, 2);
`;

/** A table that shows rows of another one, and one whose rows make others. */
const postgres = `
  CREATE FUNCTION grant_wish() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO passes (id, club, person) VALUES (NEW.id, NEW.club, NEW.person); RETURN NULL; END $$;
  CREATE TRIGGER grant_wish AFTER INSERT ON wishes FOR EACH ROW EXECUTE FUNCTION grant_wish();
  CREATE FUNCTION count_changes() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.changes = coalesce(OLD.changes, 0) + 1; RETURN NEW; END $$;
  CREATE TRIGGER count_changes BEFORE UPDATE ON lists FOR EACH ROW EXECUTE FUNCTION count_changes();
  CREATE TABLE guests (
    id integer PRIMARY KEY, club integer REFERENCES clubs, person uuid REFERENCES platform.platform_users);
  CREATE TABLE patrons (PRIMARY KEY (id), FOREIGN KEY (club) REFERENCES clubs ON DELETE CASCADE) INHERITS (guests);
`;
const onPostgres = `
    guests:
      read: true
      update:
        { fields: '*', filter: {}, validation: { club: { patrons: { _some: { person: { _eq: $CURRENT_USER } } } } } }
`;

const onMysql = `
  CREATE TRIGGER grant_wish AFTER INSERT ON wishes FOR EACH ROW
    INSERT INTO passes (id, club, person) VALUES (NEW.id, NEW.club, NEW.person);
  CREATE TRIGGER count_changes BEFORE UPDATE ON lists FOR EACH ROW SET NEW.changes = coalesce(OLD.changes, 0) + 1
`;

const rows = [
  ...['permits', 'wishes', 'entries', 'members', 'lists'].map((table) => `DELETE FROM ${table}`),
  'DELETE FROM club_hosts',
  'DELETE FROM passes',
  'DELETE FROM seats',
  'DELETE FROM clubs',
  "INSERT INTO clubs VALUES (1, 'own'), (2, 'other')",
  `INSERT INTO seats (id, club, person, grade) VALUES (1, 1, '${ann}', 'admin'), (2, 2, '${bob}', 'admin')`,
  `INSERT INTO permits (id, club, person, code) VALUES (1, 1, '${ann}', 'ann'), (2, 2, '${bob}', 'bob')`,
  `INSERT INTO wishes VALUES (20, 2, '${bob}')`,
  'INSERT INTO lists (id, club, opened) VALUES (2, 1, 0)',
  'INSERT INTO members VALUES (1, 2)',
  `INSERT INTO passes (id, club, person) VALUES (1, 1, '${ann}'), (2, 2, '${bob}')`,
  `INSERT INTO club_hosts VALUES (1, '${ann}'), (2, '${bob}')`,
  'UPDATE nodes SET parent = NULL',
  'DELETE FROM nodes',
  `INSERT INTO nodes VALUES (1, NULL, '${ann}'), (2, NULL, '${bob}')`,
  'DELETE FROM door_keys',
  'DELETE FROM houses',
  `INSERT INTO houses VALUES (1, '${ann}'), (2, '${bob}')`,
  `INSERT INTO door_keys VALUES (1, 1, '${ann}'), (2, 2, '${bob}')`,
  `UPDATE platform.platform_users SET team = 1, first_name = NULL WHERE id = '${ann}'`,
];

const isAdmin = '{ club: { seats: { _some: { person: { _eq: $CURRENT_USER }, grade: { _eq: admin } } } } }';
const isGuest = '{ club: { _in: $CURRENT_USER.passes.club } }';
const isPermitted = '{ place: { _in: $CURRENT_USER.permits.place } }';
const isSeated = '{ club: { seats: { _some: { person: { _eq: $CURRENT_USER } } } } }';
const isHost = '{ club: { users: { _some: { id: { _eq: $CURRENT_USER } } } } }';

const permissions = `
roles: { member: {} }
permissions:
  member:
    clubs: { read: true, create: true, update: true }
    seats:
      read: true
      create: { fields: '*', validation: ${isAdmin} }
      update: { fields: '*', filter: ${isAdmin} }
    passes:
      read: true
      create: { fields: '*', validation: ${isGuest} }
      update:
        - { fields: '*', filter: ${isGuest}, validation: ${isGuest} }
        - { fields: [note], filter: { note: { _eq: open } }, validation: {} }
    permits:
      read: true
      create: { fields: '*', validation: ${isPermitted} }
      update: { fields: '*', filter: ${isPermitted} }
    chairs: { read: true, create: { fields: '*', validation: ${isGuest} } }
    wishes:
      read: true
      create: { fields: '*', validation: ${isGuest} }
      update: { fields: '*', filter: {}, validation: { _and: [${isGuest}, ${isSeated}] } }
    lists: { read: true, update: { fields: '*', filter: { members: { _some: { id: { _gt: 0 } } } }, validation: {} } }
    members: { read: true }
    entries: { read: true, create: { fields: '*', validation: { list: { opened: { _eq: 1 } } } } }
    club_hosts:
      read: true
      create: { fields: '*', validation: ${isHost} }
      delete: true
    platform_users:
      read: true
      update: { fields: [team, first_name, houses, door_keys], filter: { team: { _eq: $CURRENT_USER.team } } }
    houses:
      read: true
      update: { fields: '*', filter: { door_keys: { _some: { holder: { _eq: $CURRENT_USER } } } }, validation: {} }
    nodes:
      read: true
      create: { fields: '*', validation: { parent: { owner: { _eq: $CURRENT_USER } } } }
      update: { fields: '*', filter: { children: { _some: { owner: { _eq: $CURRENT_USER } } } }, validation: {} }
      delete: { filter: { children: { _some: { owner: { _eq: $CURRENT_USER } } } } }
    door_keys:
      read: true
      create: { fields: '*', validation: { house: { owner: { _eq: $CURRENT_USER } } } }
`;

describe.each(serverForms)('on $name, $form', ({ dialect, missing, environment }) => {
  describe.skipIf(missing)('a row', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        project = await serveProject({
          system: true,
          sql: isOnMariadb() ? sql + onMysql : sql,
          postgres,
          permissions: permissions + (isOnMariadb() ? '' : onPostgres),
          environment,
          config:
            "{ collections: { chairs: { key: ['id'] } }, relations: { 'clubs.platform_users': { name: 'users' }, 'nodes.nodes': { name: 'children' } } }",
        });
      }),
    );
    afterAll(() => project?.close());

    /** Sends a write of Ann to rows as they are above; gives the answer, and where she is in the end. */
    async function sent(method: string, path: string, body: unknown) {
      await project.rows(rows.join('; '));
      const answer = await project.ask(path, { method, token, body });
      const clubs = async (table: string, column: string) => {
        const found = await project.cells(`SELECT club FROM ${table} WHERE ${column} = '${ann}' ORDER BY club`);
        return found.map(([club]) => Number(club));
      };
      const stored = { seats: await clubs('seats', 'person'), passes: await clubs('passes', 'person') };
      return {
        told: answer.status < 300 ? 'done' : failure(answer),
        answer,
        ...stored,
        hosts: await clubs('club_hosts', 'host'),
      };
    }

    const seat = (club: number) => ({ id: 10, club, person: ann, grade: 'admin' });
    const pass = (club: number) => ({ id: 10, club, person: ann });
    const upsert = '?on_conflict=id';

    it.each([
      ['a seat', 'POST', '/items/seats', seat(2)],
      ['one of several seats', 'POST', '/items/seats', [seat(1), { ...seat(2), id: 11 }]],
      ['a seat by upsert', 'POST', `/items/seats${upsert}`, seat(2)],
      ['a seat below its club', 'PATCH', '/items/clubs/2', { seats: { create: [{ ...seat(2), club: undefined }] } }],
      ['a seat with its club', 'POST', '/items/seats', { ...seat(2), club: { id: 2, name: 'taken' } }],
      ['a pass', 'POST', '/items/passes', pass(2)],
      ['several passes', 'POST', '/items/passes', [pass(2), { ...pass(2), id: 11 }]],
      ['a wish, of which a trigger makes a pass', 'POST', '/items/wishes', pass(2)],
      ['a pass below its club', 'PATCH', '/items/clubs/2', { passes: { create: [{ id: 10, person: ann }] } }],
    ])('%s does not grant itself when it is made', async (_, method, path, body) => {
      const { told, seats, passes } = await sent(method, path, body);
      expect([told, seats, passes]).toEqual(['400 FAILED_VALIDATION', [1], [1]]);
    });

    it.each([
      ['a seat', 'PATCH', '/items/seats/1', { club: 2 }, '403 FORBIDDEN'],
      ['a seat by keys', 'PATCH', '/items/seats', { keys: [1], data: { club: 2 } }, '403 FORBIDDEN'],
      ['a seat by a query', 'PATCH', '/items/seats', { query: {}, data: { club: 2 } }, '403 FORBIDDEN'],
      ['a seat of a list', 'PATCH', '/items/seats', [{ id: 1, club: 2 }], '403 FORBIDDEN'],
      ['a seat by upsert', 'POST', `/items/seats${upsert}`, { id: 1, club: 2 }, '403 FORBIDDEN'],
      [
        'a seat that its new club lists',
        'PATCH',
        '/items/clubs/2',
        { seats: { update: [{ id: 1 }] } },
        '403 FORBIDDEN',
      ],
      ['a seat and its note', 'PATCH', '/items/seats/1', { club: { id: 2 }, note: 'x' }, '403 FORBIDDEN'],
      ['a pass', 'PATCH', '/items/passes/1', { club: 2 }, '400 FAILED_VALIDATION'],
      [
        'a pass that its new club lists',
        'PATCH',
        '/items/clubs/2',
        { passes: { update: [{ id: 1 }] } },
        '400 FAILED_VALIDATION',
      ],
    ])('%s does not grant itself when it moves', async (_, method, path, body, refusal) => {
      const { told, seats, passes } = await sent(method, path, body);
      expect([told, seats, passes]).toEqual([refusal, [1], [1]]);
    });

    it('does not grant itself as a link', async () => {
      const { told, hosts } = await sent('PATCH', '/items/clubs/2', { users: { update: [{ id: ann }] } });
      expect([told, hosts]).toEqual(['400 FAILED_VALIDATION', [1]]);
      expect((await sent('POST', '/items/club_hosts', { club: 2, host: ann })).told).toBe('400 FAILED_VALIDATION');
      expect((await sent('PATCH', '/items/clubs/1', { users: { update: [{ id: bob }] } })).told).toBe('done');
    });

    const permit = (club: number, code: string) => ({ ...pass(club), code });
    it.each([
      ['POST', '', permit(2, 'new'), '400 FAILED_VALIDATION'],
      ['POST', '', [permit(1, 'new'), { ...permit(2, 'last'), id: 11 }], '400 FAILED_VALIDATION'],
      ['PATCH', '/1', { club: 2 }, '403 FORBIDDEN'],
      ['PATCH', '', { keys: [1], data: { club: 2 } }, '403 FORBIDDEN'],
      ['PATCH', '', [{ id: 1, club: 2 }], '403 FORBIDDEN'],
      ['POST', upsert, { id: 1, club: 2 }, '403 FORBIDDEN'],
    ])('does not grant itself by what the database computes: %s %s %j', async (method, path, body, refusal) => {
      const { told } = await sent(method, `/items/permits${path}`, body);
      const clubs = await project.cells(`SELECT club FROM permits WHERE person = '${ann}'`);
      expect([told, clubs.map(Number)]).toEqual([refusal, [1]]);
    });

    it('is granted by what the database computes, and told that a key is taken', async () => {
      const { answer } = await sent('POST', '/items/permits', permit(1, 'bob'));
      expect(answer.json.errors).toMatchObject([{ extensions: { field: 'code', type: 'unique' } }]);
      expect((await sent('PATCH', '/items/permits/1', { club: 1, code: 'new' })).told).toBe('done');
    });

    it('of the caller does not change what the rule compares it with', async () => {
      const team = async () =>
        (await project.cells(`SELECT team FROM platform.platform_users WHERE id = '${ann}'`)).map(String);
      expect((await sent('PATCH', '/users/me', { team: 2 })).told).toBe('403 FORBIDDEN');
      expect(await team()).toEqual(['1']);
      expect((await sent('PATCH', '/users/me', { first_name: 'Ann', team: 1 })).told).toBe('done');
    });

    it('is not granted by another that it grants', async () => {
      const both = (house: number) => ({
        door_keys: { create: [{ id: 10, house }] },
        houses: { update: [{ id: house }] },
      });
      const owners = () => project.cells(`SELECT id FROM houses WHERE owner = '${ann}'`);
      expect((await sent('PATCH', '/users/me', both(2))).told).toBe('400 FAILED_VALIDATION');
      expect(await owners()).toHaveLength(1);
      expect((await sent('PATCH', '/users/me', both(1))).told).toBe('done');
    });

    it('is not granted by another of the same list that it grants', async () => {
      const both = (parent: number) => [
        { id: 10, parent, owner: ann },
        { id: parent, owner: ann },
      ];
      const owners = () => project.cells(`SELECT id FROM nodes WHERE owner = '${ann}'`);
      expect((await sent('POST', `/items/nodes${upsert}`, both(2))).told).toBe('400 FAILED_VALIDATION');
      expect(await owners()).toHaveLength(1);
      expect((await sent('POST', `/items/nodes${upsert}`, both(1))).told).toBe('done');
    });

    it.skipIf(dialect !== null || isOnMariadb())('is not granted by what another table shows of it', async () => {
      await project.rows(`${rows.join('; ')}; INSERT INTO patrons VALUES (1, 1, '${ann}'), (2, 2, '${bob}')`);
      const move = (club: number) => project.ask('/items/guests/1', { method: 'PATCH', token, body: { club } });
      expect(failure(await move(2))).toBe('400 FAILED_VALIDATION');
      expect((await move(1)).status).toBe(200);
    });

    it.skipIf(dialect !== null || isOnMariadb())('is not granted by a view of it', async () => {
      expect((await sent('POST', '/items/chairs', pass(2))).told).toBe('400 FAILED_VALIDATION');
      expect((await sent('POST', '/items/chairs', pass(1))).told).toBe('done');
    });

    it('is told the same error once, below others', async () => {
      const { answer } = await sent('PATCH', '/items/clubs/2', {
        name: 'x',
        seats: { create: [{ id: 10, person: bob }] },
      });
      expect(answer.json.errors).toHaveLength(1);
    });

    it.each([
      ['a seat in the own club', 'POST', '/items/seats', { ...seat(1), person: bob }],
      ['seats in the own club', 'POST', '/items/seats', [seat(1), { ...seat(1), id: 11 }]],
      ['a seat below the own club', 'PATCH', '/items/clubs/1', { seats: { create: [{ id: 10, person: bob }] } }],
      ['the own seat', 'PATCH', '/items/seats/1', { note: 'x' }],
      ['a wish for the own club', 'POST', '/items/wishes', pass(1)],
      ['a wish that moves to the own club', 'PATCH', '/items/wishes/20', { club: 1 }],
      [
        'an entry of a list that is opened with it',
        'PATCH',
        '/items/clubs/1',
        { entries: { create: [{ id: 9, list: 2 }] }, lists: { update: [{ id: 2, opened: 1 }] } },
      ],
      ['a permit for the own club', 'POST', '/items/permits', permit(1, 'new')],
      ['a pass for the own club', 'POST', '/items/passes', pass(1)],
      ['the own pass', 'PATCH', '/items/passes/1', { note: 'x' }],
      [
        'a new club with its seats',
        'POST',
        '/items/clubs',
        { id: 50, seats: [{ id: 10, person: ann, grade: 'admin' }] },
      ],
      ['a new club above its seat', 'POST', '/items/seats', { ...seat(1), club: { id: 50, name: 'new' } }],
      ['a new club with its passes', 'POST', '/items/clubs', { id: 50, passes: [{ id: 10, person: ann }] }],
      ['a new club with its hosts', 'POST', '/items/clubs', { id: 50, users: [ann] }],
    ])('is granted by others: %s', async (_, method, path, body) => {
      const { told, answer } = await sent(method, path, body);
      expect([told, answer.text]).toEqual(['done', expect.any(String)]);
    });
  });
});
