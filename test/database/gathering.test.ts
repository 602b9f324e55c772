/** Brief transactions that share one of the database: together as long as all is well, and each for itself when it is not. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database, Statement } from '../../packages/runtime/src/database/database.ts';
import { connectPostgres } from '../../packages/runtime/src/dialects/postgres/database.ts';
import { rowBatchOf } from '../../packages/runtime/src/optimize/write-batching/batch-rows.ts';
import { createGathering } from '../../packages/runtime/src/optimize/write-batching/gathering.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { collect, statement } from './statements.ts';

const tables = `CREATE TABLE note (id int PRIMARY KEY, body text, xid text);
  CREATE TABLE late (id int, CONSTRAINT late_once UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)`;
const number = 'pg_catalog.pg_current_xact_id()::pg_catalog.text';

let place: TestDatabase;
let proxy: FaultProxy;
let opened: Database[] = [];
beforeAll(async () => {
  place = await createDatabase(tables);
  proxy = await startFaultProxy(place.url);
});
beforeEach(() => withClient(place.url, (client) => client.query('TRUNCATE note, late')));
afterEach(async () => {
  await Promise.all(opened.map((database) => database.close(0)));
  opened = [];
});
afterAll(async () => {
  await proxy?.close();
  await place?.drop();
});

/** Runs one writing statement that answers the number of its transaction and, behind a space, a text. */
function brief(database: Database, text: string, parameters: readonly string[], rows?: number): Promise<string> {
  return briefly(database, statement(text), parameters, rows);
}

async function briefly(
  database: Database,
  one: Statement,
  parameters: readonly string[],
  rows?: number,
): Promise<string> {
  return database.briefTransaction(async (transaction) => {
    const sink = collect();
    await transaction.run({ ...one, brief: true }, parameters, sink);
    const [answer = ''] = sink.texts();
    const space = answer.indexOf(' ');
    transaction.identify(answer.slice(0, space));
    return answer.slice(space + 1);
  }, rows);
}

function add(database: Database, id: number, rows?: number): Promise<string> {
  const text = `INSERT INTO note VALUES ($1::int, $2::text, ${number}) RETURNING ${number} || ' made ' || id`;
  return brief(database, text, [String(id), 'gathered'], rows);
}

/** As `add`, by a statement that can make several rows. */
function addRow(database: Database, id: number, body = 'merged'): Promise<string> {
  const answer = `RETURNING ${number} || ' made ' || id || ' ' || body`;
  const one = { name: 't_row', text: `INSERT INTO note VALUES ($1::int, $2::text, ${number}) ${answer}` };
  const list = 'ROWS FROM (unnest($2::int[]), unnest($1::text[])) WITH ORDINALITY AS i(id, body, n)';
  const text = `INSERT INTO note SELECT i.id, i.body, ${number} FROM ${list} ORDER BY i.n ${answer}`;
  const several = { name: 't_rows', text, brief: true };
  const parameters = [1, 0].map((of) => ({ of, list: true }));
  return briefly(database, rowBatchOf.on(one, { statement: several, parameters }), [String(id), body]);
}

function append(database: Database, id: number, word: string): Promise<string> {
  const text = `UPDATE note SET body = body || $2::text WHERE id = $1::int RETURNING ${number} || ' ' || body`;
  return brief(database, text, [String(id), word]);
}

async function ask(text: string): Promise<unknown[]> {
  return withClient(place.url, async (client) => (await client.query({ text, rowMode: 'array' })).rows.flat());
}

