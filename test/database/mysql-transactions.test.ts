/** Transactions on MariaDB, and on MySQL where there is one: all or nothing, and again where that is right. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database, RowSink, Transaction } from '../../packages/runtime/src/database/database.ts';
import { connectMysql } from '../../packages/runtime/src/database/mysql.ts';
import { readRow } from '../../packages/runtime/src/database/protocol/texts.ts';
import { createMysqlDatabase, type MariadbServer, servers, withMysql } from '../support/mariadb.ts';
import { statement } from './statements.ts';

describe.each(servers)('$name', ({ missing, start, exact }) => {
  if (missing) return void it.skip('is not there');

  let server: MariadbServer;
  let url: string;
  let database: Database;
  beforeAll(async () => {
    server = await start();
    url = await createMysqlDatabase(
      server,
      'CREATE TABLE note (id int AUTO_INCREMENT PRIMARY KEY, body varchar(20) NOT NULL)',
      exact,
    );
    database = await connectMysql({ url, poolMax: 4 });
  }, 60_000);
  beforeEach(() =>
    withMysql(url, (connection) => connection.query("TRUNCATE note; INSERT INTO note VALUES (1, 'a'), (2, 'b')")),
  );
  afterAll(async () => {
    await database?.close(0);
    await server?.stop();
  });

  async function run(transaction: Transaction, text: string): Promise<readonly (string | null)[]> {
    let first: readonly (string | null)[] = [];
    const row: RowSink['row'] = (buffer, offset, length) => {
      first = readRow(buffer, offset, offset + length);
    };
    await transaction.run(statement(text), [], { row });
    return first;
  }

  async function bodies(): Promise<string> {
    const rows = await database.query('SELECT body FROM note ORDER BY id', []);
    return rows.flat().join();
  }

  it('commits what a function has written, and tells how many rows that were', async () => {
    const told = await database.transaction(async (transaction) => ({
      value: [
        ...(await run(transaction, "INSERT INTO note (body) VALUES ('c'), ('d')")),
        ...(await run(transaction, "UPDATE note SET body = 'a' WHERE id < 3 AND body < 'b'")),
      ],
    }));
    expect([told, await bodies()]).toEqual([['1', '2', '3', '1', '1', '0'], 'a,b,c,d']);
  });

  it('keeps nothing when a function fails, and sends nothing behind an error', async () => {
    const failing = database.transaction(async (transaction) => {
      await run(transaction, "UPDATE note SET body = 'x'");
      const first = run(transaction, "INSERT INTO note VALUES (1, 'again')");
      const behind = run(transaction, "INSERT INTO note VALUES (9, 'behind')");
      await Promise.allSettled([first, behind]);
      return { value: null };
    });
    await expect(failing).rejects.toMatchObject({ code: 'FAILED_VALIDATION', extensions: { type: 'unique' } });
    const thrown = database.transaction(async (transaction) => {
      await run(transaction, "UPDATE note SET body = 'x'");
      throw new Error('changed its mind');
    });
    await expect(thrown).rejects.toThrow('changed its mind');
    expect(await bodies()).toBe('a,b');
  });

  it('runs the function again that lost against another one', async () => {
    const meeting = Promise.withResolvers<void>();
    let here = 0;
    let runs = 0;
    const cross = (first: number, second: number) =>
      database.transaction(async (transaction) => {
        runs += 1;
        await run(transaction, `UPDATE note SET body = CONCAT(body, '+') WHERE id = ${first}`);
        if (++here === 2) meeting.resolve();
        await meeting.promise;
        await run(transaction, `UPDATE note SET body = CONCAT(body, '+') WHERE id = ${second}`);
        return { value: null };
      });
    await Promise.all([cross(1, 2), cross(2, 1)]);
    expect([await bodies(), runs]).toEqual(['a++,b++', 3]);
  });

  it('runs the function again whose connection was lost', async () => {
    let runs = 0;
    await database.transaction(async (transaction) => {
      runs += 1;
      const [id] = await run(transaction, 'SELECT CONCAT(CONNECTION_ID())');
      await run(transaction, "UPDATE note SET body = 'new' WHERE id = 1");
      if (runs === 1) await withMysql(url, (connection) => connection.query(`KILL ${id}`));
      await run(transaction, "UPDATE note SET body = 'newer' WHERE id = 2");
      return { value: null };
    });
    expect([await bodies(), runs]).toEqual(['new,newer', 2]);
  });

  it('sees what others have committed since it began, and reads only outside of transactions', async () => {
    const seen = await database.transaction(async (transaction) => {
      await run(transaction, 'SELECT body FROM note WHERE id = 1');
      await withMysql(url, (connection) => connection.query("UPDATE note SET body = 'other' WHERE id = 1"));
      return { value: await run(transaction, 'SELECT body FROM note WHERE id = 1') };
    });
    expect(seen).toEqual(['other']);
    await expect(database.query("UPDATE note SET body = 'x'", [])).rejects.toThrow();
  });

  it('gives locks of the session back', async () => {
    const locked = { ...statement("SELECT CONCAT(GET_LOCK('note', 5))"), held: true };
    for (let again = 0; again < 6; again++) {
      await database.transaction(async (transaction) => {
        await transaction.run(locked, [], { row: () => {} });
        return { value: null };
      });
    }
    const free = await withMysql(url, (connection) => connection.query("SELECT IS_FREE_LOCK('note') AS free"));
    expect(free[0]).toEqual([{ free: 1 }]);
  });
});
