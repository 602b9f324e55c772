/** `platform dev` of a project that gets its rules or the platform's own tables elsewhere while it is served. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ContractDatabase, createSystemDatabase } from '../support/contract-database.ts';
import { createDatabase, withClient } from '../support/database.ts';
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

test('after the first migrate users sign in and change the model, without a restart', async () => {
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

test('tables that were dropped and installed again are watched once', async () => {
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
