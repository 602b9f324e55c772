/** Between us and the server stands something that shares sessions, or keeps no statements. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../packages/runtime/src/database/database.ts';
import { connectPostgres } from '../../packages/runtime/src/dialects/postgres/database.ts';
import type { ConnectOptions } from '../../packages/runtime/src/dialects/server-dialect.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { type Pooler, poolerVersion, startPooler, withoutPooler } from '../support/pooler.ts';
import { startRelay } from '../support/relay.ts';
import { fastestMs } from '../support/timing.ts';
import { collect, eventually, statement } from './statements.ts';

const never = new AbortController().signal;

let place: TestDatabase;
let opened: Database[] = [];
let reasons: string[] = [];
beforeAll(async () => {
  place = await createDatabase(`CREATE TABLE note (id int PRIMARY KEY, body text);
    INSERT INTO note SELECT i, repeat(md5(i::text), 30) FROM generate_series(1, 20000) i`);
  await withClient(place.url, (client) =>
    client.query(`ALTER DATABASE ${place.name} SET timezone = 'Asia/Kolkata'; 
      ALTER DATABASE ${place.name} SET intervalstyle = 'postgres_verbose'`),
  );
});
afterEach(async () => {
  await Promise.all(opened.map((database) => database.close(0)));
  opened = [];
  reasons = [];
});
afterAll(() => place.drop());

async function open(options: ConnectOptions): Promise<Database> {
  const onFallback = (reason: Error): void => void reasons.push(reason.message);
  const database = await connectPostgres({ applicationName: 'pooler_test', onFallback, ...options });
  opened.push(database);
  return database;
}

async function read(database: Database, text: string, ...parameters: (string | null)[]): Promise<string[]> {
  const sink = collect();
  await database.read(statement(text), parameters, sink);
  return sink.texts();
}

test('a server of our own is not left for the plain driver', async () => {
  const database = await open({ url: place.url });
  await read(database, 'SELECT 1::text');
  const [[count] = []] = await database.query('SELECT count(*) FROM pg_catalog.pg_prepared_statements', []);
  expect([count, reasons]).toEqual(['1', []]);
});

test('where statements may have no names, the plain lane is taken', async () => {
  const relay = await startRelay(place.url, { refusesNames: true });
  const database = await open({ url: relay.url });
  expect(await read(database, 'SELECT $1::text', 'é')).toEqual(['é']);
  const [[count] = []] = await database.query('SELECT count(*) FROM pg_catalog.pg_prepared_statements', []);
  expect([count, reasons]).toEqual(['0', [expect.stringContaining('prepared statements')]]);
  await relay.close();
});

const modes = ['transaction', 'statement', 'session'] as const;
describe.skipIf(poolerVersion === undefined).each(modes)(`PgBouncer pooling by %s${withoutPooler}`, (mode) => {
  let pooler: Pooler;
  // A session is held as long as its connection, so some of the four are left to the neighbour.
  const poolMax = mode === 'session' ? 3 : 10;
  beforeAll(async () => {
    pooler = await startPooler(place.url, mode);
  });
  afterAll(() => pooler?.stop());

  /** As another application that shares the pool does. */
  const neighbour = (sql: string): Promise<unknown[]> =>
    withClient(pooler.url, async (client) => (await client.query(sql)).rows);

  test('the plain lane is taken, and says so once', async () => {
    const database = await open({ url: pooler.url });
    expect(await read(database, 'SELECT $1::text', 'é')).toEqual(['é']);
    expect(reasons).toEqual([expect.stringContaining('pooler')]);
  });

  test('every answer goes to the one who asked', async () => {
    // Beside other work so many do not get through three connections in the usual two seconds.
    const database = await open({ url: pooler.url, poolMax, poolTimeoutMs: 20_000 });
    const ids = Array.from({ length: 400 }, (_, i) => String(i));
    const texts = ids.map((_, i) => (i % 40 === 7 ? 'SELECT ($1::int / 0)::text' : `SELECT $1 || '-${i % 50}'`));
    const answers = await Promise.all(
      ids.map((id, i) => read(database, texts[i] ?? '', id).catch((error: { code: string }) => [error.code])),
    );
    expect(answers.flat()).toEqual(ids.map((id, i) => (i % 40 === 7 ? 'SERVICE_UNAVAILABLE' : `${id}-${i % 50}`)));
  });

  test('a database that moves behind it while it is used is followed', async () => {
    const relay = await startRelay(place.url);
    const database = await open({ url: relay.url, poolMax });
    expect(await read(database, 'SELECT $1::text', 'before')).toEqual(['before']);
    expect(reasons).toEqual([]);
    relay.move(pooler.url);
    const followed = await eventually(() =>
      read(database, 'SELECT $1::text', 'after').then(
        ([text]) => text === 'after',
        () => false,
      ),
    );
    expect([followed, reasons]).toEqual([true, [expect.stringContaining('pooler')]]);
    await database.close(0);
    await relay.close();
  });

  test('each request has its settings, and nobody else has', async () => {
    const database = await open({ url: pooler.url, poolMax, statementTimeoutMs: 7_000 });
    const settings = `SELECT pg_catalog.concat_ws(' ', pg_catalog.current_setting('timezone'),
      pg_catalog.current_setting('intervalstyle'), pg_catalog.current_setting('statement_timeout'),
      pg_catalog.current_setting('transaction_read_only'))`;
    const held = await Promise.all(Array.from({ length: 20 }, () => read(database, settings)));
    expect(new Set(held.flat())).toEqual(new Set(['UTC iso_8601 7s on']));
    await expect(read(database, 'DELETE FROM note RETURNING id')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    // All at once, so that they meet every session of the pool.
    const sessions = 4 - (mode === 'session' ? poolMax : 0);
    const slowly = `${settings} || pg_catalog.pg_sleep(0.1) AS held`;
    const others = await Promise.all(Array.from({ length: sessions }, () => neighbour(slowly)));
    const own = { held: 'Asia/Kolkata postgres_verbose 0 off' };
    expect(others.flat()).toEqual(Array.from({ length: sessions }, () => own));
    expect(await neighbour('SELECT name FROM pg_prepared_statements')).toEqual([]);
  });

  test('transactions end well or not at all, and leave no settings behind', async () => {
    const database = await open({ url: pooler.url, poolMax });
    await withClient(place.url, (client) => client.query('CREATE TABLE IF NOT EXISTS kept (id int PRIMARY KEY)'));
    const keep = (id: number, wrong = false): Promise<void> =>
      database.transaction(async (transaction) => {
        const xid = collect();
        const insert = statement('INSERT INTO kept VALUES ($1::int) RETURNING pg_catalog.pg_current_xact_id()::text');
        await transaction.run(insert, [String(id)], xid);
        transaction.identify(xid.texts()[0] ?? '');
        const zone = collect();
        await transaction.run(statement(`SELECT pg_catalog.current_setting('timezone')`), [], zone);
        expect(zone.texts()).toEqual(['UTC']);
        if (wrong) throw new Error('no');
        return { value: undefined };
      });
    const ids = Array.from({ length: 40 }, (_, i) => i);
    const ends = await Promise.allSettled(ids.map((id) => keep(id, id % 4 === 1)));
    if (mode === 'statement') {
      // Such a pooler refuses transactions of several statements, so nothing of them stays.
      expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(['rejected']));
      const left = await withClient(place.url, (client) => client.query('SELECT id FROM kept'));
      expect(left.rows).toEqual([]);
      return;
    }
    expect(ends.map(({ status }) => status)).toEqual(ids.map((id) => (id % 4 === 1 ? 'rejected' : 'fulfilled')));
    const { rows } = await withClient(place.url, (client) => client.query('DELETE FROM kept RETURNING id'));
    expect(rows).toHaveLength(30);
    expect(await neighbour(`SELECT current_setting('timezone') AS zone`)).toEqual([{ zone: 'Asia/Kolkata' }]);
  });

  test('the statement timeout is that of the request', async () => {
    const database = await open({ url: pooler.url, statementTimeoutMs: 200 });
    const ended = () =>
      expect(read(database, 'SELECT pg_catalog.pg_sleep(40)')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await fastestMs(ended, 1_500)).toBeLessThan(1_500);
  });

  test('streams arrive whole, and an abandoned one ends in the database', async () => {
    const database = await open({ url: pooler.url });
    const sink = collect();
    await database.stream(statement('SELECT body FROM note ORDER BY id'), [], sink, async () => {}, never);
    expect(sink.rows).toHaveLength(20_000);
    const abort = new AbortController();
    const slow = statement('SELECT pg_catalog.pg_sleep(20)');
    const stream = database.stream(slow, [], collect(), async () => {}, abort.signal);
    setTimeout(() => abort.abort(), 150);
    await expect(stream).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const sleeping = `SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(20)%' AND state = 'active'
      AND pid <> pg_backend_pid()`;
    const gone = await eventually(
      async () => (await withClient(place.url, (c) => c.query(sleeping))).rows.length === 0,
    );
    expect(gone).toBe(true);
  });
});
