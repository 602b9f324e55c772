/** Transactions: all or nothing, again where that is right, and never a guess about a COMMIT without an answer. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database, Transaction } from '../../packages/runtime/src/database/database.ts';
import { connectPostgres } from '../../packages/runtime/src/dialects/postgres/database.ts';
import { connectPglite } from '../../packages/runtime/src/dialects/postgres/embedded.ts';
import type { ConnectOptions } from '../../packages/runtime/src/dialects/server-dialect.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createEmbedded } from '../support/embedded.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { collect, statement } from './statements.ts';

const table = 'CREATE TABLE note (id int PRIMARY KEY, body text)';
const insert = `INSERT INTO note VALUES ($1::int, $2::text) RETURNING pg_catalog.pg_current_xact_id()::text`;

let place: TestDatabase;
let proxy: FaultProxy;
let opened: Database[] = [];
beforeAll(async () => {
  place = await createDatabase(table);
  proxy = await startFaultProxy(place.url);
});
beforeEach(() => withClient(place.url, (client) => client.query('TRUNCATE note')));
afterEach(async () => {
  await Promise.all(opened.map((database) => database.close(0)));
  opened = [];
});
afterAll(async () => {
  await proxy?.close();
  await place?.drop();
});

async function run(transaction: Transaction, text: string, ...parameters: string[]): Promise<string[]> {
  const sink = collect();
  await transaction.run(statement(text), parameters, sink);
  return sink.texts();
}

async function add(transaction: Transaction, id: number, body: string): Promise<void> {
  const [xid = ''] = await run(transaction, insert, String(id), body);
  transaction.identify(xid);
}

/** Writes a note and reads it in the statement that goes along with COMMIT; counts how often it ran. */
async function write(database: Database, id: number): Promise<{ runs: number; answer: string[] }> {
  let runs = 0;
  let sink = collect();
  await database.transaction(async (transaction) => {
    runs += 1;
    await add(transaction, id, 'written');
    const last = {
      statement: statement('SELECT body FROM note WHERE id = $1::int'),
      parameters: [String(id)],
      sink: () => (sink = collect()),
    };
    return { value: undefined, last };
  });
  return { runs, answer: sink.texts() };
}

async function notes(): Promise<unknown[]> {
  return withClient(place.url, async (client) => (await client.query('SELECT id, body FROM note ORDER BY id')).rows);
}

async function code(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
}

test('a server that falls silent while a session is set up keeps nobody waiting', async () => {
  proxy.arm('stall', 'default_transaction_read_only');
  const opening = connectPostgres({ url: proxy.url, driver: 'fast', connectTimeoutMs: 300 });
  expect([await code(opening), proxy.done()]).toEqual(['SERVICE_UNAVAILABLE', 1]);
});

test('a connection whose COMMIT is under way is left alone, also when it takes long', async () => {
  const database = await connectPostgres({ url: place.url, driver: 'fast', poolMax: 3, readConnections: 2 });
  opened.push(database);
  const slow = (id: number) =>
    database.transaction(async (transaction) => {
      await add(transaction, id, 'slow');
      const last = { statement: statement('SELECT pg_sleep(0.4)::text'), parameters: [], sink: collect };
      return { value: id, last };
    });
  // They stand behind each other on one connection, whose first answer takes longer than a read may keep others waiting.
  expect(await Promise.all([1, 2, 3].map(slow))).toEqual([1, 2, 3]);
  expect(await notes()).toHaveLength(3);
});

