/** Reads by key that go together, on every server: each gets its own row, or its own error. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, keysMark, type Statement } from '../../packages/runtime/src/database/database.ts';
import { observeDatabase } from '../../packages/runtime/src/database/observed.ts';
import { connectMysql } from '../../packages/runtime/src/dialects/mysql/database.ts';
import { connectPostgres } from '../../packages/runtime/src/dialects/postgres/database.ts';
import { gatherReads, keyBatchOf } from '../../packages/runtime/src/optimize/key-batching/gathered-reads.ts';
import { createDatabase } from '../support/database.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { servers } from '../support/servers.ts';
import { collect, statement } from './statements.ts';

const seams = { wrapReads: gatherReads };
const rows = Array.from({ length: 100 }, (_, n) => n);
const sql = `CREATE TABLE notes (id int PRIMARY KEY, body varchar(40));
  INSERT INTO notes VALUES ${rows.map((n) => `(${n}, 'body ${n}')`).join()};`;

/** `fails` is a value that cannot be had of the row 50; `sleeps` is one that takes five seconds. */
interface Place {
  readonly name: string;
  readonly missing: boolean;
  readonly key: string;
  readonly keys: string;
  readonly fails: string;
  readonly sleeps: string;
  open(): Promise<{ readonly database: Database; close(): Promise<void> }>;
}

const places: readonly Place[] = [
  {
    name: 'PostgreSQL',
    missing: false,
    key: 'id = $1::int',
    keys: 'id = ANY ($1::int[])',
    fails: 'body || (1 / (id - 50))',
    sleeps: 'body || pg_sleep(5)::text',
    async open() {
      const { url, drop } = await createDatabase(sql);
      return { database: await connectPostgres({ url, seams }), close: drop };
    },
  },
  ...servers.map(({ name, missing, start }) => ({
    name,
    missing,
    key: 'id = CAST(? AS SIGNED)',
    keys: `id IN (${keysMark})`,
    fails: 'IF(id = 50, (SELECT body FROM notes), body)',
    sleeps: 'CONCAT(body, SLEEP(5))',
    async open() {
      const database = await connectMysql({ url: await createMysqlDatabase(await start(), sql), seams });
      return { database, close: async () => {} };
    },
  })),
];

describe.each(places)('$name', ({ missing, key, keys, fails, sleeps, open }) => {
  if (missing) return void it.skip('is not there');

  let place: Awaited<ReturnType<Place['open']>>;
  beforeAll(async () => {
    place = await open();
  }, 120_000);
  afterAll(async () => {
    await place?.database.close(0);
    await place?.close();
  });

  const oneOf = (value: string): Statement => {
    const several = statement(`SELECT id, ${value} FROM notes WHERE ${keys}`);
    const one = statement(`SELECT ${value} FROM notes WHERE ${key}`);
    return keyBatchOf.on({ ...one, brief: true }, { at: 0, kind: 'integer', statement: several });
  };

  async function read(one: Statement, id: string | number, { database }: Pick<typeof place, 'database'> = place) {
    const sink = collect();
    await database.read(one, [String(id)], sink);
    return sink.texts().join() || 'nothing';
  }

  it('ends when the last of its clients has left', async () => {
    const clients = [1, 2, 3].map(() => ({ address: '', isGone: false }));
    const leave = (number: number): void => void Object.assign(clients[number] ?? {}, { isGone: true });
    const reads = clients.map((client, id) => place.database.read(oneOf(sleeps), [String(id)], collect(), client));
    const settled = Promise.allSettled(reads);
    leave(0);
    leave(2);
    expect(await Promise.race([settled, sleep(500, 'under way')])).toBe('under way');
    leave(1);
    const from = performance.now();
    const gone = { status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE', cause: { name: 'ClientGoneError' } } };
    expect(await settled).toMatchObject([gone, gone, gone]);
    expect(performance.now() - from).toBeLessThan(2_000);
  });

  it('gives each its own row, nothing where there is none, and the same row twice', async () => {
    const asked = [...rows, 5, 5, 1000, ...rows.slice(40, 60), -1, '07'];
    const answers = await Promise.all(asked.map((id) => read(oneOf('body'), id)));
    expect(answers).toEqual(asked.map((id) => (Number(id) in rows ? `body ${Number(id)}` : 'nothing')));
  });

  it('refuses nobody for what somebody else has asked', async () => {
    const answers = await Promise.all(rows.map((id) => read(oneOf(fails), id).catch(() => 'failed')));
    expect(answers.map((answer, id) => (answer.startsWith('body ') ? -1 : id)).filter((id) => id >= 0)).toEqual([50]);
  });

  it('is counted once for each read, by what became of it', async () => {
    const counts = new Map<string, number>();
    const ran = (_: unknown, _seconds: number, errorType: string): void => {
      const outcome = errorType === '' ? 'ok' : 'failed';
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    };
    const database = observeDatabase(place.database, { meter: { ran, retried: () => {} }, slow: null });
    await Promise.allSettled(rows.map((id) => read(oneOf(fails), id, { database })));
    expect(Object.fromEntries(counts)).toEqual({ ok: 99, failed: 1 });
  });

  it('passes over a sink that throws', async () => {
    const broken = place.database.read(oneOf('body'), ['7'], {
      row() {
        throw new Error('broken sink');
      },
    });
    const others = Promise.all(rows.map((id) => read(oneOf('body'), id)));
    await expect(broken).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' });
    expect(await others).toEqual(rows.map((id) => `body ${id}`));
  });

  it('asks for many with few statements', async () => {
    let statements = 0;
    const one = oneOf('body');
    const { at = 0, kind = 'integer', statement: several = one } = keyBatchOf.of(one) ?? {};
    const counting = keyBatchOf.on(one, {
      at,
      kind,
      get statement() {
        statements += 1;
        return several;
      },
    });
    await Promise.all(rows.map((id) => read(counting, id)));
    expect(statements).toBeGreaterThan(0);
    expect(statements).toBeLessThan(20);
  });
});
