/** Activity and revisions on MariaDB and MySQL, whose numbers the server gives out while they are written. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../packages/runtime/src/database/database.ts';
import { mysqlLog } from '../../packages/runtime/src/dialects/mysql/own-tables/log-changes.ts';
import { mysqlTables } from '../../packages/runtime/src/dialects/mysql/own-tables/tables.ts';
import { openDatabase } from '../../packages/runtime/src/dialects/open.ts';
import type { ChangeOrigin, LoggedChange } from '../../packages/runtime/src/system/log-changes.ts';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import { servers } from '../support/servers.ts';
import { installMysqlSystem } from '../support/system.ts';

const nobody: ChangeOrigin = { user: null, ip: '::1', userAgent: 'x'.repeat(999), origin: null };

describe.each(servers)('on $name', ({ dialect, missing, start, exact }) => {
  /** JSON as the server gives it: MySQL keeps no text, and puts blanks behind colons and commas. */
  const spaced = (value: object): string =>
    JSON.stringify(value).replaceAll(/(?<=[:,])(?=["\d])/g, dialect === 'mysql' ? ' ' : '');
  let server: MysqlServer;
  let url: string;
  let database: Database;
  beforeAll(async () => {
    if (missing) return;
    server = await start();
    url = await createMysqlDatabase(server, 'SELECT 1', exact);
    await installMysqlSystem(url);
    database = await openDatabase({ url });
  });
  afterAll(async () => {
    await database?.close(0);
    await server?.stop();
  });

  const log = mysqlLog(mysqlTables({ schema: '', dialect }));

  function write(changes: readonly LoggedChange[]): Promise<void> {
    return database.transaction(async (transaction) => ({ value: await log(transaction, nobody, changes) }));
  }

  async function rows(sql: string): Promise<readonly unknown[]> {
    return withMysql(url, async (connection) => (await connection.query<never[]>({ sql, rowsAsArray: true }))[0]);
  }

  it.skipIf(missing)('writes activity and revisions that belong together', async () => {
    const revision = { data: { id: 1, title: 'é' }, delta: { title: 'é' } };
    await write([
      { action: 'create', collection: 'articles', item: '1', revision, parent: null },
      { action: 'delete', collection: 'c'.repeat(100), item: 'k'.repeat(300), revision: null, parent: 0 },
      { action: 'update', collection: 'comments', item: '7', revision: { data: { id: 7 }, delta: {} }, parent: 0 },
    ]);
    expect(
      await rows(
        'SELECT action, LENGTH(user_agent), LEFT(collection, 9), LENGTH(item) FROM platform_activity ORDER BY id',
      ),
    ).toEqual([
      ['create', 255, 'articles', 1],
      ['delete', 255, 'ccccccccc', 255],
      ['update', 255, 'comments', 1],
    ]);
    expect(
      await rows(`SELECT r.item, a.action, CAST(r.data AS CHAR), CAST(r.delta AS CHAR), p.item FROM platform_revisions r
        JOIN platform_activity a ON a.id = r.activity LEFT JOIN platform_revisions p ON p.id = r.parent ORDER BY r.id`),
    ).toEqual([
      ['1', 'create', spaced(revision.data), spaced(revision.delta), null],
      ['7', 'update', spaced({ id: 7 }), '{}', '1'],
    ]);
  });

  it.skipIf(missing)('takes thousands at once, of several who write at the same time', async () => {
    const many = (name: string): readonly LoggedChange[] =>
      Array.from({ length: 1_500 }, (_, index) => ({
        action: 'create',
        collection: name,
        item: String(index),
        revision: index % 3 === 0 ? null : { data: { id: index }, delta: {} },
        parent: index === 1 || index % 3 === 0 ? null : 1,
      }));
    await Promise.all(['one', 'two', 'three'].map((name) => write(many(name))));
    expect(
      await rows(`SELECT a.collection, COUNT(*), COUNT(DISTINCT r.parent), SUM(p.collection <> a.collection)
        FROM platform_activity a JOIN platform_revisions r ON r.activity = a.id
        LEFT JOIN platform_revisions p ON p.id = r.parent
        WHERE a.item = r.item AND CAST(JSON_VALUE(r.data, '$.id') AS SIGNED) = CAST(a.item AS SIGNED) AND a.collection IN ('one', 'two', 'three')
        GROUP BY 1 ORDER BY 1`),
    ).toEqual(['one', 'three', 'two'].map((name) => [name, 1_000, 1, '0']));
  });
});
