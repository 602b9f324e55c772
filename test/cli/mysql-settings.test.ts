/**
 * Servers with unusual settings. The platform sets what it relies on itself, on every connection. Commands
 * read and change tables and the server serves them as elsewhere.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import { createProject, type Platform, runPlatform, startUnchecked } from '../support/platform.ts';
import { servers } from '../support/servers.ts';

const modes =
  'TRADITIONAL,ANSI_QUOTES,PIPES_AS_CONCAT,IGNORE_SPACE,NO_BACKSLASH_ESCAPES,REAL_AS_FLOAT,HIGH_NOT_PRECEDENCE,NO_UNSIGNED_SUBTRACTION,ONLY_FULL_GROUP_BY';

/** For everybody, and what a server does for each connection of a user without the rights of an administrator. */
const settings = (dialect: string): string => `SET GLOBAL sql_mode = '${modes}';
SET GLOBAL autocommit = 0;
SET GLOBAL time_zone = '-11:30';
SET GLOBAL innodb_default_row_format = compact;
SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE;
${dialect === 'mysql' ? 'SET GLOBAL sql_require_primary_key = ON;' : ''}
SET GLOBAL init_connect = 'SET SESSION sql_safe_updates = 1, sql_select_limit = 3, max_join_size = 5, sql_big_selects = 0, completion_type = 1, foreign_key_checks = 0, unique_checks = 0, div_precision_increment = 0, group_concat_max_len = 4';`;

const tables = `CREATE TABLE writers (id int AUTO_INCREMENT PRIMARY KEY, name varchar(50) NOT NULL UNIQUE);
CREATE TABLE books (id int AUTO_INCREMENT PRIMARY KEY, title varchar(50) NOT NULL, price decimal(8, 2), writer_id int, FOREIGN KEY (writer_id) REFERENCES writers (id));`;

describe.each(servers)('$name', ({ dialect, missing, startFolding }) => {
  if (missing) return void it.skip('is not there');

  let server: MysqlServer;
  let url: string;
  let project: Awaited<ReturnType<typeof createProject>>;
  beforeAll(async () => {
    server = await startFolding();
    url = await createMysqlDatabase(server, tables);
    const limited = new URL(url);
    limited.username = limited.password = 'limited';
    await withMysql(url, async (connection) => {
      await connection.query(`CREATE USER limited@'%' IDENTIFIED BY 'limited';
        GRANT ALL ON ${limited.pathname.slice(1)}.* TO limited@'%'`);
      await connection.query(settings(dialect));
    });
    url = limited.href;
    project = await createProject();
    await writeFile(join(project.folder, 'permissions.yaml'), 'permissions:\n  public: { books: { read: true } }\n');
  });
  afterAll(async () => {
    await project?.remove();
    await server?.stop();
  });

  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runPlatform([...args, '--project', project.folder], { DATABASE_URL: url });
    return `${code} ${stdout}${stderr}`;
  };

  it('commands make tables and read them', async () => {
    expect(await run('migrate')).toMatch(/^0 [\s\S]*Applied \d+ migrations/);
    expect(await run('migrate')).toContain('are up to date');
    expect(await run('generate')).toMatch(/^0 /);
    expect(await run('check')).toMatch(/^0 /);
    expect(await run('doctor')).toMatch(/^0 [\s\S]*0 problems/);
  });

  describe('a server', () => {
    let platform: Platform;
    beforeAll(async () => {
      platform = await startUnchecked(project.folder, url);
    });
    afterAll(() => platform?.stop());

    const done = async (method: string, path: string, body?: unknown): Promise<unknown> => {
      const { status, json, text } = await platform.admin(path, { method, ...(body !== undefined && { body }) });
      return status < 300 ? (json?.data ?? null) : text;
    };

    it('tells of the type that a field needs to lead to a key without a sign', async () => {
      const unsigned = { data_type: 'int unsigned' };
      const fields = [{ field: 'id', type: 'integer', schema: { ...unsigned, is_primary_key: true } }];
      await done('POST', '/collections', { collection: 'racks', schema: {}, fields });
      const relation = { collection: 'books', field: 'rack_id', related_collection: 'racks' };
      await done('POST', '/fields/books', { field: 'rack_id', type: 'integer' });
      expect(await done('POST', '/relations', relation)).toContain(
        'it needs the \\"schema.data_type\\" of the key there',
      );
      await done('DELETE', '/fields/books/rack_id');
      await done('POST', '/fields/books', { field: 'rack_id', type: 'integer', schema: unsigned });
      expect(await done('POST', '/relations', relation)).toMatchObject(relation);
    });

    it('writes what others see, and as many rows as there are', async () => {
      const books = ['a', 'b', 'c', 'd', 'e'].map((title, index) => ({ title, price: index + 1 }));
      await done('POST', '/items/writers', { name: 'Ada', books });
      const seen = await withMysql(url, (connection) => connection.query('SELECT title FROM books WHERE id > 0'));
      expect(seen[0]).toHaveLength(3);
      const list = await done('GET', '/items/books?fields=title,writer_id.name,writer_id.books.title&sort=id');
      const all = { name: 'Ada', books: books.map(({ title }) => ({ title })) };
      expect(list).toEqual(books.map(({ title }) => ({ title, writer_id: all })));
      expect(await done('GET', '/items/books?aggregate[avg]=price')).toEqual([{ avg: { price: '3.000000' } }]);
      const keys = [1, 2, 3, 4, 5];
      expect(await done('PATCH', '/items/books?fields=title', { keys, data: { title: 'x' } })).toHaveLength(5);
      expect(await done('PATCH', '/items/books/1', { writer_id: 99 })).toContain('foreign_key');
      expect(await done('POST', '/items/writers', { name: 'Ada' })).toContain('unique');
      expect(await done('DELETE', '/items/books', keys)).toBeNull();
    });

    it('leaves no transaction open, which would hold up changes of tables', async () => {
      await done('GET', '/items/books');
      await withMysql(url, async (connection) => {
        await connection.query('SET SESSION lock_wait_timeout = 1');
        await connection.query('ALTER TABLE books ADD COLUMN pages int');
      });
      expect(await done('GET', '/items/books?fields=title')).toEqual([]);
    });

    it('tells that it keeps names of tables in lower case, and leaves no table', async () => {
      const named = { collection: 'Shelves', schema: {} };
      expect(await done('POST', '/collections', named)).toContain('some servers keep names of tables in lower case');
      expect(await done('POST', '/collections', { ...named, collection: 'shelves' })).toMatchObject({
        collection: 'shelves',
      });
    });

    it('changes the model', async () => {
      const field = { field: 'note', type: 'string', schema: { default_value: "it's \\ a" } };
      expect(await done('POST', '/fields/books', field)).toMatchObject({ field: 'note' });
      expect(await done('POST', '/items/books?fields=note', { title: 'n' })).toEqual({ note: "it's \\ a" });
    });
  });
});
