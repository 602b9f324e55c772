/**
 * `platform dev` of a project that gets its rules or the platform's own tables elsewhere while it is served, and of one whose
 * tables cannot be read for a while.
 */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ContractDatabase, createSystemDatabase } from '../support/contract-database.ts';
import { createDatabase, withClient } from '../support/database.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { administrator, createProject, type Platform, runPlatform, startUnchecked } from '../support/platform.ts';

let database: ContractDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
let server: Platform;
beforeAll(async () => {
  database = await createSystemDatabase('CREATE TABLE docs (id integer PRIMARY KEY); INSERT INTO docs VALUES (1);');
  project = await createProject();
  server = await startUnchecked(project.folder, database.url, {}, ['--no-types'], 'dev');
}, 120_000);
afterAll(async () => {
  await server?.stop();
  await project?.remove();
  await database?.drop();
});

async function configure(source: 'file' | 'tables'): Promise<void> {
  const file = join(project.folder, 'platform.config.ts');
  await writeFile(`${file}.new`, `export default { permissionSource: '${source}' };\n`);
  await rename(`${file}.new`, file);
}

const permit = () =>
  server.admin('/permissions', { method: 'POST', body: { collection: 'docs', action: 'read', fields: ['id'] } });

test('rules in the tables are written as soon as the configuration names them, and no longer', async () => {
  expect((await permit()).status).toBe(422);
  await configure('tables');
  await expect.poll(async () => (await permit()).status, { timeout: 60_000 }).toBe(200);
  expect((await server.ask('/items/docs')).json).toEqual({ data: [{ id: 1 }] });
  await configure('file');
  await expect.poll(async () => (await permit()).status, { timeout: 60_000 }).toBe(422);
}, 180_000);

// Each of a project of its own, which waits most of the time.
test.concurrent('after the first migrate users sign in and change the model, without a restart', async ({ expect }) => {
  const bare = await createDatabase('CREATE TABLE docs (id integer PRIMARY KEY)');
  const other = await createProject();
  const served = await startUnchecked(other.folder, bare.url, {}, ['--no-types'], 'dev');
  const send = (path: string, body: object) => served.admin(path, { method: 'POST', body });
  const made = {
    collection: 'made',
    schema: {},
    fields: [{ field: 'id', type: 'integer', schema: { is_primary_key: true } }],
  };
  try {
    expect((await send('/collections', made)).status).toBeGreaterThanOrEqual(400);
    await runPlatform(['migrate', '--project', other.folder], { DATABASE_URL: bare.url });
    await expect.poll(async () => (await send('/auth/login', administrator)).status, { timeout: 60_000 }).toBe(200);
    await expect.poll(async () => (await send('/collections', made)).status, { timeout: 20_000 }).toBe(200);
    expect((await send('/items/made', { id: 1 })).status).toBe(200);
  } finally {
    await served.stop();
    await Promise.all([bare.drop(), other.remove()]);
  }
}, 180_000);

test.concurrent('tables that were dropped and installed again are watched once', async ({ expect }) => {
  const own = await createSystemDatabase('CREATE TABLE docs (id integer PRIMARY KEY)');
  const other = await createProject();
  const served = await startUnchecked(other.folder, own.url, {}, ['--no-types'], 'dev');
  const signIn = async () => (await served.ask('/auth/login', { method: 'POST', body: administrator })).status;
  const run = (sql: string) => withClient(own.url, (client) => client.query(sql));
  const questions = async () => {
    const { rows } = await run(
      "SELECT (seq_scan + idx_scan)::int AS n FROM pg_stat_user_tables WHERE relname = 'platform_auth_attempts'",
    );
    return Number(rows[0]?.n);
  };
  try {
    // The server reads the tables meanwhile: the database may refuse to drop them as a deadlock.
    const drop = () => run('DROP SCHEMA platform CASCADE').then(Boolean, () => false);
    await expect.poll(drop, { timeout: 60_000 }).toBe(true);
    await expect.poll(signIn, { timeout: 60_000 }).toBe(404);
    await runPlatform(['migrate', '--project', other.folder], { DATABASE_URL: own.url });
    await expect.poll(signIn, { timeout: 60_000 }).toBe(200);
    await wait(1_500);
    const before = await questions();
    await wait(5_000);
    // Changes are asked for ten times a second; servers count with a delay.
    expect((await questions()) - before).toBeLessThan(75);
  } finally {
    await served.stop();
    await Promise.all([own.drop(), other.remove()]);
  }
}, 180_000);

