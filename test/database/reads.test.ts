import { connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../packages/runtime/src/database/database.ts';
import { connectPostgres } from '../../packages/runtime/src/dialects/postgres/database.ts';
import type { ConnectOptions } from '../../packages/runtime/src/dialects/server-dialect.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { fastestMs } from '../support/timing.ts';
import { collect, eventually, statement } from './statements.ts';

async function read(database: Database, text: string, ...parameters: (string | null)[]): Promise<string[]> {
  const sink = collect();
  await database.read(statement(text), parameters, sink);
  return sink.texts();
}

/** What a statement waits at in `meanwhile`; an empty text. */
const gateSql = 'pg_catalog.pg_advisory_xact_lock_shared(1)::text';

/** Does something while statements wait at the gate, and lets them pass behind it. */
function meanwhile(url: string, work: () => Promise<void>): Promise<void> {
  return withClient(url, async (client) => {
    await client.query('SELECT pg_advisory_lock(1)');
    await work();
  });
}

/** Waits until so many statements wait at the gate. */
async function atGate(url: string, count: number): Promise<void> {
  const sql = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
  const waiting = async () => (await withClient(url, (client) => client.query(sql))).rows.length;
  expect(await eventually(async () => (await waiting()) === count)).toBe(true);
}

/** Ends the sessions of an application. */
function terminate(url: string, application: string): Promise<unknown> {
  const sql = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1';
  return withClient(url, (client) => client.query(sql, [application]));
}

async function failure(promise: Promise<unknown>): Promise<{ code: string; cause: unknown }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { code: String(error.code), cause: error.cause };
    throw error;
  }
  throw new Error('It did not fail.');
}

