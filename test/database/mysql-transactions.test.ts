/** Transactions on MariaDB, and on MySQL where there is one: all or nothing, and again where that is right. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database, RowSink, Transaction } from '../../packages/runtime/src/database/database.ts';
import type { Failover, HostChange } from '../../packages/runtime/src/database/hosts/choose-primary.ts';
import { readRow } from '../../packages/runtime/src/database/own-statements.ts';
import { connectMysql } from '../../packages/runtime/src/dialects/mysql/database.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import { servers } from '../support/servers.ts';
import { statement } from './statements.ts';

/** As it is sent; a session that is set up says READ COMMITTED. */
const commit = /COMMIT$/;

describe.each(servers)('$name', ({ missing, dialect, start, exact }) => {
  if (missing) return void it.skip('is not there');

  let server: MysqlServer;
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
    const locked = { ...statement("SELECT CONCAT(GET_LOCK('note', 5))"), locksSession: true };
    for (let again = 0; again < 6; again++) {
      await database.transaction(async (transaction) => {
        await transaction.run(locked, [], { row: () => {} });
        return { value: null };
      });
    }
    const free = await withMysql(url, (connection) => connection.query("SELECT IS_FREE_LOCK('note') AS free"));
    expect(free[0]).toEqual([{ free: 1 }]);
  });

  // The same lane for both, and five seconds of silence.
  it.runIf(dialect === 'mariadb')(
    'reads again on another connection when one says nothing any more, and gives a stream up',
    async () => {
      const proxy = await startFaultProxy(url);
      const far = await connectMysql({ url: proxy.url, poolMax: 4, statementTimeoutMs: 300 });
      try {
        proxy.arm('stall', /'heard'|'streamed'/, 2);
        const never = new AbortController().signal;
        const streamed = far.stream(statement("SELECT 'streamed'"), [], { row: () => {} }, async () => {}, never);
        const [heard] = await Promise.all([
          far.query("SELECT 'heard'", []),
          expect(streamed).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' }),
        ]);
        expect([heard, proxy.done()]).toEqual([[['heard']], 2]);
      } finally {
        await proxy.close();
        await far.close(0);
      }
    },
  );

  it('gives up who says nothing any more within a transaction, before anybody waits for long', async () => {
    const settings = await database.query(
      "SHOW SESSION VARIABLES WHERE variable_name IN ('idle_transaction_timeout', 'wait_timeout')",
      [],
    );
    const seconds = settings.map(([, value]) => Number(value)).filter((value) => value > 0);
    expect(Math.min(...seconds)).toBeLessThanOrEqual(20);
  });

  describe('whose COMMIT gets no answer', () => {
    let proxy: FaultProxy;
    let far: Database;
    beforeAll(async () => {
      proxy = await startFaultProxy(url);
      far = await connectMysql({ url: proxy.url, poolMax: 4 });
    });
    afterAll(async () => {
      await far?.close(0);
      await proxy?.close();
    });

    /** Adds a row, by which the end of the transaction can be told, unless `silent`. */
    async function add(body: string, silent = false): Promise<number> {
      let runs = 0;
      await far.transaction(async (transaction) => {
        runs += 1;
        const [, , id = null] = await run(transaction, `INSERT INTO note (body) VALUES ('${body}')`);
        const text = 'SELECT 1 FROM note WHERE id = ? LOCK IN SHARE MODE';
        if (!silent) transaction.proof?.({ statement: statement(text), parameters: [id] });
        return { value: null };
      });
      return runs;
    }

    it('is done when it was committed', async () => {
      proxy.arm('swallow', commit);
      expect([await add('c'), proxy.done(), await bodies()]).toEqual([1, 1, 'a,b,c']);
    });

    it('runs again when it was not', async () => {
      proxy.arm('cut', commit);
      expect([await add('c'), proxy.done(), await bodies()]).toEqual([2, 1, 'a,b,c']);
    });

    it('is unavailable where nothing tells', async () => {
      proxy.arm('swallow', commit);
      await expect(add('c', true)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(await bodies()).toBe('a,b,c');
    });

    describe('from a server that another one has followed', () => {
      const listeners: ((change: HostChange) => void)[] = [];
      const move = (): void => {
        for (const changed of listeners) changed('moved');
      };
      let moved: Database;
      beforeAll(async () => {
        const failover: Failover = {
          isSettled: true,
          isTimedOut: false,
          listen: (changed) => void listeners.push(changed),
          lost: move,
        };
        moved = await connectMysql({ url: proxy.url, poolMax: 4, failover });
      });
      afterAll(() => moved?.close(0));

      const write = (isNumbered: boolean): Promise<string> =>
        moved.transaction(async (transaction) => {
          const [, , id = null] = await run(transaction, "INSERT INTO note (body) VALUES ('c')");
          const text = 'SELECT 1 FROM note WHERE id = ? LOCK IN SHARE MODE';
          transaction.proof?.({ statement: statement(text), parameters: [id], isNumbered });
          return { value: 'told' };
        });

      it('is unavailable where a number tells it: it may be one of another transaction', async () => {
        proxy.arm('swallow', commit);
        await expect(write(true)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
        expect(await bodies()).toBe('a,b,c');
        proxy.arm('cut', commit);
        await expect(write(true)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
        expect(await bodies()).toBe('a,b,c');
      });

      it('is told by a row that only this one has made', async () => {
        proxy.arm('swallow', commit);
        expect([await write(false), await bodies()]).toEqual(['told', 'a,b,c']);
      });

      it('is not waited for: the driver forgets a COMMIT of a connection that is closed', async () => {
        proxy.arm('stall', commit);
        const writing = write(true);
        await expect.poll(proxy.done).toBe(1);
        const start = performance.now();
        move();
        await expect(writing).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
        expect(performance.now() - start).toBeLessThan(5_000);
      });
    });

    it('waits for a server that still has it open', async () => {
      const begun = Promise.withResolvers<void>();
      const holding = Promise.withResolvers<void>();
      const held = database.transaction(async (transaction) => {
        await run(transaction, "UPDATE note SET body = 'held' WHERE id = 1");
        begun.resolve();
        await holding.promise;
        return { value: null };
      });
      await begun.promise;
      proxy.arm('swallow', commit);
      let runs = 0;
      const waiting = far.transaction(async (transaction) => {
        runs += 1;
        await run(transaction, "INSERT INTO note (body) VALUES ('c')");
        // A row that another transaction holds stands for one whose COMMIT the server has not come to yet.
        const text = "SELECT 1 FROM note WHERE id = 1 AND body = 'held' LOCK IN SHARE MODE";
        transaction.proof?.({ statement: statement(text), parameters: [] });
        return { value: 'told' };
      });
      const first = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 200, 'waits'))]);
      holding.resolve();
      await held;
      expect([first, await waiting, runs]).toEqual(['waits', 'told', 1]);
    });
  });
});