/** Lines of an event that a server has printed. */
function eventsOf(served: Platform, event: string): readonly object[] {
  const lines = served.log().split('\n');
  return lines.filter((line) => line.startsWith(`{"event":"${event}"`)).map((line) => JSON.parse(line));
}

test.concurrent('a first look at the tables that hangs is told once', async ({ expect }) => {
  const own = await createDatabase('CREATE TABLE docs (id integer PRIMARY KEY)');
  const other = await createProject();
  const proxy = await startFaultProxy(own.url);
  // In no reading. The connection is given up after half a minute.
  proxy.arm('stall', 'c.ctid, c.xmin');
  const served = await startUnchecked(other.folder, proxy.url, {}, ['--no-types'], 'dev');
  try {
    const isSlow = { live: false, reason: 'The database has not answered for 5 seconds.' };
    expect(eventsOf(served, 'database')).toMatchObject([isSlow, { live: true }]);
  } finally {
    await served.stop();
    await proxy.close();
    await Promise.all([own.drop(), other.remove()]);
  }
}, 180_000);

test.concurrent('a reading of the tables that hangs is told, and comes after files that change', async ({ expect }) => {
  const own = await createDatabase('CREATE TABLE docs (id integer PRIMARY KEY, title text)');
  const other = await createProject();
  const proxy = await startFaultProxy(own.url);
  const served = await startUnchecked(other.folder, proxy.url, {}, ['--no-types'], 'dev');
  const told = (event: string): readonly object[] => eventsOf(served, event);
  try {
    // In no look at the tables, which is answered: only the reading after it hangs.
    proxy.arm('stall', 'polqual');
    await withClient(own.url, (client) => client.query('ALTER TABLE docs ADD pages integer'));
    const isSlow = { live: false, reason: 'The database has not answered for 5 seconds.' };
    await expect.poll(() => told('database'), { timeout: 60_000 }).toMatchObject([isSlow]);
    const file = join(other.folder, 'permissions.yaml');
    await writeFile(`${file}.new`, 'permissions: { public: { docs: { read: { fields: [id, title] } } } }\n');
    await rename(`${file}.new`, file);
    const isEdit = { reasons: ['permissions.yaml'] };
    await expect.poll(() => told('rebuilt'), { timeout: 20_000 }).toMatchObject([isEdit]);
    expect((await served.ask('/items/docs?fields=title')).status).toBe(200);
    // The connection is given up after half a minute.
    const isRead = { reasons: ['database'] };
    await expect.poll(() => told('rebuilt'), { timeout: 90_000 }).toMatchObject([isEdit, isRead]);
    expect((await served.admin('/items/docs?fields=pages')).status).toBe(200);
    expect(told('database').at(-1)).toMatchObject({ live: true });
  } finally {
    await served.stop();
    await proxy.close();
    await Promise.all([own.drop(), other.remove()]);
  }
}, 240_000);

test.concurrent('a table that stays locked is told once, and once when it is over', async ({ expect }) => {
  const own = await createSystemDatabase('CREATE TABLE docs (id integer PRIMARY KEY)');
  const other = await createProject();
  // Each reading fails after it was told, and the look before the next one is answered.
  await withClient(own.url, (client) =>
    client.query(
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = ''7s''', current_database()); END $$",
    ),
  );
  const served = await startUnchecked(other.folder, own.url, {}, ['--no-types'], 'dev');
  const told = () => eventsOf(served, 'database');
  try {
    const isHanging = {
      live: false,
      reason: expect.stringMatching(/^The database has not answered .* waits for a lock of session/),
    };
    await withClient(own.url, async (client) => {
      await client.query('BEGIN; LOCK TABLE platform.platform_permissions');
      await withClient(own.url, (changer) => changer.query('ALTER TABLE docs ADD pages integer'));
      await expect.poll(told, { timeout: 60_000 }).toMatchObject([isHanging]);
      await expect.poll(() => served.log(), { timeout: 20_000 }).toContain('"event":"failed"');
      await wait(7_000);
      expect(told()).toMatchObject([isHanging]);
      await client.query('COMMIT');
    });
    await expect.poll(told, { timeout: 60_000 }).toMatchObject([isHanging, { live: true }]);
    const status = async () => (await served.admin('/items/docs?fields=pages')).status;
    await expect.poll(status, { timeout: 20_000 }).toBe(200);
  } finally {
    await served.stop();
    await Promise.all([own.drop(), other.remove()]);
  }
}, 240_000);
