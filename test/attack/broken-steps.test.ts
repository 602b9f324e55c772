/**
 * Rules that a write breaks beside others, or in several steps: the answer must not tell whether the database would have
 * taken the rows of the first, because a hidden row has their key, nor whether a row that they name is hidden or missing.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { expectSameRefusal } from '../support/refusals.ts';
import { serverForms } from '../support/servers.ts';

const sql = `
  CREATE TABLE lists (id integer PRIMARY KEY, open boolean NOT NULL);
  CREATE TABLE entries (
    id integer PRIMARY KEY, list integer NOT NULL REFERENCES lists, name varchar(20) NOT NULL,
    parent integer REFERENCES entries, UNIQUE (list, name));
  CREATE TABLE parts (id integer PRIMARY KEY, entry integer REFERENCES entries, size integer, list integer REFERENCES lists);
  INSERT INTO lists VALUES (1, true), (2, false);
  CREATE TABLE nodes (
    id integer PRIMARY KEY, list integer NOT NULL REFERENCES lists, name varchar(20) NOT NULL,
    parent integer REFERENCES nodes, UNIQUE (list, name));
  CREATE TABLE leaves (id integer PRIMARY KEY, node integer REFERENCES nodes, size integer, list integer REFERENCES lists);
  INSERT INTO entries VALUES (1, 1, 'ann', NULL), (2, 2, 'bob', NULL);
  INSERT INTO nodes VALUES (1, 1, 'ann', NULL), (2, 2, 'bob', NULL);
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
    nodes:
      read: { fields: '*', filter: { list: { open: { _eq: true } } } }
      create:
        fields: '*'
        validation: { _and: [{ list: { open: { _eq: true } } }, { parent: { name: { _eq: ann } } }] }
      update: true
    leaves: { read: true, create: { fields: '*', validation: { list: { open: { _eq: true } } } }, update: true }
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

    const node = (name: string, leaves: object) => ({ id: 10, list: 2, name, parent: 1, leaves });
    it.each([
      ['nodes', (name: string) => node(name, [{ id: 1, size: 1, list: 2 }])],
      ['nodes', (name: string) => node(name, [{ id: 1, size: 1, list: 1, node: 5 }])],
      ['nodes', (name: string) => node(name, { delete: [99] })],
      ['nodes', (name: string) => [node(name, []), { ...node('x', [{ id: 1, list: 2 }]), id: 11, list: 1 }]],
      ['nodes?on_conflict=list,name', (name: string) => node(name, [{ id: 1, size: 1, list: 2 }])],
    ])('tells nothing of a hidden row by what comes before rules at the end: %s, %#', async (path, bodyOf) => {
      const send = (name: string) => project.ask(`/items/${path}`, { method: 'POST', body: bodyOf(name) });
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
      expect(free.json.errors[0].extensions).toMatchObject({ code: 'FAILED_VALIDATION', field: 'list', type: 'eq' });
    });

    it.each([
      (parent: number, name: string) => ({ id: 10, list: 2, name, parent }),
      (parent: number, name: string) => [
        { id: 10, list: 2, name, parent },
        { id: 11, list: 2, name: 'x', parent: 1 },
      ],
    ])('names a hidden row as a missing one, beside broken rules: %#', async (bodyOf) => {
      const send = (parent: number, name: string) =>
        project.ask('/items/entries', { method: 'POST', body: bodyOf(parent, name) });
      const hidden = await send(2, 'new');
      expect(hidden.status).toBe(403);
      expectSameRefusal(await send(9, 'new'), hidden);
      expectSameRefusal(await send(2, 'bob'), hidden);
      expect((await send(1, 'new')).status).toBe(400);
    });
  });
});
