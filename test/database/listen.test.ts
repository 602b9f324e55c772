/** Processes hear each other through the database, also after a connection was lost. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listenTo } from '../../packages/runtime/src/dialects/postgres/driver/listen.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

const run = (sql: string) => withClient(database.url, async (client) => (await client.query(sql)).rows);

it('notices are heard, and what may have been missed is told', async () => {
  let wake = (): void => {};
  const next = () => new Promise<void>((resolve) => (wake = resolve));
  const begun = next();
  const listener = listenTo({ url: database.url, channel: 'a channel', heard: () => wake() });
  await begun;
  const heard = next();
  await run(`NOTIFY "a channel"`);
  await heard;
  const again = next();
  const ended = await run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'LISTEN%'`);
  expect(ended).toHaveLength(1);
  await again;
  await listener.close();
  expect(
    await run(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`),
  ).toEqual([]);
});

it('a database that is away is waited for', async () => {
  const listener = listenTo({ url: 'postgres://nobody@127.0.0.1:1/none', channel: 'any', heard: () => {} });
  await listener.close();
});
