/** The client library on a page of another origin than its server, as a frontend uses it. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts, type TestUser } from '../support/accounts.ts';
import {
  type Browser,
  browserVersion,
  patience,
  startBrowser,
  type Visitor,
  withoutBrowser,
} from '../support/browser.ts';
import { bundleClient } from '../support/client-bundle.ts';

describe.skipIf(browserVersion === undefined)(`client${withoutBrowser}`, { timeout: 4 * patience }, () => {
  let frontend: Server;
  let origin: string;
  let project: AccountsProject;
  let user: TestUser;
  let browser: Browser;
  let visitor: Visitor;
  beforeAll(async () => {
    const module = await bundleClient({ minify: true });
    frontend = createServer(({ url }, response) => {
      const isModule = url === '/client.js';
      response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html');
      response.end(isModule ? module : '<!doctype html><link rel="icon" href="data:,"><title>Frontend</title>');
    }).listen(0, '127.0.0.1');
    await once(frontend, 'listening');
    const address = frontend.address();
    origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    project = await serveAccounts({
      sql: `CREATE TABLE docs (id integer PRIMARY KEY, title text); INSERT INTO docs VALUES (1, 'one')`,
      permissions:
        'roles: { member: {} }\npermissions: { member: { docs: { read: { fields: ["*"] } }, platform_files: { read: true, create: true } } }',
      environment: { CORS_ENABLED: 'true', CORS_ORIGIN: origin },
    });
    user = await project.addUser(await project.addRole('member'));
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await project?.close();
    frontend?.closeAllConnections();
    frontend?.close();
  });
  beforeEach(async () => {
    visitor = await browser.visit(origin);
    await visitor.page.goto(origin);
  });
  afterEach(async () => {
    await visitor.leave();
    expect(visitor.complaints).toEqual([]);
  });

  /** Runs a function body on the page, with a client of the server, and gives what it returns. */
  const run = (body: string, page: Page = visitor.page): Promise<unknown> =>
    page.evaluate(`import('/client.js').then(async ({ createClient }) => {
      const client = createClient(${JSON.stringify(project.server.url)});
      ${body}
    })`);
  const signIn = (): Promise<unknown> => run(`return client.auth.login(${JSON.stringify(user)});`);
  const count = (path: string): number => visitor.sent.filter((line) => line.split(' ')[0]?.endsWith(path)).length;

  it('signs in by a cookie that no script sees, and goes on after loading the page again', async () => {
    expect(await signIn()).toEqual({ access_token: expect.any(String), expires: 900_000 });
    expect(await run('return [document.cookie, Object.keys(localStorage).sort()];')).toEqual([
      '',
      ['auth_expires', 'auth_expires_at', 'auth_token'],
    ]);
    const [cookie] = await visitor.page.context().cookies();
    expect(cookie).toMatchObject({ name: 'platform_refresh_token', httpOnly: true });
    await visitor.page.reload();
    expect(await run(`return client.items('docs').readOne(1);`)).toEqual({ id: 1, title: 'one' });
    expect(count('/auth/refresh')).toBe(0);
  });

  it('refreshes at most once per tab at expiry, however many requests wait', async () => {
    await signIn();
    const other = await visitor.page.context().newPage();
    await other.goto(origin);
    await run(`localStorage.setItem('auth_expires_at', '0');`);
    const twenty = `return Promise.all(Array.from({ length: 20 }, () => client.items('docs').readByQuery()))
      .then((pages) => pages.filter(({ data }) => data[0].title === 'one').length);`;
    expect(await Promise.all([run(twenty), run(twenty, other)])).toEqual([20, 20]);
    // Usually once for both: but browsers may show a tab late what another one has stored.
    expect(count('/auth/refresh')).toBeGreaterThanOrEqual(1);
    expect(count('/auth/refresh')).toBeLessThanOrEqual(2);
  });

  it('searches across origins when the address grows too long, and tells of failures', async () => {
    await signIn();
    const long = `client.items('docs').readByQuery({ filter: { title: { _in: ['one', 'x'.repeat(9000)] } } })`;
    expect(await run(`return ${long};`)).toEqual({ data: [{ id: 1, title: 'one' }] });
    expect(await run(`return client.items('none').readOne(1).catch(({ code, status }) => [code, status]);`)).toEqual([
      'FORBIDDEN',
      403,
    ]);
  });

  it('uploads files and tells how far it is', async () => {
    await signIn();
    const told = await run(`const told = [];
      const telling = createClient(${JSON.stringify(project.server.url)}, {
        transport: { onUploadProgress: (progress) => told.push(progress) },
      });
      const form = new FormData();
      form.append('file', new Blob(['x'.repeat(100000)]), 'letters "x".txt');
      const file = await telling.files.createOne(form, { fields: ['id', 'filename_download', 'filesize'] });
      const text = await new Response(await telling.assets.readOne(file.id)).text();
      const large = new FormData();
      large.append('file', new Blob(['x'.repeat(2000000)]), '..');
      const stop = new AbortController();
      const aborted = telling.files.createOne(large, {}, { signal: stop.signal }).catch(({ name }) => name);
      setTimeout(() => stop.abort(), 0);
      const { id, ...rest } = file;
      return { ...rest, text: text.length, last: told.find(({ loaded, total }) => loaded === total) !== undefined, aborted: await aborted };`);
    expect(told).toEqual({
      filename_download: 'letters "x".txt',
      filesize: '100000',
      text: 100_000,
      last: true,
      aborted: 'AbortError',
    });
  });

  it('signs out, of the cookie too', async () => {
    await signIn();
    await run('await client.auth.logout();');
    expect(await run('return Object.keys(localStorage);')).toEqual([]);
    expect(await visitor.page.context().cookies()).toEqual([]);
    expect(await run('return client.auth.refresh().catch(({ code }) => code);')).toBe('INVALID_PAYLOAD');
  });
});
