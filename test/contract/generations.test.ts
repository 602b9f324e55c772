/** Roles and rules that are written while two processes serve: compiled, swapped in everywhere, refused when they do not compile. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ContractDatabase, createSystemDatabase, isOnMariadb, skippedFor } from '../support/contract-database.ts';
import { generateHosted } from '../support/host.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { soon } from '../support/timing.ts';

let database: ContractDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
let first: Platform;
let second: Platform;
beforeAll(async () => {
  database = await createSystemDatabase(
    `CREATE TABLE docs (id integer PRIMARY KEY, title text, secret text); INSERT INTO docs VALUES (1, 'One', 's')`,
  );
  project = await createProject();
  await writeFile(join(project.folder, 'platform.config.ts'), "export default { permissionSource: 'tables' };\n");
  // What a generation allows is not what the documents of the first one say.
  await generateHosted(project.folder, database.url);
  first = await startUnchecked(project.folder, database.url, { NODE_OPTIONS: `--import=${endsThreads}` }, []);
  second = await startUnchecked(project.folder, database.url, {}, []);
});
afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop()]);
  await project?.remove();
  await database?.drop();
});

/** Ends every thread of a process on a signal, as a lack of memory may. */
const endsThreads = `data:text/javascript,${encodeURIComponent(`process.on('worker', (thread) => {
  process.on('SIGUSR2', () => thread.terminate());
  thread.on('exit', () => console.error('A thread has ended.'));
});`)}`;

const run = (sql: string) => database.rows(sql);
const read = (server: Platform, token?: string) => server.ask('/items/docs?fields=*', { ...(token && { token }) });
const rules = (method: string, body: unknown, path = '/permissions') => first.admin(path, { method, body });

it('a rule holds when its request is answered, and in other processes soon', async () => {
  expect(failure(await read(first))).toBe('403 FORBIDDEN');
  const made = await rules('POST', { collection: 'docs', action: 'read', fields: ['id', 'title'] });
  expect([made.status, made.json.data.fields]).toEqual([200, ['id', 'title']]);
  expect((await read(first)).json.data).toEqual([{ id: 1, title: 'One' }]);
  await soon(async () => (await read(second)).json.data, [{ id: 1, title: 'One' }], 5_000);
  const paths = Object.keys((await second.ask('/server/specs/oas')).json.paths);
  expect(paths).toContain('/items/docs');
  const asked = await second.ask('/graphql', { method: 'POST', body: { query: '{ docs { id title } }' } });
  expect(asked.json).toEqual({ data: { docs: [{ id: 1, title: 'One' }] } });
  const changed = await rules('PATCH', { fields: ['id'] }, `/permissions/${made.json.data.id}`);
  expect(changed.status).toBe(200);
  expect((await read(first)).json.data).toEqual([{ id: 1 }]);
  await soon(async () => (await read(second)).json.data, [{ id: 1 }], 5_000);
});

it('what does not compile is refused with the reason, and nothing of it stays', async () => {
  for (const [body, told] of [
    [{ collection: 'dosc', action: 'read', fields: ['*'] }, 'dosc'],
    [{ collection: 'docs', action: 'read', fields: ['titel'] }, 'titel'],
    [{ collection: 'docs', action: 'read', fields: ['id'], permissions: { id: { _is: 1 } } }, '_is'],
    [{ collection: 'platform_revisions', action: 'update', fields: ['*'] }, 'platform_revisions'],
  ] as const) {
    const refused = await rules('POST', body);
    expect(failure(refused)).toBe('400 FAILED_VALIDATION');
    expect(refused.json.errors[0].extensions).toEqual({
      code: 'FAILED_VALIDATION',
      collection: 'platform_permissions',
      type: 'compile',
    });
    expect(refused.json.errors[0].message).toContain(told);
  }
  expect(await run('SELECT count(*)::int AS rules FROM platform.platform_permissions')).toEqual([{ rules: 1 }]);
  expect((await read(first)).json.data).toEqual([{ id: 1 }]);
});

it('a role has its rules from the answer on, by GraphQL, too, and loses them with its row', async () => {
  const role = await rules('POST', { name: 'reader', app_access: false }, '/roles');
  const { id } = role.json.data;
  const token = 'token-of-a-reader-0000000000';
  const user = { email: 'r@example.com', password: 'correct horse battery', role: id, token };
  expect((await rules('POST', user, '/users')).status).toBe(200);
  expect(failure(await read(first, token))).toBe('403 FORBIDDEN');
  const query = `mutation { create_permissions_item(data: { role: { id: "${id}" }, collection: "docs", action: "read", fields: ["*"] }) { id } }`;
  const made = await first.admin('/graphql/system', { method: 'POST', body: { query } });
  expect(made.json.errors).toBeUndefined();
  expect((await read(first, token)).json.data).toEqual([{ id: 1, title: 'One', secret: 's' }]);
  expect(failure(await rules('POST', { name: 'reader' }, '/roles'))).toBe('400 FAILED_VALIDATION');
  expect((await rules('DELETE', undefined, `/roles/${id}`)).status).toBe(204);
  expect(failure(await read(first, token))).toBe('401 INVALID_CREDENTIALS');
});

