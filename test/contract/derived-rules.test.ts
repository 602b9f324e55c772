/**
 * Rules about values that are computed of other rows or columns, judged on what was written: of an item that a many-to-one
 * leads to, and of a view that joins tables, which only servers of MySQL's family write.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { serverForms } from '../support/servers.ts';

const sqlOf = (kind: 'STORED' | 'VIRTUAL', view: string) => `
  CREATE TABLE authors (
    id integer PRIMARY KEY, active boolean NOT NULL, level integer NOT NULL,
    doubled integer GENERATED ALWAYS AS (level * 2) ${kind});
  CREATE TABLE books (
    id integer PRIMARY KEY, title varchar(20), author_id integer, FOREIGN KEY (author_id) REFERENCES authors (id));
  CREATE TABLE notes (
    id integer PRIMARY KEY, author_id integer, FOREIGN KEY (author_id) REFERENCES authors (id));
  CREATE VIEW shelf AS ${view};
`;

const plainView = 'SELECT id, title, author_id, true AS active FROM books';
const joinView = 'SELECT b.id, b.title, b.author_id, a.active FROM books b JOIN authors a ON a.id = b.author_id';

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
      update: { fields: '*', filter: { active: { _eq: true } } }
    notes:
      read: true
      create: { fields: '*', validation: { author_id: { doubled: { _gt: 3 } } } }
      update: { fields: '*', filter: {}, validation: { author_id: { doubled: { _gt: 3 } } } }
`;

describe.each(serverForms)('on $name, $form', ({ dialect, missing, environment }) => {
  describe.skipIf(missing)('rules by a many-to-one', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        const config = "{ collections: { shelf: { key: ['id'] } } }";
        const sql = dialect === null ? sqlOf('STORED', plainView) : sqlOf('VIRTUAL', joinView);
        project = await serveProject({ portable: true, sql, permissions, config, environment });
      }),
    );
    beforeEach(async () => {
      await project.rows(rows.join('; '));
    });
    afterAll(() => project?.close());

    async function sent(method: string, path: string, body: unknown): Promise<string> {
      const answer = await project.ask(`/items/${path}`, { method, body });
      return answer.status < 300 ? 'done' : failure(answer);
    }

    const good = { id: 1, active: true, level: 2 };

    it.skipIf(dialect === null).each<[string, string, unknown, string]>([
      ['PATCH', 'shelf/1', { title: 'c' }, 'done'],
      ['PATCH', 'shelf/2', { title: 'c' }, '403 FORBIDDEN'],
      ['PATCH', 'shelf/1', { author_id: 2 }, '403 FORBIDDEN'],
      ['PATCH', 'shelf', { keys: [1], data: { author_id: 2 } }, '403 FORBIDDEN'],
    ])('%s %s %j', async (method, path, body, expected) => {
      expect(await sent(method, path, body)).toBe(expected);
    });

    it.each<[string, string, unknown, string]>([
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
