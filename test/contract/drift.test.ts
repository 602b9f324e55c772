/** A database that no longer fits what was compiled: found at the start and on the timer, and named. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CompiledApi } from '@platform/runtime';
import { openDatabase } from '@platform/runtime';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createDriftWatch } from '../../packages/runtime/src/drift-watch.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createProject, type Platform, runPlatform, startPlatform } from '../support/platform.ts';
import { failure } from '../support/project.ts';

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  database = await createDatabase(`
    CREATE TABLE kept (id integer PRIMARY KEY, title text NOT NULL);
    CREATE TABLE changed (id integer PRIMARY KEY, amount integer, gone text);
    INSERT INTO kept VALUES (1, 'a');
    INSERT INTO changed VALUES (1, 2, 'b');`);
  project = await createProject();
  const { code } = await runPlatform(['generate', '--project', project.folder], { DATABASE_URL: database.url });
  expect(code).toBe(0);
});
afterAll(() => Promise.all([database?.drop(), project?.remove()]));

function alter(sql: string): Promise<unknown> {
  return withClient(database.url, (client) => client.query(sql));
}

/** Serves what was generated, without compiling again. */
async function served<T>(use: (platform: Platform) => Promise<T>): Promise<T> {
  const platform = await startPlatform(project.folder, database.url, {}, []);
  try {
    return await use(platform);
  } finally {
    await platform.stop();
  }
}

it('is found at the start, closes its collections only, and is named to the admin only', async () => {
  await alter('ALTER TABLE changed ALTER COLUMN amount TYPE bigint');
  await served(async (platform) => {
    // The statement itself would still run: only the comparison with the fingerprint closes the collection.
    expect(failure(await platform.admin('/items/changed?fields=id'))).toBe('503 SERVICE_UNAVAILABLE');
    expect((await platform.admin('/items/kept')).json).toEqual({ data: [{ id: 1, title: 'a' }] });
    const health = await platform.ask('/server/health');
    expect([health.status, health.json]).toEqual([503, { status: 'error' }]);
    const checks = (await platform.admin('/server/health')).text;
    for (const name of ['changed', 'amount', 'bigint']) expect(checks).toContain(name);
  });
  await alter('ALTER TABLE changed ALTER COLUMN amount TYPE integer');
  await served(async (platform) => {
    expect((await platform.admin('/items/changed?fields=id')).json).toEqual({ data: [{ id: 1 }] });
    expect((await platform.ask('/server/health')).json).toEqual({ status: 'ok' });
  });
});

it('is found on the timer, and so is its end', async () => {
  const path = pathToFileURL(join(project.folder, 'generated', 'server.ts')).href;
  const { api }: { readonly api: CompiledApi } = await import(path);
  const connected = await openDatabase({ url: database.url });
  const watch = createDriftWatch({ database: connected, fingerprint: api.fingerprint, interval: 50 });
  const messages: string[] = [];
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (_: object, message: string) => void messages.push(message),
  };
  try {
    await watch.start(log);
    expect([...watch.closed()]).toEqual([]);
    await alter('ALTER TABLE changed RENAME COLUMN gone TO went');
    await vi.waitFor(() => expect([...watch.closed()]).toEqual(['changed']), 20_000);
    expect(messages.join('\n')).toContain('gone');
    await alter('ALTER TABLE changed RENAME COLUMN went TO gone');
    await vi.waitFor(() => expect([...watch.closed()]).toEqual([]), 20_000);
  } finally {
    watch.stop();
    await connected.close(0);
  }
});