it.skipIf(isOnMariadb())(
  `a collection goes with its rules, and a field does not while a rule names it${skippedFor('the model is not changed by requests there')}`,
  async () => {
    const make = {
      collection: 'brief',
      schema: {},
      fields: [{ field: 'id', type: 'integer', schema: { is_primary_key: true } }],
    };
    expect((await rules('POST', make, '/collections')).status).toBe(200);
    expect((await rules('POST', { field: 'a', type: 'text' }, '/fields/brief')).status).toBe(200);
    expect((await rules('POST', { collection: 'brief', action: 'read', fields: ['id', 'a'] })).status).toBe(200);
    expect((await first.ask('/fields/brief')).json.data).toHaveLength(2);
    const refused = await rules('DELETE', undefined, '/fields/brief/a');
    expect([failure(refused), refused.json.errors[0].extensions.type]).toEqual(['400 FAILED_VALIDATION', 'compile']);
    expect((await rules('DELETE', undefined, '/collections/brief')).status).toBe(204);
    expect(await run("SELECT id FROM platform.platform_permissions WHERE collection = 'brief'")).toEqual([]);
  },
);

it('the served rules go on being described after many that were not kept', async () => {
  const rule = (title: string) =>
    `create_permissions_item(data: { collection: "docs", action: "update", fields: ["${title}"] }) { id }`;
  const kept = await first.admin('/graphql/system', {
    method: 'POST',
    body: { query: `mutation { ${rule('title')} }` },
  });
  expect(kept.json.errors).toBeUndefined();
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}: ${rule('secret')}`);
  const query = `mutation { ${names.join(' ')} f: ${rule('nothing')} }`;
  const refused = await first.admin('/graphql/system', { method: 'POST', body: { query } });
  expect(refused.json.errors[0].extensions.code).toBe('FAILED_VALIDATION');
  const described = await first.ask('/server/specs/oas');
  expect([described.status, Object.keys(described.json.paths)]).toEqual([200, expect.arrayContaining(['/items/docs'])]);
  const { id } = kept.json.data.create_permissions_item;
  expect((await rules('DELETE', undefined, `/permissions/${id}`)).status).toBe(204);
});

it('the served rules go on being described when the thread that compiled them has died', async () => {
  const kept = await rules('POST', { collection: 'docs', action: 'delete' });
  expect(kept.status).toBe(200);
  process.kill(first.pid, 'SIGUSR2');
  await soon(async () => first.log().includes('A thread has ended.'), true, 5_000);
  const described = await first.ask('/server/specs/oas');
  expect([described.status, JSON.stringify(described.json)]).toEqual([200, expect.stringContaining('"delete":')]);
  const sdl = await first.ask('/server/specs/graphql/items');
  expect([sdl.status, sdl.text]).toEqual([200, expect.stringContaining('delete_docs_item')]);
  const { id } = kept.json.data;
  expect((await rules('DELETE', undefined, `/permissions/${id}`)).status).toBe(204);
});

it('rows that somebody else has written are found, and those that do not compile change nothing', async () => {
  await run("INSERT INTO platform.platform_permissions (collection, action, fields) VALUES ('docs', 'read', 'title')");
  await soon(async () => (await read(first)).json.data, [{ id: 1, title: 'One' }], 5_000);
  await run("INSERT INTO platform.platform_permissions (collection, action, fields) VALUES ('dosc', 'read', 'title')");
  await soon(async () => first.log().includes('do not compile'), true, 5_000);
  expect((await read(first)).json.data).toEqual([{ id: 1, title: 'One' }]);
  await run("DELETE FROM platform.platform_permissions WHERE collection = 'dosc'");
});

it('a start serves what the tables say by then, and a frozen one what was generated', async () => {
  await second.stop();
  await run("UPDATE platform.platform_permissions SET fields = 'secret'");
  second = await startUnchecked(project.folder, database.url, {}, []);
  expect((await read(second)).json.data).toEqual([{ secret: 's' }]);
  await second.stop();
  second = await startUnchecked(project.folder, database.url, {}, ['--frozen']);
  expect(failure(await read(second))).toBe('403 FORBIDDEN');
  const rule = { collection: 'docs', action: 'read', fields: ['*'] };
  expect(failure(await second.admin('/permissions', { method: 'POST', body: rule }))).toBe('422 UNPROCESSABLE_ENTITY');
  expect(failure(await second.admin('/roles', { method: 'POST', body: { name: 'a' } }))).toBe(
    '422 UNPROCESSABLE_ENTITY',
  );
  const table = { collection: 'more', schema: {} };
  expect(failure(await second.admin('/collections', { method: 'POST', body: table }))).toBe('422 UNPROCESSABLE_ENTITY');
  expect(failure(await second.ask('/collections', { method: 'POST', body: table }))).toBe('403 FORBIDDEN');
});