describe.each(['fast', 'pg'] as const)('the %s lane', (driver) => {
  /** What is seen on the wire of a COMMIT. */
  const commit = driver === 'fast' ? 'w_commit' : 'COMMIT';

  async function open(options: Partial<ConnectOptions> = {}): Promise<Database> {
    const database = await connectPostgres({ url: proxy.url, driver, ...options });
    opened.push(database);
    return database;
  }

  test('commits what the function comes to, and answers its last statement', async () => {
    const database = await open();
    expect(await write(database, 1)).toEqual({ runs: 1, answer: ['written'] });
    expect(await notes()).toEqual([{ id: 1, body: 'written' }]);
  });

  test('keeps nothing when the function rejects, and goes on with the connection', async () => {
    const database = await open({ poolMax: 2 });
    const refused = database.transaction(async (transaction) => {
      await add(transaction, 1, 'a');
      throw new Error('no');
    });
    await expect(refused).rejects.toThrow('no');
    const failed = database.transaction(async (transaction) => {
      await add(transaction, 2, 'b');
      await add(transaction, 2, 'b');
      return { value: undefined };
    });
    expect(await code(failed)).toBe('FAILED_VALIDATION');
    expect(await notes()).toEqual([]);
    expect(await write(database, 3)).toEqual({ runs: 1, answer: ['written'] });
  });

  test('does not commit when the function passes over an error', async () => {
    const database = await open();
    const passing = database.transaction(async (transaction) => {
      await add(transaction, 1, 'a');
      await add(transaction, 1, 'a').catch(() => undefined);
      return { value: undefined };
    });
    expect(await code(passing)).toBe('FAILED_VALIDATION');
    expect(await notes()).toEqual([]);
  });

  test('reports an error of the last statement and of COMMIT itself', async () => {
    await withClient(place.url, (client) =>
      client.query(`DROP TABLE IF EXISTS late;
        CREATE TABLE late (id int, CONSTRAINT late_once UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)`),
    );
    const database = await open();
    const late = database.transaction(async (transaction) => {
      await run(transaction, 'INSERT INTO late VALUES (1), (1)');
      return { value: undefined };
    });
    expect(await code(late)).toBe('FAILED_VALIDATION');
    const broken = database.transaction(async (transaction) => {
      await add(transaction, 1, 'a');
      const last = { statement: statement('SELECT 1 / 0'), parameters: [], sink: collect };
      return { value: undefined, last };
    });
    expect(await code(broken)).toBe('SERVICE_UNAVAILABLE');
    expect(await notes()).toEqual([]);
  });

  test('runs again after a conflict until everyone is through', async () => {
    await withClient(place.url, (client) => client.query(`INSERT INTO note VALUES (0, '0')`));
    // Before the first statement of a transaction there is no place for it.
    const isolation = `options=${encodeURIComponent('-c default_transaction_isolation=serializable')}`;
    const database = await open({ url: `${proxy.url}?${isolation}` });
    let runs = 0;
    const increment = () =>
      database.transaction(async (transaction) => {
        runs += 1;
        const [count = ''] = await run(transaction, 'SELECT body FROM note WHERE id = 0');
        await run(transaction, 'UPDATE note SET body = $1::text WHERE id = 0', String(Number(count) + 1));
        return { value: undefined };
      });
    await Promise.all(Array.from({ length: 4 }, increment));
    expect(await notes()).toEqual([{ id: 0, body: '4' }]);
    expect(runs).toBeGreaterThanOrEqual(4);
  });

  test('gives up after many conflicts', async () => {
    const database = await open();
    let runs = 0;
    const conflict = `DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$`;
    const hopeless = database.transaction(async (transaction) => {
      runs += 1;
      await run(transaction, conflict);
      return { value: undefined };
    });
    expect(await code(hopeless)).toBe('SERVICE_UNAVAILABLE');
    expect(runs).toBe(9);
  });

  describe('a connection that is lost', () => {
    test('before COMMIT was sent: runs again, once', async () => {
      const database = await open();
      proxy.arm('cut', 'written');
      expect(await write(database, 1)).toEqual({ runs: 2, answer: ['written'] });
      proxy.arm('cut', 'written', 5);
      expect(await code(write(database, 2))).toBe('SERVICE_UNAVAILABLE');
      expect(proxy.done()).toBe(2);
      expect(await notes()).toEqual([{ id: 1, body: 'written' }]);
    });

    test('with the answer of COMMIT: is found to be committed, and answered', async () => {
      const database = await open();
      for (let id = 1; id <= 20; id++) {
        proxy.arm('swallow', commit);
        expect(await write(database, id)).toEqual({ runs: 1, answer: ['written'] });
        expect(proxy.done()).toBe(1);
      }
      expect(await notes()).toHaveLength(20);
    });

    test('with the answer of COMMIT: is answered behind slow reads, also to a caller without a token', async () => {
      const database = await open({ poolMax: 2 });
      proxy.arm('swallow', commit);
      const slow: Promise<void>[] = [];
      let sink = collect();
      let tries = 0;
      await database.transaction(async (transaction) => {
        await add(transaction, 1, 'written');
        const last = {
          statement: { ...statement('SELECT body FROM note WHERE id = 1'), isPublic: true },
          parameters: [],
          sink: () => {
            tries += 1;
            // The answer is read once more: every connection is busy by then.
            const sleeping = statement('SELECT pg_catalog.pg_sleep(0.6)::text');
            if (tries === 2) for (let n = 0; n < 4; n++) slow.push(database.read(sleeping, [], collect()));
            sink = collect();
            return sink;
          },
        };
        return { value: undefined, last };
      });
      await Promise.all(slow);
      // Plain `pg` has the answer before it sends COMMIT.
      expect([proxy.done(), tries, sink.texts()]).toEqual([1, driver === 'fast' ? 2 : 1, ['written']]);
    });

    test('with COMMIT itself: is found to be undone, and runs again', async () => {
      const database = await open();
      for (let id = 1; id <= 20; id++) {
        proxy.arm('cut', commit);
        expect(await write(database, id)).toEqual({ runs: 2, answer: ['written'] });
        expect(proxy.done()).toBe(1);
      }
      expect(await notes()).toHaveLength(20);
    });

    test('by silence: is not waited for longer than a statement may take', async () => {
      const database = await open({ statementTimeoutMs: 200 });
      proxy.arm('stall', 'written');
      const start = performance.now();
      expect(await write(database, 1)).toEqual({ runs: 2, answer: ['written'] });
      expect(performance.now() - start).toBeLessThan(5_000);
      expect(await notes()).toHaveLength(1);
    });

    test('by the server, which ends the session: runs again', async () => {
      const database = await open();
      let runs = 0;
      await database.transaction(async (transaction) => {
        runs += 1;
        await add(transaction, 1, 'a');
        if (runs === 1) await run(transaction, 'SELECT pg_terminate_backend(pg_backend_pid())::text');
        return { value: undefined };
      });
      expect(runs).toBe(2);
      expect(await notes()).toHaveLength(1);
    });
  });

  test('a transaction waits for a connection no longer than a request may', async () => {
    const database = await open({ poolMax: 3, poolTimeoutMs: 200 });
    const held = Promise.withResolvers<void>();
    const hold = async () => {
      const begun = Promise.withResolvers<void>();
      const holding = database.transaction(async () => {
        begun.resolve();
        await held.promise;
        return { value: undefined };
      });
      await begun.promise;
      return { holding };
    };
    const both = [await hold(), await hold()];
    expect(await code(write(database, 1))).toBe('SERVICE_UNAVAILABLE');
    held.resolve();
    for (const { holding } of both) await holding;
    expect((await write(database, 1)).runs).toBe(1);
  });

  test('statements that the server has lost are prepared again', async () => {
    const database = await open({ poolMax: 2 });
    await write(database, 1);
    await database.transaction(async (transaction) => {
      await run(transaction, 'DEALLOCATE ALL');
      return { value: undefined };
    });
    expect((await write(database, 2)).answer).toEqual(['written']);
    expect(await notes()).toHaveLength(2);
  });
});

test('the embedded database keeps everybody else out of a transaction', async () => {
  const embedded = await createEmbedded();
  await embedded.exec(table);
  const database = await connectPglite(embedded);
  opened.push(database);
  const read = async () => {
    const sink = collect();
    await database.read(statement('SELECT count(*)::text FROM note'), [], sink);
    return sink.texts();
  };
  let outside: Promise<string[]> | undefined;
  const refused = database.transaction(async (transaction) => {
    await add(transaction, 1, 'a');
    outside = read();
    await new Promise((resolve) => setTimeout(resolve, 20));
    throw new Error('no');
  });
  await expect(refused).rejects.toThrow('no');
  expect(await outside).toEqual(['0']);
  expect(await write(database, 2)).toEqual({ runs: 1, answer: ['written'] });
  expect(await read()).toEqual(['1']);
  await embedded.close();
}, 60_000);