describe.each(['fast', 'pg'] as const)('the %s lane', (driver) => {
  let place: TestDatabase;
  let opened: Database[] = [];
  beforeAll(async () => {
    place = await createDatabase(
      'CREATE TABLE note (id int PRIMARY KEY, body text); INSERT INTO note VALUES (1, $$a$$)',
    );
  });
  afterEach(async () => {
    await Promise.all(opened.map((database) => database.close(0)));
    opened = [];
  });
  afterAll(() => place.drop());

  /** Lets reads wait long for a connection, as some of many do beside other work. */
  const patient = { poolTimeoutMs: 30_000 };

  async function open(options: Partial<ConnectOptions> = {}): Promise<Database> {
    const database = await connectPostgres({ url: place.url, driver, ...options });
    opened.push(database);
    return database;
  }

  test('the session makes results independent of settings, and only reads', async () => {
    await withClient(place.url, (client) =>
      client.query(`ALTER DATABASE ${place.name} SET timezone = 'Asia/Kolkata'; 
      ALTER DATABASE ${place.name} SET datestyle = 'SQL, DMY'; ALTER DATABASE ${place.name} SET bytea_output = 'escape'`),
    );
    const database = await open();
    const names = ['timezone', 'datestyle', 'intervalstyle', 'bytea_output', 'plan_cache_mode', 'application_name'];
    const rows = await database.query(
      `SELECT pg_catalog.current_setting(name) FROM pg_catalog.unnest($1::text[]) WITH ORDINALITY AS n(name, i) ORDER BY i`,
      [`{${names.join(',')}}`],
    );
    const plans = driver === 'fast' ? 'force_generic_plan' : 'auto';
    const expected = ['UTC', 'ISO, DMY', 'iso_8601', 'hex', plans, 'platform'];
    expect(rows.map(([value]) => value)).toEqual(expected);
    const { code } = await failure(read(database, 'INSERT INTO note VALUES (2) RETURNING id'));
    expect(code).toBe('SERVICE_UNAVAILABLE');
  });

  test('pages are as cheap as they are today, unless an operator has said something else', async () => {
    const pageCost = async (): Promise<unknown> =>
      (await (await open()).query(`SELECT pg_catalog.current_setting('random_page_cost')`, []))[0]?.[0];
    expect(await pageCost()).toBe('1.04');
    const set = `ALTER DATABASE ${place.name}`;
    await withClient(place.url, (client) => client.query(`${set} SET random_page_cost = 3`));
    expect(await pageCost()).toBe('3');
    await withClient(place.url, (client) => client.query(`${set} RESET random_page_cost`));
  });

  test('small queries give texts and nulls', async () => {
    const database = await open();
    const rows = await database.query('SELECT $1::int + 1, $2::text, ARRAY[1, 2], $3::text', ['1', 'é"', null]);
    expect(rows).toEqual([['2', 'é"', '{1,2}', null]]);
  });

  describe('pipelining', () => {
    test('answers go to those who asked, in any mixture of sizes', async () => {
      const database = await open(patient);
      const sizes = Array.from({ length: 500 }, (_, i) => (i * 7_919) % 3_000);
      const answers = await Promise.all(
        sizes.map((size, i) => read(database, `SELECT repeat('x', $1::int) || $2`, String(size), String(i))),
      );
      expect(answers).toEqual(sizes.map((size, i) => ['x'.repeat(size) + i]));
    });

    test('an error stays with its own request', async () => {
      const database = await open({ readConnections: 1 });
      const results = await Promise.all(
        Array.from({ length: 100 }, (_, i) => {
          const text = i % 3 === 0 ? 'SELECT (1 / ($1::int * 0))::text' : 'SELECT $1::text';
          return read(database, text, String(i)).catch((error: { code: string }) => [error.code]);
        }),
      );
      expect(results).toEqual(results.map((_, i) => [i % 3 === 0 ? 'SERVICE_UNAVAILABLE' : String(i)]));
    });

    test('a statement that cannot be prepared fails for all who sent it, and can be prepared later', async () => {
      const database = await open({ readConnections: 1 });
      const text = 'SELECT body FROM late';
      const failures = await Promise.all(Array.from({ length: 20 }, () => failure(read(database, text))));
      expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(['SERVICE_UNAVAILABLE']));
      await withClient(place.url, (client) => client.query(`CREATE TABLE late AS SELECT 'there' AS body`));
      expect(await read(database, text)).toEqual(['there']);
    });

    test('a sink that throws fails its own request only', async () => {
      const database = await open({ readConnections: 1 });
      const bad = database.read(statement('SELECT 1'), [], {
        row() {
          throw new Error('broken sink');
        },
      });
      const good = read(database, 'SELECT $1::text', 'x');
      expect((await failure(bad)).code).toBe('INTERNAL_SERVER_ERROR');
      expect(await good).toEqual(['x']);
    });
  });

  describe('brief reads', () => {
    const brief = async (database: Database, text: string, ...parameters: string[]): Promise<string[]> => {
      const sink = collect();
      await database.read({ ...statement(text), brief: true }, parameters, sink);
      return sink.texts();
    };
    const asked = Array.from({ length: 100 }, (_, i) => String(i));

    test('of one turn go together, once they are prepared', async () => {
      const database = await open({ readConnections: 1 });
      const text = 'SELECT pg_catalog.pg_current_xact_id()::text || $1';
      await brief(database, text, '');
      const answers = await Promise.all(asked.map(() => brief(database, text, '')));
      // One transaction for every thirty-two; the plain lane has one for each.
      expect(new Set(answers.flat()).size).toBe(driver === 'fast' ? 4 : 100);
    });

    test('are answered each, whichever of them fail', async () => {
      const database = await open({ readConnections: 1 });
      const texts = ['SELECT (6 / ($1::int % 6))::text', 'SELECT $1::text'];
      await Promise.all(texts.map((text) => brief(database, text, '1')));
      for (const bad of [[0], [15], [0, 1, 2], [3, 5, 17, 18, 99], asked.map((_, i) => i)]) {
        const answers = asked.map((i) => {
          const fails = bad.includes(Number(i));
          const read = brief(database, texts[fails ? 0 : 1] ?? '', fails ? '6' : i);
          return read.catch((error: { code: string }) => [error.code]);
        });
        const expected = asked.map((i) => (bad.includes(Number(i)) ? 'SERVICE_UNAVAILABLE' : i));
        expect((await Promise.all(answers)).flat()).toEqual(expected);
      }
    });

    test('mix with others, and with a sink that throws', async () => {
      const database = await open({ readConnections: 1 });
      const text = 'SELECT $1::text';
      await brief(database, text, '');
      const answers = asked.map((i) => (Number(i) % 5 === 3 ? read(database, text, i) : brief(database, text, i)));
      const broken = database.read({ ...statement(text), brief: true }, ['x'], {
        row() {
          throw new Error('broken sink');
        },
      });
      const behind = brief(database, text, 'behind');
      expect((await failure(broken)).code).toBe('INTERNAL_SERVER_ERROR');
      expect((await Promise.all(answers)).flat()).toEqual(asked);
      expect(await behind).toEqual(['behind']);
    });

    test('find a table that has changed, or statements that are gone', async () => {
      const database = await open({ readConnections: 1 });
      const sql = 'CREATE TABLE changing (x int); INSERT INTO changing VALUES (1)';
      await withClient(place.url, (client) => client.query(sql));
      await brief(database, 'SELECT x FROM changing');
      await withClient(place.url, (client) => client.query('ALTER TABLE changing ALTER x TYPE text'));
      const changed = await Promise.all(asked.map(() => brief(database, 'SELECT x FROM changing')));
      expect(new Set(changed.flat())).toEqual(new Set(['1']));
      await database.query('DEALLOCATE ALL', []);
      const prepared = await Promise.all(asked.map(() => brief(database, 'SELECT x FROM changing')));
      expect(prepared.flat()).toEqual(changed.flat());
    });

    test('that turn out slow hold up nobody for long', async () => {
      const database = await open({ readConnections: 1 });
      const text = `SELECT $1::text || CASE WHEN $1 = 'slow' THEN ${gateSql} ELSE '' END`;
      await brief(database, text, '0');
      const slow: Promise<string[]>[] = [];
      // If one of them stood behind the slow one, they would never be answered.
      await meanwhile(place.url, async () => {
        slow.push(brief(database, text, 'slow'));
        const behind = await Promise.all(asked.map(() => brief(database, text, '0')));
        expect(new Set(behind.flat())).toEqual(new Set(['0']));
      });
      expect(await Promise.all(slow)).toEqual([['slow']]);
    });

    test('of a connection that breaks are read again elsewhere', async () => {
      const database = await open({ applicationName: 'brief_test', readConnections: 1 });
      const text = `SELECT $1::text || CASE WHEN $2::text = 'slow' THEN ${gateSql} ELSE '' END`;
      await brief(database, text, '', '0');
      const answers: Promise<string[]>[] = [];
      await meanwhile(place.url, async () => {
        answers.push(...asked.map((i) => brief(database, text, i, i === '3' ? 'slow' : '0')));
        await atGate(place.url, 1);
        await terminate(place.url, 'brief_test');
      });
      expect((await Promise.all(answers)).flat()).toEqual(asked);
    });
  });

  test('a value of 50 MB arrives whole', async () => {
    const database = await open();
    const sink = collect();
    const text = `SELECT pg_catalog.json_build_object('x', repeat('0123456789', 5000000))`;
    await database.read(statement(text), [], sink);
    expect(sink.rows[0]?.length).toBe(50_000_000 + '{"x" : ""}'.length);
    expect(sink.rows[0]?.subarray(0, 12).toString()).toBe('{"x" : "0123');
  });

  test('a parameter of 5 MB arrives whole', async () => {
    const database = await open();
    expect(await read(database, 'SELECT pg_catalog.length($1::text)::text', 'é'.repeat(2_500_000))).toEqual([
      '2500000',
    ]);
  });

  test('10,000 statements: old ones are closed, and still work when they come again', async () => {
    const database = await open({ ...patient, readConnections: 1, preparedLimit: 100 });
    for (let from = 0; from < 10_000; from += 500) {
      const texts = Array.from({ length: 500 }, (_, i) => `SELECT ${from + i}::text`);
      const answers = await Promise.all(texts.map((text) => read(database, text)));
      expect(answers.flat()).toEqual(texts.map((_, i) => String(from + i)));
    }
    expect(await read(database, 'SELECT 0::text')).toEqual(['0']);
    const [[count] = []] = await database.query('SELECT count(*) FROM pg_catalog.pg_prepared_statements', []);
    expect(Number(count)).toBe(driver === 'fast' ? 100 : 0);
  });

  describe('prepared statements that the server no longer has', () => {
    test('a changed result type', async () => {
      const database = await open({ readConnections: 1 });
      await withClient(place.url, (client) => client.query('CREATE TABLE shape (x int); INSERT INTO shape VALUES (1)'));
      expect((await read(database, 'SELECT x FROM shape'))[0]).toBe('\0\0\0\x01');
      await withClient(place.url, (client) => client.query('ALTER TABLE shape ALTER x TYPE text'));
      expect(await Promise.all([1, 2, 3].map(() => read(database, 'SELECT x FROM shape')))).toEqual([
        ['1'],
        ['1'],
        ['1'],
      ]);
    });

    test('all of them dropped behind our back, as by a pooler', async () => {
      const database = await open({ readConnections: 1 });
      const texts = [0, 1, 2, 3].map((i) => `SELECT ${i}::text`);
      await Promise.all(texts.map((text) => read(database, text)));
      await database.query('DEALLOCATE ALL', []);
      expect((await Promise.all(texts.map((text) => read(database, text)))).flat()).toEqual(['0', '1', '2', '3']);
      const [[count] = []] = await database.query('SELECT count(*) FROM pg_catalog.pg_prepared_statements', []);
      expect(Number(count)).toBeLessThanOrEqual(4);
    });

    test('a name that is taken already', async () => {
      const database = await open({ readConnections: 1 });
      const { name, text } = statement(`SELECT 'ours'`);
      await database.query(`PREPARE "${name}" AS SELECT 'theirs'`, []);
      const sink = collect();
      await database.read({ name, text }, [], sink);
      expect(sink.texts()).toEqual(['ours']);
    });
  });

  describe('lost connections', () => {
    test('reads under way are read again elsewhere', async () => {
      const database = await open({ applicationName: 'lost_test' });
      const reads: Promise<string[]>[] = [];
      await meanwhile(place.url, async () => {
        const text = (i: number) => `SELECT $1::text || ${i < 2 ? gateSql : "''"}`;
        reads.push(...Array.from({ length: 20 }, (_, i) => read(database, text(i), String(i))));
        await atGate(place.url, 2);
        await terminate(place.url, 'lost_test');
      });
      expect((await Promise.all(reads)).flat()).toEqual(Array.from({ length: 20 }, (_, i) => String(i)));
    });

    test('a read that has delivered rows is not', async () => {
      const database = await open({ applicationName: 'partial_test' });
      let rows = 0;
      const text = 'SELECT i, pg_catalog.pg_sleep(i / 2000) FROM generate_series(1, 4000) i';
      const half = failure(database.read(statement(text), [], { row: () => void rows++ }));
      await eventually(async () => rows > 0);
      await terminate(place.url, 'partial_test');
      expect((await half).code).toBe('SERVICE_UNAVAILABLE');
      expect(await read(database, 'SELECT 1::text')).toEqual(['1']);
    });

    test('a server that is away is unavailable until it is back', async () => {
      const driftGuard = await openGate(place.url);
      const database = await open({ url: driftGuard.url, poolTimeoutMs: 300 });
      expect(await read(database, 'SELECT 1::text')).toEqual(['1']);
      await driftGuard.shut();
      const refused = async () =>
        expect((await failure(read(database, 'SELECT 1::text'))).code).toBe('SERVICE_UNAVAILABLE');
      expect(await fastestMs(refused, 1_500)).toBeLessThan(1_500);
      await driftGuard.open();
      expect(
        await eventually(() =>
          read(database, 'SELECT 1::text').then(
            () => true,
            () => false,
          ),
        ),
      ).toBe(true);
      await database.close(0);
      await driftGuard.shut();
    });

    test('a connection that has gone silent is given up shortly after the statement timeout', async () => {
      const driftGuard = await openGate(place.url);
      const database = await open({ url: driftGuard.url, statementTimeoutMs: 300 });
      expect(await read(database, 'SELECT 1::text')).toEqual(['1']);
      driftGuard.silence();
      const started = Date.now();
      const read2 = read(database, 'SELECT 1::text');
      await driftGuard.shutNew();
      expect((await failure(read2)).code).toBe('SERVICE_UNAVAILABLE');
      expect(Date.now() - started).toBeLessThan(30_000);
      await database.close(0);
      await driftGuard.shut();
    });

    test('the first connection failing says why', async () => {
      const url = new URL(place.url);
      url.pathname = '/no_such_database';
      const { code, cause } = await failure(connectPostgres({ url: url.href, driver }));
      expect(code).toBe('SERVICE_UNAVAILABLE');
      expect(String(cause)).toContain('no_such_database');
      expect(String(cause)).not.toContain(url.password);
      url.port = '1';
      expect(String((await failure(connectPostgres({ url: url.href, driver }))).cause)).toContain('ECONNREFUSED');
    });
  });

  describe('slow statements', () => {
    test('are ended by the statement timeout', async () => {
      const database = await open({ statementTimeoutMs: 200 });
      const ended = async () =>
        expect((await failure(read(database, 'SELECT pg_catalog.pg_sleep(40)'))).code).toBe('SERVICE_UNAVAILABLE');
      expect(await fastestMs(ended, 1_500)).toBeLessThan(1_500);
    });

    test('do not hold up the reads behind them', async () => {
      const database = await open({ readConnections: 1 });
      const slow: Promise<string[]>[] = [];
      await meanwhile(place.url, async () => {
        slow.push(read(database, `SELECT 'slow' || ${gateSql}`));
        const quick = await Promise.all(
          Array.from({ length: 50 }, (_, i) => read(database, 'SELECT $1::text', String(i))),
        );
        expect(quick.flat()).toEqual(Array.from({ length: 50 }, (_, i) => String(i)));
      });
      expect(await Promise.all(slow)).toEqual([['slow']]);
      expect(await read(database, 'SELECT 1::text')).toEqual(['1']);
    });

    test('that hold every connection make others unavailable in time, and the pool recovers', async () => {
      const database = await open({ poolMax: 5, poolTimeoutMs: 400, applicationName: 'full_test' });
      // The last connection is one that reads leave to transactions.
      const [left, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const writing = database.transaction(async () => {
        begun.resolve();
        return { value: await left.promise };
      });
      await begun.promise;
      const slow: Promise<string[]>[] = [];
      await meanwhile(place.url, async () => {
        slow.push(...Array.from({ length: 4 }, (_, i) => read(database, `SELECT '${i}' || ${gateSql}`)));
        await atGate(place.url, 4);
        const refused = async () => {
          const others = await Promise.all(
            Array.from({ length: 100 }, () => failure(read(database, 'SELECT 1::text')).then(({ code }) => code)),
          );
          expect(new Set(others)).toEqual(new Set(['SERVICE_UNAVAILABLE']));
        };
        // One after the other they would have waited for 40 seconds.
        expect(await fastestMs(refused, 1_000)).toBeLessThan(1_000);
        const connections = await withClient(place.url, (client) =>
          client.query(`SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'full_test'`),
        );
        expect(connections.rows[0].n).toBeLessThanOrEqual(5);
      });
      left.resolve();
      await writing;
      expect((await Promise.all(slow)).flat()).toEqual(['0', '1', '2', '3']);
      expect(await read(database, 'SELECT 1::text')).toEqual(['1']);
    });
  });

  test('closing waits for what is under way and refuses what is new', async () => {
    const database = await connectPostgres({ url: place.url, driver, applicationName: 'close_test' });
    const slow = read(database, `SELECT 'done' || pg_catalog.pg_sleep(0.3)`);
    const closed = database.close(5_000);
    expect((await failure(read(database, 'SELECT 1::text'))).code).toBe('SERVICE_UNAVAILABLE');
    expect(await slow).toEqual(['done']);
    await closed;
    const gone = await eventually(() =>
      withClient(place.url, async (client) => {
        const { rows } = await client.query(`SELECT FROM pg_stat_activity WHERE application_name = 'close_test'`);
        return rows.length === 0;
      }),
    );
    expect(gone).toBe(true);
  });
});

interface Gate {
  readonly url: string;
  /** Passes nothing on any more, without telling anyone. */
  silence(): void;
  /** Refuses new connections. */
  shutNew(): Promise<void>;
  /** Refuses new connections and breaks those there are. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

/** A door between the driver and the server that can fail in several ways. */
async function openGate(url: string): Promise<Gate> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let silent = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => void (silent || to.write(bytes)));
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  // It is listened on twice: nothing else may be given it meanwhile.
  const port = await freePort();
  await listen(port);
  const gated = new URL(url);
  gated.port = String(port);
  const shutNew = async (): Promise<void> => {
    if (server.listening) server.close();
  };
  return {
    url: gated.href,
    silence: () => {
      silent = true;
    },
    shutNew,
    shut: async () => {
      await shutNew();
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    open: () => listen(port),
  };
}
