/** Reads of callers without a token: one client, or a few, keep no other client waiting, and reads by key wait for nobody. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Database, Statement } from '../../packages/runtime/src/database/database.ts';
import { type DatabasePlace, openDatabase } from '../../packages/runtime/src/dialects/open.ts';
import { createDatabase } from '../support/database.ts';
import { createMysqlDatabase, noMariadb, startMariadb, withoutMariadb } from '../support/mariadb.ts';
import { median } from '../support/timing.ts';
import { collect, statement } from './statements.ts';

const left: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of left.splice(0).reverse()) await close();
});

const places: readonly {
  readonly name: string;
  readonly missing: boolean;
  readonly slow: string;
  /** On a busy machine the embedded database takes seconds to end what it has begun. */
  readonly poolTimeoutMs: number;
  open(): Promise<DatabasePlace>;
}[] = [
  {
    name: 'PostgreSQL',
    missing: false,
    slow: 'SELECT pg_catalog.pg_sleep(0.5)::text',
    poolTimeoutMs: 2_000,
    async open() {
      const database = await createDatabase('SELECT 1');
      left.push(() => database.drop());
      return { url: database.url };
    },
  },
  {
    name: `MariaDB${withoutMariadb}`,
    missing: noMariadb,
    slow: 'SELECT SLEEP(0.5)',
    poolTimeoutMs: 2_000,
    async open() {
      const server = await startMariadb();
      left.push(() => server.stop());
      return { url: await createMysqlDatabase(server, 'CREATE TABLE one (id int)') };
    },
  },
  {
    name: 'the embedded database',
    missing: false,
    slow: 'SELECT count(*)::text FROM generate_series(1, 80000)',
    poolTimeoutMs: 10_000,
    open: async () => ({ embedded: 'memory://' }),
  },
];

/** Reads as a client without a token; gives how long it took in milliseconds, also where it is refused. */
async function read(database: Database, client: string, wanted: Statement) {
  const from = performance.now();
  const code = await database
    .read({ ...wanted, isPublic: true }, [], collect(), { address: client, isGone: false })
    .then(
      () => 'ok',
      (error: { readonly code: string }) => error.code,
    );
  return { code, ms: performance.now() - from };
}

describe.each(places)('$name', ({ missing, slow, poolTimeoutMs, open }) => {
  it.skipIf(missing)(
    'four clients that ask ten slow statements each at once keep no other client waiting',
    async () => {
      const database = await openDatabase(await open(), { poolMax: 10, poolTimeoutMs });
      left.push(() => database.close(0));
      const [quick, byKey] = [statement('SELECT 1'), { ...statement('SELECT 2'), brief: true }];
      await read(database, 'warm', quick);
      const alone = await read(database, 'alone', statement(`${slow} -- alone`));
      const greedy = ['a', 'b', 'c', 'd'].flatMap((client) =>
        Array.from({ length: 10 }, () => read(database, client, statement(slow))),
      );
      const times: number[] = [];
      let isOver = false;
      const all = Promise.all(greedy).finally(() => {
        isOver = true;
      });
      for (let turn = 0; !isOver; turn++) {
        // One that was read before, one that was never, and one by key.
        const reads = [quick, statement(`SELECT ${turn + 10}`), byKey].map((one) => read(database, 'other', one));
        for (const { code, ms } of await Promise.all(reads)) {
          expect(code).toBe('ok');
          times.push(ms);
        }
        await sleep(25);
      }
      const codes = new Set((await all).map(({ code }) => code));
      expect([...codes].filter((code) => code !== 'ok' && code !== 'SERVICE_UNAVAILABLE')).toEqual([]);
      // Servers run statements side by side; the embedded database ends what it has begun.
      // In turn with the 40 they would wait for most of them, and be few; a busy machine makes single ones slow.
      expect(median(times), `${times}`).toBeLessThan(1_000 + (alone.ms < 500 ? 4 * alone.ms : 500));
      expect(times.length).toBeGreaterThan(12);
    },
    60_000,
  );
});

it('slow streams of two clients run side by side, those of one client in turn', async () => {
  const made = await createDatabase('SELECT 1');
  left.push(() => made.drop());
  const database = await openDatabase({ url: made.url }, { poolMax: 10 });
  left.push(() => database.close(0));
  const slow = { ...statement("SELECT pg_catalog.pg_sleep(0.4)::text -- 'slow stream'"), isPublic: true };
  const { signal } = new AbortController();
  const stream = (client: string) => database.stream(slow, [], collect(), async () => {}, signal, client);
  const running = async (): Promise<number> => {
    const countRunning =
      "SELECT count(*)::text AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%slow stream%' AND pid <> pg_backend_pid()";
    const [row] = await database.query(countRunning, []);
    return Number(row?.[0]);
  };
  const mostAtOnce = async (clients: readonly string[]): Promise<number> => {
    let [most, isOver] = [0, false];
    const all = Promise.all(clients.map(stream)).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      most = Math.max(most, await running());
      await sleep(10);
    }
    await all;
    return most;
  };
  await stream('a');
  expect(await mostAtOnce(['a', 'a'])).toBe(1);
  expect(await mostAtOnce(['a', 'b', 'c'])).toBe(2);
}, 60_000);
