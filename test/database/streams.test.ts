import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../packages/runtime/src/database/database.ts';
import { connectPostgres } from '../../packages/runtime/src/dialects/postgres/database.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { collect, eventually, statement } from './statements.ts';

const never = new AbortController().signal;
const ready = async (): Promise<void> => {};

/** A reader that is never ready for more, and when it has the first rows. */
function untilBegun(): { readonly stuck: () => Promise<void>; readonly begun: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stuck = (): Promise<void> => {
    resolve();
    return new Promise(() => {});
  };
  return { stuck, begun: promise };
}

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

/** Bytes that are still referenced, as far as they have been collected. */
function memoryInUse(): number {
  if (typeof collectGarbage === 'function') collectGarbage();
  const { external, heapUsed } = process.memoryUsage();
  return external + heapUsed;
}

describe.each(['fast', 'pg'] as const)('the %s lane', (driver) => {
  let place: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    place = await createDatabase(
      'CREATE TABLE big AS SELECT i, repeat(md5(i::text), 30) AS body FROM generate_series(1, 300000) i',
    );
  });
  afterEach(() => database.close(0));
  afterAll(() => place.drop());

  async function open(
    options: { poolMax?: number; poolTimeoutMs?: number; statementTimeoutMs?: number } = {},
  ): Promise<void> {
    database = await connectPostgres({ url: place.url, driver, applicationName: 'stream_test', ...options });
  }

  /** Statements of ours that the server is working on, apart from this question. */
  async function running(): Promise<number> {
    const sql = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'stream_test' AND state = 'active'`;
    const { rows } = await withClient(place.url, (client) => client.query(sql));
    return rows[0].n;
  }

  test('all rows arrive in order, in batches', async () => {
    await open();
    const sink = collect();
    let batches = 0;
    const count = async (): Promise<void> => void batches++;
    const text = 'SELECT i::text FROM generate_series(1, $1::int) i';
    await database.stream(statement(text), ['50000'], sink, count, never);
    expect(sink.texts()).toEqual(Array.from({ length: 50_000 }, (_, i) => String(i + 1)));
    expect(batches).toBeGreaterThan(5);
    expect(await running()).toBe(0);
  });

  test('fewer rows than a batch, and none', async () => {
    await open();
    for (const rows of [0, 1, 63, 64, 65]) {
      const sink = collect();
      const text = 'SELECT i::text FROM generate_series(1, $1::int) i';
      await database.stream(statement(text), [String(rows)], sink, ready, never);
      expect(sink.rows).toHaveLength(rows);
    }
  });

  test('a statement is prepared once, whatever becomes of its tables, unless it is worth a plan for its values', async () => {
    await open({ poolMax: 2 });
    const ask = async (text: string, byValues?: true): Promise<readonly string[]> => {
      const sink = collect();
      await database.stream({ ...statement(text), ...(byValues && { byValues }) }, [], sink, ready, never);
      return sink.texts();
    };
    await withClient(place.url, (client) => client.query("CREATE TABLE changing AS SELECT '7'::text AS value"));
    const changing = 'SELECT value FROM changing';
    expect(await ask(changing)).toEqual(['7']);
    await withClient(place.url, (client) =>
      client.query('ALTER TABLE changing ALTER COLUMN value TYPE json USING value::json'),
    );
    expect(await ask(changing)).toEqual(['7']);
    const plans = (kind: string): string => `/* ${kind} */ SELECT current_setting('plan_cache_mode')`;
    expect(await ask(plans('any'))).toEqual([driver === 'fast' ? 'force_generic_plan' : 'auto']);
    expect(await ask(plans('by values'), true)).toEqual([driver === 'fast' ? 'force_custom_plan' : 'auto']);
    const prepared = `SELECT name FROM pg_prepared_statements WHERE statement = '${changing}'`;
    expect(await ask(prepared)).toHaveLength(driver === 'fast' ? 1 : 0);
  });

  test('a reader that is slow keeps memory flat', async () => {
    await open();
    const before = memoryInUse();
    let bytes = 0;
    const sink = {
      row: (_buffer: Buffer, _offset: number, length: number): void => {
        bytes += length;
      },
    };
    const samples: number[] = [];
    const least: number[] = [];
    let batches = 0;
    const slow = async (): Promise<void> => {
      if (batches++ % 100 !== 50) return;
      // Time in which a server that was not held back would send everything.
      await sleep(100);
      samples.push(memoryInUse() - before);
      least.push(Math.min(await settled(), samples.at(-1) ?? 0));
    };
    // Buffers outside the heap are freed a little after the collection, on a busy machine later; what is held stays for
    // as long as the reader waits.
    const settled = async (): Promise<number> => {
      let found = memoryInUse() - before;
      for (let tries = 0; tries < 100 && found >= 15_000_000; tries++) {
        await sleep(20);
        found = memoryInUse() - before;
      }
      return found;
    };
    await database.stream(statement('SELECT i, body FROM big ORDER BY i'), [], sink, slow, never);
    expect(bytes).toBeGreaterThan(280_000_000);
    expect(samples.length).toBeGreaterThan(5);
    expect(Math.max(...samples)).toBeLessThan(50_000_000);
    expect(Math.max(...least)).toBeLessThan(15_000_000);
  }, 60_000);

  test('rows of a megabyte come a few at a time', async () => {
    await open();
    let rows = 0;
    let most = 0;
    const sink = { row: (): void => void rows++ };
    let last = 0;
    const count = async (): Promise<void> => {
      if (last > 0) most = Math.max(most, rows - last);
      last = rows;
    };
    await database.stream(
      statement(`SELECT repeat('x', 1000000) FROM generate_series(1, 150)`),
      [],
      sink,
      count,
      never,
    );
    expect([rows, most]).toEqual([150, 1]);
  }, 60_000);

  describe('aborting', () => {
    test('between batches ends the statement in the database and keeps the connection', async () => {
      await open();
      const abort = new AbortController();
      const stopped = async (): Promise<void> => abort.abort(new Error('gone'));
      const stream = database.stream(statement('SELECT i, body FROM big'), [], collect(), stopped, abort.signal);
      await expect(stream).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(await running()).toBe(0);
      const sink = collect();
      await database.stream(statement('SELECT 1::text'), [], sink, ready, never);
      expect(sink.texts()).toEqual(['1']);
    });

    test('while the reader is not ready', async () => {
      await open();
      const abort = new AbortController();
      const { stuck, begun } = untilBegun();
      const stream = database.stream(statement('SELECT i, body FROM big'), [], collect(), stuck, abort.signal);
      void begun.then(() => abort.abort());
      await expect(stream).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(await running()).toBe(0);
    });

    test('while the server works cancels the statement', async () => {
      await open();
      const abort = new AbortController();
      const stream = database.stream(statement('SELECT pg_sleep(40)'), [], collect(), ready, abort.signal);
      // Looked at below.
      stream.catch(() => {});
      expect(await eventually(async () => (await running()) === 1)).toBe(true);
      const started = Date.now();
      abort.abort();
      await expect(stream).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(Date.now() - started).toBeLessThan(20_000);
      expect(await eventually(async () => (await running()) === 0)).toBe(true);
    });

    test('before it starts or while it waits for a connection', async () => {
      await open({ poolMax: 2 });
      const aborted = AbortSignal.abort();
      const text = statement('SELECT i, body FROM big');
      await expect(database.stream(text, [], collect(), ready, aborted)).rejects.toThrow();
      const first = new AbortController();
      const { stuck, begun } = untilBegun();
      const blocking = database.stream(text, [], collect(), stuck, first.signal).catch(() => 'ended');
      await begun;
      const waiting = database.stream(text, [], collect(), ready, AbortSignal.timeout(50));
      await expect(waiting).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      first.abort();
      expect(await blocking).toBe('ended');
    });
  });

  describe('failures', () => {
    test('of the statement, at once and in the middle', async () => {
      await open();
      const missing = database.stream(statement('SELECT * FROM nothing_here'), [], collect(), ready, never);
      await expect(missing).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      const sink = collect();
      const text = 'SELECT (1 / (1000 - i))::text FROM generate_series(1, 2000) i';
      const late = database.stream(statement(text), [], sink, ready, never);
      await expect(late).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(sink.rows.length).toBeGreaterThan(0);
      const after = collect();
      await database.stream(statement('SELECT 2::text'), [], after, ready, never);
      expect(after.texts()).toEqual(['2']);
    });

    test('of the sink and of the reader', async () => {
      await open();
      const sink = {
        row(): void {
          throw new Error('broken');
        },
      };
      const text = statement('SELECT i, body FROM big');
      await expect(database.stream(text, [], sink, ready, never)).rejects.toMatchObject({
        code: 'INTERNAL_SERVER_ERROR',
      });
      const broken = (): Promise<void> => Promise.reject(new Error('broken'));
      await expect(database.stream(text, [], collect(), broken, never)).rejects.toMatchObject({
        code: 'INTERNAL_SERVER_ERROR',
      });
      expect(await running()).toBe(0);
    });

    test('of the connection after rows were delivered', async () => {
      await open();
      let killed = false;
      const kill = async (): Promise<void> => {
        if (killed) return;
        killed = true;
        const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'stream_test' AND query LIKE '%FROM big%'`;
        await withClient(place.url, (client) => client.query(sql));
      };
      const stream = database.stream(statement('SELECT i, body FROM big'), [], collect(), kill, never);
      await expect(stream).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    });

    test('more streams than connections: refused in time, and reads go on', async () => {
      await open({ poolMax: 3, poolTimeoutMs: 200 });
      const abort = new AbortController();
      const { stuck, begun } = untilBegun();
      const text = statement('SELECT i, body FROM big');
      const held = database.stream(text, [], collect(), stuck, abort.signal).catch(() => 'ended');
      await begun;
      await expect(database.stream(text, [], collect(), ready, never)).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
      });
      expect(await database.query('SELECT 1', [])).toEqual([['1']]);
      abort.abort();
      expect(await held).toBe('ended');
      const sink = collect();
      await database.stream(statement('SELECT 1::text'), [], sink, ready, never);
      expect(sink.texts()).toEqual(['1']);
    });
  });
});
