/** Prepared statements on a connection, as MariaDB and MySQL answer them: whatever is large, missing, changed or wrong. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createPool, type PoolConnection } from 'mysql2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database, Parameter, RowSink } from '../../packages/runtime/src/database/database.ts';
import { connectMysql } from '../../packages/runtime/src/dialects/mysql/database.ts';
import { maxPrepared } from '../../packages/runtime/src/dialects/mysql/driver/line.ts';
import { connectionOptions } from '../../packages/runtime/src/dialects/mysql/driver/options.ts';
import { run } from '../../packages/runtime/src/dialects/mysql/driver/run.ts';
import { connectMysql as connectPlain, createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import { startRelay } from '../support/relay.ts';
import { servers } from '../support/servers.ts';
import { collect, statement } from './statements.ts';

describe.each(servers)('$name', ({ name, missing, start, startFolding }) => {
  if (missing) return void it.skip('is not there');

  /** Of one connection, so that a statement meets what the one before has left. */
  let database: Database;
  let url: string;
  let server: MysqlServer;
  beforeAll(async () => {
    const tables = `CREATE TABLE samples (id varchar(9) PRIMARY KEY, name varchar(40), amount varchar(20) CHARACTER SET latin1);
      INSERT INTO samples VALUES ('1', 'one', 'é'), ('2', NULL, ''), ('3', 'three', NULL)`;
    server = await start();
    url = await createMysqlDatabase(server, tables);
    database = await connectMysql({ url, poolMax: 1 });
  }, 60_000);
  afterAll(async () => {
    await database?.close(0);
    await server?.stop();
  });

  const ask = (text: string, parameters: readonly Parameter[] = []) => database.query(text, parameters);

  it.each([1, 250, 251, 65_535, 65_536, 1_000_000])('sends and reads texts of %d bytes', async (size) => {
    const text = 'é'.repeat(size >> 1) + 'x'.repeat(size & 1);
    expect(await ask('SELECT ? AS a, CAST(LENGTH(?) AS CHAR) AS b', [text, text])).toEqual([[text, String(size)]]);
  });

  // MySQL makes a certificate of its own; MariaDB as Debian has it does not.
  it.runIf(name === 'MySQL')('reads what is encrypted', async () => {
    const encrypted = await connectMysql({ url: `${url}?ssl-mode=required`, poolMax: 1 });
    const cipher = "SELECT variable_value FROM performance_schema.session_status WHERE variable_name = 'Ssl_cipher'";
    expect(await encrypted.query(cipher, [])).toEqual([[expect.stringMatching(/^TLS_/)]]);
    expect(await encrypted.query("SELECT REPEAT('é', 100000)", [])).toEqual([['é'.repeat(100_000)]]);
    await encrypted.close(0);
  });

  it('ends no connection of the same number on another server to which an address leads by then', async () => {
    const other = await startFolding();
    await withMysql(other.url, (connection) => connection.query(`CREATE DATABASE ${new URL(url).pathname.slice(1)}`));
    const relay = await startRelay(url);
    const balanced = await connectMysql({ url: relay.url, poolMax: 2 });
    const client = { address: '', isGone: false };
    try {
      const [[id] = []] = await balanced.query('SELECT CAST(CONNECTION_ID() AS CHAR)', []);
      let neighbour = await connectPlain(other.url);
      while (neighbour.threadId < Number(id)) {
        neighbour.destroy();
        neighbour = await connectPlain(other.url);
      }
      expect(neighbour.threadId).toBe(Number(id));
      const reading = balanced.read(statement('SELECT SLEEP(3)'), [], collect(), client);
      relay.lead(other.url);
      client.isGone = true;
      await expect(reading).rejects.toMatchObject({ cause: { name: 'ClientGoneError' } });
      await sleep(500);
      expect((await neighbour.query('SELECT 1 AS alive'))[0]).toEqual([{ alive: 1 }]);
      neighbour.destroy();
    } finally {
      await balanced.close(0);
      await relay.close();
      await other.stop();
    }
  }, 60_000);

  it('sends what is missing, also behind the first eight parameters', async () => {
    const parameters = ['a', null, 'b', null, 'c', 'd', 'e', 'f', null, 'g'];
    const list = parameters.map(() => '?').join(', ');
    expect(await ask(`SELECT CONCAT_WS(',', ${list}), IF(? IS NULL, 'yes', 'no')`, [...parameters, null])).toEqual([
      ['a,b,c,d,e,f,g', 'yes'],
    ]);
  });

  it('reads rows that fill more than one packet', async () => {
    const [row] = await ask("SELECT 'front', REPEAT('a', 9000000), REPEAT('b', 9000000), 'end'");
    expect(row?.map((cell) => cell?.length)).toEqual([5, 9_000_000, 9_000_000, 3]);
    expect([row?.[1]?.at(-1), row?.[2]?.[0]]).toEqual(['a', 'b']);
  });

  it('reads descriptions that come in several pieces', async () => {
    const columns = Array.from({ length: 3_000 }, (_, place) => `'${place}' AS "${'column'.repeat(9)} ${place}"`);
    for (const last of ['once', 'again']) {
      const [row] = await ask(`SELECT ${columns.join(', ')}, '${last}'`);
      expect([row?.length, row?.[2_999], row?.[3_000]]).toEqual([3_001, '2999', last]);
    }
  });

  it('reads columns as they are now', async () => {
    const read = () => ask("SELECT *, 'end' FROM samples ORDER BY name LIMIT 1, 1");
    expect(await read()).toEqual([['1', 'one', 'é', 'end']]);
    expect(await read()).toEqual([['1', 'one', 'é', 'end']]);
    await withMysql(url, (connection) =>
      connection.query('ALTER TABLE samples MODIFY amount mediumtext CHARACTER SET utf8mb4'),
    );
    expect(await read()).toEqual([['1', 'one', 'é', 'end']]);
    await withMysql(url, (connection) =>
      connection.query("ALTER TABLE samples DROP amount, ADD more text DEFAULT ('seven')"),
    );
    expect(await read()).toEqual([['1', 'one', 'seven', 'end']]);
  });

  it('goes on behind an error among the rows', async () => {
    const late = ask('SELECT s.id, (SELECT o.id FROM samples o WHERE o.id <= s.id) FROM samples s ORDER BY s.id');
    await expect(late).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' });
    expect(await ask('SELECT CAST(COUNT(*) AS CHAR) FROM samples')).toEqual([['3']]);
  });

  it('goes on when whoever takes the rows fails', async () => {
    let rows = 0;
    const row: RowSink['row'] = () => {
      rows += 1;
      throw new Error('enough');
    };
    await expect(database.read(statement('SELECT id FROM samples'), [], { row })).rejects.toMatchObject({
      cause: { message: 'enough' },
    });
    expect([rows, await ask("SELECT '1'")]).toEqual([1, [['1']]]);
  });

  it('keeps to the pace of whoever takes a stream, and can be used behind it', async () => {
    const sink = collect();
    let behind = 0;
    const drained = async (): Promise<void> => {
      behind += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const digits = '(SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5)';
    const tables = ['a', 'b', 'c', 'd', 'e'].map((name) => `${digits} ${name}`).join(', ');
    const text = `SELECT CONCAT(a.n, b.n, c.n, d.n, e.n), REPEAT('x', 300) FROM ${tables} ORDER BY 1`;
    await database.stream(statement(text), [], sink, drained, new AbortController().signal);
    const rows = sink.texts();
    expect([rows.length, rows.toSorted()]).toEqual([6 ** 5, rows]);
    expect(behind).toBeGreaterThan(5);
    expect(await ask("SELECT '1'")).toEqual([['1']]);
  });

  /** Statements that are prepared on all connections of the server. */
  const prepared = async (): Promise<number> =>
    withMysql(url, async (connection) => {
      const [rows] = await connection.query("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'");
      return Number((rows as { Value: string }[])[0]?.Value);
    });

  it('keeps what it uses of very many', async () => {
    const text = (n: number) => `SELECT 'of many ${n}'`;
    for (let n = 0; n < maxPrepared; n++) await ask(text(n));
    const first = await ask(text(0));
    await ask(text(maxPrepared));
    expect([first, await ask(text(0)), await ask(text(1))]).toEqual([
      [['of many 0']],
      [['of many 0']],
      [['of many 1']],
    ]);
  });

  it('prepares again what was closed', async () => {
    const pool = createPool({ ...connectionOptions(url), connectionLimit: 1 });
    const connection = await new Promise<PoolConnection>((resolve, reject) =>
      pool.getConnection((error, made) => (error ? reject(error) : resolve(made))),
    );
    try {
      for (let turn = 0; turn < 3; turn++) {
        const sink = collect();
        await run(connection, 'SELECT CONCAT(?)', ['here'], sink);
        expect(sink.texts()).toEqual(['here']);
        // The server forgets the statements of a session that changes its user.
        await new Promise<void>((resolve, reject) =>
          connection.changeUser({}, (error) => (error ? reject(error) : resolve())),
        );
      }
    } finally {
      connection.destroy();
    }
  });

  it('makes room where the server keeps no more, also for other connections', async () => {
    const limit = (count: number) =>
      withMysql(server.url, (connection) => connection.query(`SET GLOBAL max_prepared_stmt_count = ${count}`));
    const two = await connectMysql({ url, poolMax: 2 });
    const most = (await prepared()) + 12;
    await limit(most);
    try {
      const asked = Array.from({ length: 60 }, (_, n) => `SELECT 'with few ${n}'`);
      const answers = await Promise.all(asked.map((text) => two.query(text, [])));
      expect(answers.flat(2)).toEqual(asked.map((_, n) => `with few ${n}`));
      const held = two.transaction(async (transaction) => {
        // The other connection takes all that this one has given back.
        for (const text of asked) await two.query(`${text} AS again`, []);
        const sink = collect();
        for (const text of asked.slice(0, 30)) await transaction.run(statement(`${text} AS mine`), [], sink);
        return { value: sink.texts().length };
      });
      expect([await held, (await prepared()) <= most]).toEqual([30, true]);
    } finally {
      await limit(16_382);
      await two.close(0);
    }
  });

  it('forgets what it has prepared when that is too much', async () => {
    const text = (n: number) => `SELECT '${n}' /* ${'x'.repeat(100_000)} */`;
    const before = await prepared();
    for (let n = 0; n < 30; n++) expect(await ask(text(n))).toEqual([[String(n)]]);
    expect(await ask(text(0))).toEqual([['0']]);
    expect((await prepared()) - before).toBeLessThan(15);
  });

  it('waits for what is under way when it is closed, and refuses what is new', async () => {
    const other = await connectMysql({ url, poolMax: 1 });
    const order: string[] = [];
    const read = other.query("SELECT IF(SLEEP(0.3) = 0, 'read', 'woken')", []);
    const closed = other.close(10_000).then(() => order.push('closed'));
    await expect(other.query("SELECT '1'", [])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    order.push(String((await read)[0]?.[0]));
    await closed;
    expect(order).toEqual(['read', 'closed']);
  });

  it('waits no longer than it may', async () => {
    const other = await connectMysql({ url, poolMax: 1 });
    const read = other.query('SELECT SLEEP(20)', []).catch((error: unknown) => error);
    const start = performance.now();
    await other.close(50);
    expect(await read).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
