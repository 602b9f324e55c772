/** DATABASE_LISTEN_URL that leads where nothing is heard: the log says so, and changes of rules are asked for. Source: scale-out notes, section 6. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startCompiled } from '../support/host.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { poolerVersion, startPooler, withoutPooler } from '../support/pooler.ts';
import { createDatabaseOn, type TestDatabase, withClient } from '../support/postgres.ts';
import { countStatements } from '../support/proxy.ts';
import { installSystem } from '../support/system.ts';

const deaf = 'DATABASE_LISTEN_URL tells of no changes of rules.';

let database: TestDatabase;
let other: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
let first: Platform;
beforeAll(async () => {
  const url = inject('postgresUrl');
  [database, other, project] = await Promise.all([createDatabaseOn(url), createDatabaseOn(url), createProject()]);
  await installSystem(database.url);
  await withClient(database.url, (client) => client.query('CREATE TABLE notes (id integer PRIMARY KEY)'));
  await writeFile(join(project.folder, 'platform.config.ts'), "export default { permissionSource: 'tables' };\n");
  first = await startCompiled(project.folder, database.url);
});
afterAll(async () => {
  await first?.stop();
  await Promise.all([database?.drop(), other?.drop(), project?.remove()]);
});

/** A server that is told to listen there, and whether it asks then. */
async function listening(
  url: string,
): Promise<{ readonly server: Platform; asks(): Promise<boolean>; stop(): Promise<void> }> {
  const proxy = await countStatements(database.url);
  const environment = { DATABASE_LISTEN_URL: url, DATABASE_DRIVER: 'pg', LOG_LEVEL: 'warn' };
  const server = await startUnchecked(project.folder, proxy.url, environment, []);
  return {
    server,
    async asks() {
      proxy.reset();
      await sleep(1_000);
      return proxy.texts().some((text) => text.startsWith('SELECT attempts'));
    },
    async stop() {
      await server.stop();
      await proxy.close();
    },
  };
}

/** A right that is given and withdrawn at another server is seen there. */
async function follows(server: Platform): Promise<void> {
  const status = async (): Promise<number> => (await server.ask('/items/notes')).status;
  const rule = { collection: 'notes', action: 'read', fields: ['id'] };
  const made = await first.admin('/permissions', { method: 'POST', body: rule });
  await expect.poll(status, { timeout: 20_000 }).toBe(200);
  await first.admin(`/permissions/${made.json.data.id}`, { method: 'DELETE' });
  await expect.poll(status, { timeout: 20_000 }).toBe(403);
}

const places: readonly (readonly [name: string, reason: string, url: () => Promise<string>])[] = [
  ['where no server is', 'ENOTFOUND', async () => 'postgres://app:secret@nowhere.invalid/shop'],
  ['to another database', 'another database than DATABASE_URL', async () => other.url],
];

it.each(places)('says that it leads %s, without a secret, and asks', async (_, reason, url) => {
  const { server, asks, stop } = await listening(await url());
  try {
    await expect.poll(() => server.log(), { timeout: 20_000 }).toContain(deaf);
    expect(server.log()).toContain(reason);
    expect(server.log()).not.toContain('secret');
    await follows(server);
    expect(await asks()).toBe(true);
    expect(server.log().split(deaf)).toHaveLength(2);
  } finally {
    await stop();
  }
});

it('hears by the right one, says nothing and asks nothing', async () => {
  const { server, asks, stop } = await listening(database.url);
  try {
    await follows(server);
    expect(server.log()).not.toContain('DATABASE_LISTEN_URL');
    expect(await asks()).toBe(false);
  } finally {
    await stop();
  }
});

it.skipIf(poolerVersion === undefined)(`says that it leads to a pooler${withoutPooler}`, async () => {
  const pooler = await startPooler(database.url, 'transaction');
  const { server, stop } = await listening(pooler.url);
  try {
    await expect.poll(() => server.log(), { timeout: 20_000 }).toContain(deaf);
    expect(server.log()).toContain('a pooler, which keeps notices to itself');
  } finally {
    await stop();
    await pooler.stop();
  }
});
