/** Two changes of the served API at once, of which the earlier one starts slowly: the later one is served from its answer on, and stays. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startCompiled } from '../support/host.ts';
import { createProject, type Platform } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { installSystem } from '../support/system.ts';

let database: TestDatabase;
let proxy: FaultProxy;
let project: { readonly folder: string; remove(): Promise<void> };
let server: Platform;
beforeAll(async () => {
  database = await createDatabase();
  await installSystem(database.url);
  await withClient(database.url, (client) =>
    client.query(`CREATE TABLE docs (id integer PRIMARY KEY); INSERT INTO docs VALUES (1);
      INSERT INTO platform.platform_permissions (collection, action, fields) VALUES ('docs', 'read', 'id')`),
  );
  proxy = await startFaultProxy(database.url);
  project = await createProject();
  await writeFile(join(project.folder, 'platform.config.ts'), "export default { permissionSource: 'tables' };\n");
  server = await startCompiled(project.folder, proxy.url, { DATABASE_POOL_TIMEOUT: '30s' });
});
afterAll(async () => {
  await server?.stop();
  await proxy?.close();
  await project?.remove();
  await database?.drop();
});

/** Milliseconds in which a busy machine compiles. */
const longest = { timeout: 60_000 };

const rights = async (): Promise<number> =>
  withClient(
    database.url,
    async (client) => (await client.query('SELECT FROM platform.platform_permissions')).rowCount ?? 0,
  );

it('a right that was withdrawn does not come back with an earlier change of the model', {
  timeout: 180_000,
}, async () => {
  const read = async () => failure(await server.ask('/items/docs'));
  expect(await read()).toBe('200 no error');
  const rules = await server.admin('/permissions?fields=id');
  // Before an API is served, its tables are compared with those of the database.
  proxy.arm('hold', 'WITH RECURSIVE object AS (');
  const wider = server.admin('/fields/docs', { method: 'POST', body: { field: 'more', type: 'string' } });
  await expect.poll(proxy.done, longest).toBe(1);
  const withdrawn = server.admin(`/permissions/${rules.json.data[0].id}`, { method: 'DELETE' });
  await expect.poll(rights, longest).toBe(0);
  // One that did not wait for the earlier change would be served by then.
  await sleep(1_000);
  proxy.release();
  expect([(await withdrawn).status, await read()]).toEqual([204, '403 FORBIDDEN']);
  expect((await wider).status).toBe(200);
  expect(await read()).toBe('403 FORBIDDEN');
  // The server has looked at the tables once more by then.
  await sleep(2_500);
  expect(await read()).toBe('403 FORBIDDEN');
  const fields = await server.admin('/fields/docs');
  expect(fields.json.data.map(({ field }: { field: string }) => field)).toEqual(['id', 'more']);
});
