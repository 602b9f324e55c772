/**
 * Rules about what a many-to-one leads to, judged after the write: where rows are written through a view, and where the
 * values are computed of others.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { allServers } from '../support/servers.ts';

const sql = `
  CREATE TABLE authors (
    id integer PRIMARY KEY, active boolean NOT NULL, level integer NOT NULL,
    doubled integer GENERATED ALWAYS AS (level * 2) STORED);
  CREATE TABLE books (
    id integer PRIMARY KEY, title varchar(20), author_id integer, FOREIGN KEY (author_id) REFERENCES authors (id));
  CREATE TABLE notes (
    id integer PRIMARY KEY, author_id integer, FOREIGN KEY (author_id) REFERENCES authors (id));
  CREATE VIEW shelf AS SELECT id, title, author_id FROM books;
`;

const rows = [
  'DELETE FROM books',
  'DELETE FROM notes',
  'DELETE FROM authors',
  'INSERT INTO authors (id, active, level) VALUES (1, true, 2), (2, false, 1)',
  "INSERT INTO books VALUES (1, 'a', 1), (2, 'b', 2)",
  'INSERT INTO notes VALUES (1, 1), (2, 2)',
];

const permissions = `
permissions:
  public:
    authors: { read: { fields: '*', filter: { id: { _lt: 9 } } }, create: true, update: true }
    shelf:
      read: true
      create: { fields: '*', validation: { author_id: { active: { _eq: true } } } }
      update: { fields: '*', filter: { author_id: { active: { _eq: true } } } }
    notes:
      read: true
      create: { fields: '*', validation: { author_id: { doubled: { _gt: 3 } } } }
      update: { fields: '*', filter: {}, validation: { author_id: { doubled: { _gt: 3 } } } }
`;

const forms = allServers.flatMap((server) => [
  { ...server, environment: {}, form: 'as it is' },
  { ...server, environment: { PLATFORM_OPTIMIZE: 'none' }, form: 'without optimisations' },
]);

describe.each(forms)('on $name, $form', ({ dialect, missing, environment }) => {
  describe.skipIf(missing)('rules by a many-to-one', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        const config = "{ collections: { shelf: { key: ['id'] } } }";
        project = await serveProject({ portable: true, sql, permissions, config, environment });
      }),
    );
    beforeEach(async () => {
      for (const row of rows) await project.rows(row);
    });
    afterAll(() => project?.close());

    async function sent(method: string, path: string, body: unknown): Promise<string> {
      const answer = await project.ask(`/items/${path}`, { method, body });
      return answer.status < 300 ? 'done' : failure(answer);
    }

    const good = { id: 1, active: true, level: 2 };

    it.each([
      ['POST', 'shelf', { id: 10, author_id: 1 }, 'done'],
      ['POST', 'shelf', { id: 10, author_id: 2 }, '400 FAILED_VALIDATION'],
      ['POST', 'shelf', [{ id: 10, author_id: 1 }, { id: 11, author_id: 2 }], '400 FAILED_VALIDATION'],
      ['POST', 'shelf', { id: 10, author_id: { id: 5, active: true, level: 1 } }, 'done'],
      ['POST', 'shelf', { id: 10, author_id: { id: 5, active: false, level: 1 } }, '400 FAILED_VALIDATION'],
      ['POST', 'shelf', { id: 10, author_id: { id: 2, active: true } }, 'done'],
      ['POST', 'shelf', { id: 10, author_id: { id: 1, active: false } }, '400 FAILED_VALIDATION'],
      ['PATCH', 'shelf/1', { title: 'c' }, 'done'],
      ['PATCH', 'shelf/2', { title: 'c' }, '403 FORBIDDEN'],
      ['PATCH', 'shelf/1', { author_id: 2 }, '403 FORBIDDEN'],
      ['PATCH', 'shelf', { keys: [1], data: { author_id: 2 } }, '403 FORBIDDEN'],
      ['PATCH', 'shelf/1', { author_id: { id: 1, active: false } }, '403 FORBIDDEN'],
      ['POST', 'shelf?on_conflict=id', { id: 1, author_id: 1 }, 'done'],
      ['POST', 'shelf?on_conflict=id', { id: 1, author_id: 2 }, '403 FORBIDDEN'],
      ['POST', 'notes', { id: 10, author_id: 1 }, 'done'],
      ['POST', 'notes', { id: 10, author_id: 2 }, '400 FAILED_VALIDATION'],
      ['POST', 'notes', { id: 10, author_id: { id: 5, active: true, level: 2 } }, 'done'],
      ['POST', 'notes', { id: 10, author_id: { id: 5, active: true, level: 1 } }, '400 FAILED_VALIDATION'],
      ['POST', 'notes', { id: 10, author_id: { id: 2, level: 2 } }, 'done'],
      ['POST', 'notes', { id: 10, author_id: { ...good, level: 1 } }, '400 FAILED_VALIDATION'],
      ['PATCH', 'notes/2', { author_id: 1 }, 'done'],
      ['PATCH', 'notes/1', { author_id: 2 }, '400 FAILED_VALIDATION'],
      ['PATCH', 'notes', { keys: [1, 2], data: { author_id: { id: 2, level: 3 } } }, 'done'],
    ])('%s %s %j', async (method, path, body, expected) => {
      expect(await sent(method, path, body)).toBe(expected);
    });
  });
});