async function outcome(promise: Promise<string>): Promise<string> {
  return promise.catch((error: { code?: string; message: string }) => error.code ?? error.message);
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe.each(['fast', 'pg'] as const)('the %s lane', (driver) => {
  const commit = driver === 'fast' ? 'w_commit' : 'COMMIT';

  async function open(): Promise<Database> {
    const database = await connectPostgres({ url: proxy.url, driver, seams: { wrapTransactions: createGathering } });
    opened.push(database);
    // The first connection that may be had for oneself is opened by the first who asks.
    await add(database, 0);
    return database;
  }

  test('those of one moment share a transaction, and each gets its own answer', async () => {
    const database = await open();
    const answers = await Promise.all(numbers(70).map((id) => add(database, id)));
    expect(answers).toEqual(numbers(70).map((id) => `made ${id}`));
    expect(await ask('SELECT count(*)::int, count(DISTINCT xid)::int FROM note WHERE id > 0')).toEqual([70, 3]);
  });

  test('those of many rows leave less room for others', async () => {
    const database = await open();
    await Promise.all(numbers(6).map((id) => add(database, id, 120)));
    expect(await ask('SELECT count(*)::int, count(DISTINCT xid)::int FROM note WHERE id > 0')).toEqual([6, 3]);
    await Promise.all(numbers(2).map((id) => add(database, 100 + id, 1_000)));
    expect(await ask('SELECT count(DISTINCT xid)::int FROM note WHERE id > 100')).toEqual([2]);
  });

  test('rows of one kind are made by one statement, each answered to whom it is of', async () => {
    const database = await open();
    const bodies = numbers(70).map((id) => (id % 9 === 0 ? `"{quoted}, \\ ${id}` : `note ${id}`));
    const answers = await Promise.all(bodies.map((body, place) => addRow(database, place + 1, body)));
    expect(answers).toEqual(bodies.map((body, place) => `made ${place + 1} ${body}`));
    const statements = 'SELECT count(DISTINCT xid || cmin::text)::int FROM note WHERE id > 0';
    expect(await ask(statements)).toEqual([3]);
  });

  test('a row that cannot be made is told to whom it is of', async () => {
    const database = await open();
    await addRow(database, 7);
    const asked = numbers(20).flatMap((id) => [outcome(addRow(database, id)), outcome(add(database, 100 + id))]);
    const made = numbers(20).flatMap((id) => [
      id === 7 ? 'FAILED_VALIDATION' : `made ${id} merged`,
      `made ${100 + id}`,
    ]);
    expect(await Promise.all(asked)).toEqual(made);
    expect(await ask('SELECT count(*)::int FROM note WHERE id > 0')).toEqual([40]);
  });

  test('they run in the order in which they came, each on what those before it have written', async () => {
    const database = await open();
    const words = numbers(30).map((id) => ` ${id}`);
    const answers = await Promise.all(words.map((word) => append(database, 0, word)));
    expect(answers).toEqual(words.map((_, index) => `gathered${words.slice(0, index + 1).join('')}`));
  });

  test('one that fails is told so, and nobody else', async () => {
    const database = await open();
    await add(database, 7);
    const outcomes = await Promise.all(numbers(10).map((id) => outcome(add(database, id))));
    expect(outcomes).toEqual(numbers(10).map((id) => (id === 7 ? 'FAILED_VALIDATION' : `made ${id}`)));
    expect(await ask('SELECT count(*)::int FROM note')).toEqual([11]);
  });

  test('one that rejects without an error of the database leaves nothing, the others stay', async () => {
    const database = await open();
    const refused = database.briefTransaction(async (transaction) => {
      await transaction.run(statement(`INSERT INTO note VALUES (1, '', '')`), [], collect());
      throw new Error('no');
    });
    const outcomes = await Promise.all([
      refused.catch((error: Error) => error.message),
      ...[2, 3].map((id) => add(database, id)),
    ]);
    expect(outcomes).toEqual(['no', 'made 2', 'made 3']);
    expect(await ask('SELECT id FROM note ORDER BY id')).toEqual([0, 2, 3]);
  });

  test('what only COMMIT finds out is told to whom it concerns', async () => {
    const database = await open();
    const late = (id: string) =>
      outcome(brief(database, `INSERT INTO late VALUES ($1::int) RETURNING ${number} || ' late ' || id`, [id]));
    const outcomes = await Promise.all([late('1'), late('2'), late('1'), add(database, 1)]);
    expect(outcomes.toSorted()).toEqual(['FAILED_VALIDATION', 'late 1', 'late 2', 'made 1']);
    expect(await ask('SELECT id FROM late ORDER BY id')).toEqual([1, 2]);
  });

  test('nobody waits for a row that somebody else waits for', async () => {
    const database = await open();
    await withClient(place.url, async (holder) => {
      await holder.query('BEGIN');
      await holder.query(`UPDATE note SET body = 'held' WHERE id = 0`);
      const waiting = append(database, 0, ' and freed');
      const ended: string[] = [];
      const others = numbers(10).map((id) => add(database, id).then((answer) => ended.push(answer)));
      void waiting.then((answer) => ended.push(answer));
      await Promise.all(others);
      expect(ended).toHaveLength(10);
      await holder.query('COMMIT');
      expect(await waiting).toBe('held and freed');
    });
  });

  test('one that waits for a row does not keep those away that come later', async () => {
    const database = await open();
    await withClient(place.url, async (holder) => {
      await holder.query('BEGIN');
      await holder.query(`UPDATE note SET body = 'held' WHERE id = 0`);
      const waiting: Promise<string>[] = [];
      for (const word of [' a', ' b', ' c']) {
        waiting.push(append(database, 0, word));
        await sleep(5);
      }
      expect(await add(database, 1)).toBe('made 1');
      await holder.query('COMMIT');
      expect((await Promise.all(waiting)).toSorted((a, b) => a.length - b.length).at(-1)).toHaveLength(10);
    });
  });

  test.each(['swallow', 'cut'] as const)('none is lost or doubled when COMMIT meets "%s"', async (fault) => {
    const database = await open();
    for (let round = 0; round < 5; round++) {
      proxy.arm(fault, commit);
      const ids = numbers(12).map((id) => round * 12 + id);
      expect(await Promise.all(ids.map((id) => add(database, id)))).toEqual(ids.map((id) => `made ${id}`));
      expect(proxy.done()).toBe(1);
    }
    expect(await ask('SELECT count(*)::int FROM note')).toEqual([61]);
  });
});
