/**
 * Rules that several steps of a write break: the answer must not tell whether the database would have taken the rows of
 * the first, because a hidden row has their key.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { expectSameRefusal } from '../support/refusals.ts';
import { serverForms } from '../support/servers.ts';

const sql = `
  CREATE TABLE lists (id integer PRIMARY KEY, open boolean NOT NULL);
  CREATE TABLE entries (
    id integer PRIMARY KEY, list integer NOT NULL REFERENCES lists, name varchar(20) NOT NULL, UNIQUE (list, name));
  CREATE TABLE parts (id integer PRIMARY KEY, entry integer REFERENCES entries, size integer, list integer REFERENCES lists);
  INSERT INTO lists VALUES (1, true), (2, false);
  INSERT INTO entries VALUES (1, 1, 'ann'), (2, 2, 'bob');
`;

const permissions = `
permissions:
  public:
    lists: { read: true }
    parts:
      read: true
      create: { fields: '*', validation: { _and: [{ size: { _gt: 0 } }, { list: { open: { _eq: true } } }] } }
    entries:
      read: { fields: '*', filter: { list: { open: { _eq: true } } } }
      create: { fields: '*', validation: { list: { open: { _eq: true } } } }
      update: { fields: '*', filter: { list: { open: { _eq: true } } } }
`;

describe.each(serverForms)('on $name, $form', ({ dialect, missing, environment }) => {
  describe.skipIf(missing)('an answer', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        project = await serveProject({ portable: true, sql, permissions, environment });
      }),
    );
    afterAll(() => project?.close());

    const entry = (name: string, parts: readonly object[]) => ({ id: 10, list: 2, name, parts });
    it.each([
      ['', (name: string) => entry(name, [{ id: 1, size: 0, list: 1 }]), 2],
      ['', (name: string) => entry(name, [{ id: 1, size: 1, list: 2 }]), 1],
      ['?on_conflict=id', (name: string) => [entry(name, []), { id: 1, list: 2 }], 1],
      ['?on_conflict=list,name', (name: string) => entry(name, [{ id: 1, size: 0, list: 2 }]), 2],
    ] as const)('tells nothing of a hidden row by rules of later steps: %s, %#', async (query, bodyOf, count) => {
      const send = (name: string) => project.ask(`/items/entries${query}`, { method: 'POST', body: bodyOf(name) });
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
      expect(free.json.errors).toHaveLength(count);
    });
  });
});
