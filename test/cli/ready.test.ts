/** `platform ready` over servers that serve, that stop, and that are none. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createProject, runPlatform, startUnchecked } from '../support/platform.ts';

/** The command is started many times. */
vi.setConfig({ testTimeout: 120_000 });

let database: TestDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
beforeAll(async () => {
  database = await createDatabase('CREATE TABLE docs (id integer PRIMARY KEY)');
  project = await createProject();
});
afterAll(async () => {
  await project?.remove();
  await database?.drop();
});

it('says whether a server wants requests', async () => {
  const server = await startUnchecked(project.folder, database.url, { SHUTDOWN_DELAY: '20s' });
  const { port } = new URL(server.url);
  expect(await runPlatform(['ready', '--url', server.url])).toMatchObject({
    code: 0,
    stderr: `${server.url} is ready.\n`,
  });
  expect(await runPlatform(['ready', '--json'], { PORT: port, HOST: '0.0.0.0' })).toMatchObject({
    code: 0,
    stdout: `{"event":"ready","url":"${server.url}","status":"ok"}\n`,
  });
  const stopped = server.stop();
  await expect.poll(() => server.ask('/server/ready').then(({ status }) => status)).toBe(503);
  expect(await runPlatform(['ready'], { PORT: port })).toMatchObject({
    code: 1,
    stderr: `${server.url} is not ready: draining.\n`,
  });
  expect(await stopped).toBe(0);
  expect(await runPlatform(['ready'], { PORT: port })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/ does not answer: connect ECONNREFUSED .*\.\n$/),
  });
});

it('tells nothing of what another program says', async () => {
  const other = createServer((_, response) => response.writeHead(500).end('{"status":"<b>"}')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  expect(await runPlatform(['ready', '--url', url])).toMatchObject({
    code: 1,
    stderr: `${url} is not ready: unknown.\n`,
  });
  other.close();
  other.closeAllConnections();
});

it.each([
  ['here', {}],
  ['localhost:8055', {}],
  ['ftp://127.0.0.1', {}],
  [null, { PORT: 'http' }],
])('refuses an address that is none: %s %j', async (url, variables) => {
  const subject = url === null ? 'HOST and PORT' : '--url';
  const ran = await runPlatform(['ready', ...(url === null ? [] : ['--url', url])], variables);
  expect(ran.stderr).toContain(`${subject} must be an address such as http://127.0.0.1:8055, not "`);
  expect(ran.stderr).not.toMatch(/^\s+at /m);
  expect(ran.code).toBe(2);
});

it('tells of a server that begins an answer and goes silent', { timeout: 30_000 }, async () => {
  const other = createServer((_, response) => response.writeHead(200).write('{"status":')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const { code, stderr } = await runPlatform(['ready', '--url', url]);
  expect([code, stderr]).toEqual([1, `${url} does not answer: The operation was aborted due to timeout.\n`]);
  other.close();
  other.closeAllConnections();
});
