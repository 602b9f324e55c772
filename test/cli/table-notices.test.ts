/** Notices of changes of tables: what they tell, what they must not disturb, and that nothing stays of them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hearTables } from '../../packages/cli/src/sources/postgres/commands.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase('CREATE TABLE docs (id integer PRIMARY KEY)');
});
afterAll(() => database?.drop());

const run = (sql: string) => withClient(database.url, (client) => client.query(sql));

async function triggers(): Promise<readonly string[]> {
  const { rows } = await run('SELECT evtname FROM pg_event_trigger');
  return rows.map(({ evtname }) => evtname);
}

test('a notice comes for every change that is committed, and for no other', async () => {
  let count = 0;
  const notices = await hearTables(database.url, { heard: () => count++, lost: () => {} });
  expect(await triggers()).toEqual([notices.name]);
  await withClient(database.url, async (client) => {
    const payloads: (string | undefined)[] = [];
    client.on('notification', ({ payload }) => payloads.push(payload));
    await client.query(`LISTEN ${notices.name}`);
    const heard = async (sql: string): Promise<boolean> => {
      payloads.length = 0;
      await run(sql);
      // Notices come in order, so in front of this one are all of the statement.
      await run(`SELECT pg_notify('${notices.name}', 'mark')`);
      await expect.poll(() => payloads.at(-1)).toBe('mark');
      return payloads.length > 1;
    };
    for (const sql of [
      'ALTER TABLE docs ADD COLUMN title text',
      "COMMENT ON TABLE docs IS 'Papers.'",
      'GRANT SELECT ON docs TO PUBLIC',
      'ALTER TABLE docs DROP COLUMN title',
      'CREATE VIEW ids AS SELECT id FROM docs',
      'DROP VIEW ids',
      'SET session_replication_role = replica; CREATE TABLE others (id integer)',
    ]) {
      expect(await heard(sql), sql).toBe(true);
    }
    for (const sql of [
      'INSERT INTO docs VALUES (1)',
      'CREATE TEMPORARY TABLE passing (id integer)',
      'BEGIN; CREATE TABLE undone (id integer); ROLLBACK',
    ]) {
      expect(await heard(sql), sql).toBe(false);
    }
  });
  await expect.poll(() => count).toBeGreaterThan(6);
  await notices.close();
  expect(await triggers()).toEqual([]);
  await run('ALTER TABLE docs ADD COLUMN later text');
});

test('nothing stays of a session that was lost', async () => {
  let lost = 0;
  const notices = await hearTables(database.url, { heard: () => {}, lost: () => lost++ });
  await run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'platform dev'`);
  await expect.poll(() => lost).toBe(1);
  await expect.poll(triggers).toEqual([]);
  await run('DROP TABLE others');
  await notices.close();
  expect(lost).toBe(1);
});

test('who may make no event triggers is told so, and leaves nothing', async () => {
  const name = `dev_${new URL(database.url).pathname.slice(-12)}`;
  await run(`CREATE ROLE ${name} LOGIN PASSWORD 'dev'`);
  try {
    const url = new URL(database.url);
    url.username = name;
    url.password = 'dev';
    const hearing = hearTables(url.href, { heard: () => {}, lost: () => {} });
    await expect(hearing).rejects.toThrow('permission denied to create event trigger');
    expect(await triggers()).toEqual([]);
  } finally {
    await run(`DROP ROLE ${name}`);
  }
});
