/** Requests whose work takes longer than a connection may be idle: they are answered. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

/** A connection may be idle for ten seconds more than a statement and the wait for its connection take. */
const extension = `import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ route }) => {
  route<{ response: { readonly done: boolean } }>('POST /slow', { roles: ['public'] }, async () => {
    await sleep(13_000);
    return { done: true };
  });
});
`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: 'CREATE TABLE docs (id integer PRIMARY KEY)',
    extensions: { 'slow.ts': extension },
    environment: { DATABASE_STATEMENT_TIMEOUT: '500ms', DATABASE_POOL_TIMEOUT: '500ms', REQUEST_TIMEOUT: '1s' },
  });
});
afterAll(() => project?.close());

it('are answered on their connections, which end where the rest of a request does not come', {
  timeout: 60_000,
}, async () => {
  const slow = project.ask('/slow', { method: 'POST' });
  const start = performance.now();
  // A connection on which nothing was ever sent ends as before.
  const { port, hostname } = new URL(project.url);
  const idle = connect({ port: Number(port), host: hostname });
  const closed = new Promise((resolve) => idle.once('close', resolve));
  idle.on('error', () => {}).resume();
  const { status, json } = await slow;
  expect([status, json]).toEqual([200, { done: true }]);
  expect(performance.now() - start).toBeGreaterThan(12_000);
  await Promise.race([closed, sleep(5_000)]);
  expect(idle.destroyed).toBe(true);
});
