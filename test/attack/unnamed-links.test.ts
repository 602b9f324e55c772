/** Links that are no relations of the API: columns of views, generated columns and relations that the configuration hides. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { expectSameRefusal } from '../support/refusals.ts';
import { serverForms } from '../support/servers.ts';

const sql = `
  CREATE TABLE clubs (id integer PRIMARY KEY, open boolean NOT NULL);
  CREATE TABLE vaults (id integer PRIMARY KEY);
  CREATE TABLE seats (id integer PRIMARY KEY, name varchar(20) UNIQUE, club integer, vault integer,
    FOREIGN KEY (club) REFERENCES clubs (id), FOREIGN KEY (vault) REFERENCES vaults (id));
  CREATE TABLE tickets (
    id integer PRIMARY KEY, name varchar(20) UNIQUE, code integer,
    club integer GENERATED ALWAYS AS (code - 10) STORED, FOREIGN KEY (club) REFERENCES clubs (id));
  CREATE TABLE pins (id integer PRIMARY KEY, name varchar(20) UNIQUE, club integer, FOREIGN KEY (club) REFERENCES clubs (id));
  INSERT INTO clubs VALUES (1, true), (2, false);
  INSERT INTO vaults VALUES (1);
  INSERT INTO seats VALUES (1, 'ann', 1, NULL), (2, 'bob', 2, NULL);
  INSERT INTO tickets (id, name, code) VALUES (1, 'ann', 11), (2, 'bob', 12);
  INSERT INTO pins VALUES (1, 'ann', 1), (2, 'bob', 2);
`;

/** MySQL and MariaDB do not tell where columns of views come from. */
const views = `
  CREATE VIEW places AS SELECT name AS called, club AS hall, vault AS safe, id FROM seats;
  CREATE VIEW spots AS SELECT id, called AS name, hall AS room FROM places WHERE id > 0;
  CREATE VIEW passes AS SELECT id, name, code AS number FROM tickets;`;

const config = `{
  collections: { tickets: { fields: { club: { hidden: true } } } },
  relations: { 'pins.club': { hidden: true } } }`;

const permissions = `
permissions:
  public:
    clubs: { read: { fields: '*', filter: { open: { _eq: true } } } }
    tickets: { read: true, create: true, update: true }
    pins: { read: true, create: true, update: true }
`;

const permissionsOfViews = ['places', 'spots', 'passes'].map(
  (name) => `    ${name}: { read: true, create: true, update: true }\n`,
);

describe.each(serverForms)('on $name, $form', ({ dialect, missing, environment }) => {
  const hasViews = dialect === null;

  describe.skipIf(missing)('a link that is no relation', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        project = await serveProject({
          portable: true,
          sql: sql + (hasViews ? views : ''),
          config,
          permissions: permissions + (hasViews ? permissionsOfViews.join('') : ''),
          environment,
        });
      }),
    );
    afterAll(() => project?.close());

    const send = (method: string, path: string, body: unknown) => project.ask(path, { method, body });

    const requests = (collection: string, link: string, name: string, base: number) =>
      [
        ['POST', '', (club: number) => ({ id: 10, [link]: base + club })],
        ['POST', '', (club: number) => ({ id: 10, [link]: base + club, [name]: 'bob' })],
        ['POST', '', (club: number) => [{ id: 10 }, { id: 11, [link]: base + club }]],
        ['PATCH', '/1', (club: number) => ({ [link]: base + club })],
        ['PATCH', '/1', (club: number) => ({ [link]: base + club, [name]: 'bob' })],
        ['PATCH', '', (club: number) => ({ keys: [1], data: { [link]: base + club } })],
        ['PATCH', '', (club: number) => [{ id: 1, [link]: base + club }]],
      ].map((parts) => [collection, ...parts] as [string, string, string, (club: number) => unknown]);

    it.each([
      ...requests('tickets', 'code', 'name', 10),
      ...requests('pins', 'club', 'name', 0),
      ...(hasViews ? requests('places', 'hall', 'called', 0) : []),
      ...(hasViews ? requests('spots', 'room', 'name', 0) : []),
      ...(hasViews ? requests('passes', 'number', 'name', 10) : []),
    ])('leads to no hidden item: %s, %s %s', async (collection, method, path, bodyOf) => {
      const hidden = await send(method, `/items/${collection}${path}`, bodyOf(2));
      const missing = await send(method, `/items/${collection}${path}`, bodyOf(9));
      expect(failure(hidden)).toBe('403 FORBIDDEN');
      expectSameRefusal(missing, hidden);
    });

    it.runIf(hasViews)('leads to nothing of a collection that is not read', async () => {
      const hidden = await send('PATCH', '/items/places/1', { safe: 1 });
      expect(failure(hidden)).toBe('403 FORBIDDEN');
      expectSameRefusal(await send('PATCH', '/items/places/1', { safe: 9 }), hidden);
    });

    it('leads to items that are read, and stays where it is', async () => {
      const answers = [
        await send('PATCH', '/items/tickets/2', { name: 'new' }),
        await send('POST', '/items/tickets', [{ id: 20, code: 11 }, { id: 21 }]),
        await send('POST', '/items/pins', [{ id: 20, club: 1 }, { id: 21 }]),
        ...(hasViews
          ? [
              await send('PATCH', '/items/places/2', { called: 'new', safe: null }),
              await send('POST', '/items/spots', [{ id: 20, room: 1 }, { id: 21 }]),
              await send('POST', '/items/passes', [{ id: 30, number: 11 }, { id: 31 }]),
            ]
          : []),
      ];
      expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(({ text }) => [200, text]));
    });
  });
});
