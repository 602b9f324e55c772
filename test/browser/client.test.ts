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
import { withClient } from '../support/database.ts';

describe.skipIf(browserVersion === undefined)(`client${withoutBrowser}`, { timeout: 4 * patience }, () => {
  let frontend: Server;
  let origin: string;
  /** The same frontend on another site than the server. */
  let elsewhere: string;
  let project: AccountsProject;
  let user: TestUser;
  let browser: Browser;
  let visitor: Visitor;
  beforeAll(async () => {
    const module = await bundleClient({ minify: true });
    frontend = createServer(({ url }, response) => {
      const isModule = url === '/client.js';
      response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html');
      if (isModule) response.setHeader('access-control-allow-origin', '*');
      if (url === '/sandboxed') response.setHeader('content-security-policy', 'sandbox allow-scripts');
      response.end(isModule ? module : '<!doctype html><link rel="icon" href="data:,"><title>Frontend</title>');
    }).listen(0, '127.0.0.1');
    await once(frontend, 'listening');
    const address = frontend.address();
    const host = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    const named = host.replace('127.0.0.1', 'shop.localhost');
    [origin, elsewhere] = [`http://${host}`, `http://${named}`];
    project = await serve();
    user = await project.addUser(await project.addRole('member'));
    browser = await startBrowser({ [named]: host });
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

  const serve = (environment: Readonly<Record<string, string>> = {}): Promise<AccountsProject> =>
    serveAccounts({
      sql: `CREATE TABLE docs (id integer PRIMARY KEY, title text); INSERT INTO docs VALUES (1, 'one')`,
      permissions:
        'roles: { member: {} }\npermissions: { member: { docs: { read: { fields: ["*"] } }, platform_files: { read: true, create: true } } }',
      environment: { CORS_ENABLED: 'true', CORS_ORIGIN: `${origin}, ${elsewhere}`, ...environment },
    });
  /** Runs a function body on the page, with a client of the server, and gives what it returns. */
  const run = (body: string, page: Page = visitor.page, { server } = project): Promise<unknown> =>
    page.evaluate(`import('/client.js').then(async ({ createClient }) => {
      const client = createClient(${JSON.stringify(server.url)});
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

  it('goes on after a page that was left while it refreshed, whose answer is late', async () => {
    await signIn();
    const { page } = visitor;
    const cookie = async () => (await page.context().cookies()).map(({ value }) => value).join();
    const before = await cookie();
    await run(`localStorage.setItem('auth_expires_at', '0');`);
    await withClient(project.database.url, async (client) => {
      await client.query('BEGIN; LOCK TABLE platform.platform_sessions IN EXCLUSIVE MODE');
      const sent = page.waitForRequest(
        (request) => request.url().endsWith('/auth/refresh') && request.method() === 'POST',
      );
      await run(`void client.items('docs').readOne(1); return null;`);
      await sent;
      await expect
        .poll(() => project.rows('SELECT 1 FROM pg_catalog.pg_locks WHERE NOT granted'), { timeout: patience })
        .not.toEqual([]);
      await page.reload();
      // The next page asks with the cookie that the server is using up.
      const reading = run(`return client.items('docs').readOne(1);`);
      await expect
        .poll(() => project.rows('SELECT 1 FROM pg_catalog.pg_locks WHERE NOT granted'), { timeout: patience })
        .toHaveLength(2);
      await client.query('COMMIT');
      expect(await reading).toEqual({ id: 1, title: 'one' });
    });
    expect(await cookie()).not.toBe(before);
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

  it('has a session on another site only with the settings that the docs name', async () => {
    const refresh = `return client.auth.refresh().then(() => 'refreshed', ({ code }) => code);`;
    await visitor.page.goto(elsewhere);
    await signIn();
    expect(await run(refresh)).toBe('INVALID_PAYLOAD');
    const open = await serve({ REFRESH_TOKEN_COOKIE_SAME_SITE: 'none', REFRESH_TOKEN_COOKIE_SECURE: 'true' });
    try {
      const other = await open.addUser(await open.addRole('member'));
      await run(`return client.auth.login(${JSON.stringify(other)});`, visitor.page, open);
      expect(await run(refresh, visitor.page, open)).toBe('refreshed');
      await run('await client.auth.logout();', visitor.page, open);
      expect(await run(refresh, visitor.page, open)).toBe('INVALID_PAYLOAD');
    } finally {
      await open.close();
    }
  });

  it('is made on a page that may keep nothing', async () => {
    await visitor.page.goto(`${origin}/sandboxed`);
    expect(await run('return client.auth.token;')).toBeNull();
  });

  it('signs out, of the cookie too', async () => {
    await signIn();
    await run('await client.auth.logout();');
    expect(await run('return Object.keys(localStorage);')).toEqual([]);
    expect(await visitor.page.context().cookies()).toEqual([]);
    expect(await run('return client.auth.refresh().catch(({ code }) => code);')).toBe('INVALID_PAYLOAD');
  });
});
