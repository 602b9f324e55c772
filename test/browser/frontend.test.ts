/** The page of fixtures/frontend: it is checked with the client that was generated for it, and used in a browser. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, browserVersion, patience, startBrowser, withoutBrowser } from '../support/browser.ts';
import { compilers } from '../support/compilers.ts';
import type { TestDatabase } from '../support/database.ts';
import { startHosted } from '../support/host.ts';
import { createMagazineDatabase } from '../support/magazine.ts';
import { createProject, type Platform } from '../support/platform.ts';

const fixture = join(import.meta.dirname, '../../fixtures/frontend');

describe.skipIf(browserVersion === undefined)(`frontend${withoutBrowser}`, { timeout: 4 * patience }, () => {
  let files: Server;
  let address: string;
  let client: string;
  let script = '';
  let database: TestDatabase;
  let project: Awaited<ReturnType<typeof createProject>>;
  let server: Platform;
  let browser: Browser;
  beforeAll(async () => {
    const page = await readFile(join(fixture, 'index.html'), 'utf8');
    files = createServer(({ url = '' }, response) => {
      const isScript = url.startsWith('/main.js');
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? script : page);
    }).listen(0, '127.0.0.1');
    await once(files, 'listening');
    const bound = files.address();
    const origin = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`;
    database = await createMagazineDatabase();
    project = await createProject('fixtures/magazine');
    server = await startHosted(project.folder, database.url, { CORS_ENABLED: 'true', CORS_ORIGIN: origin });
    client = join(project.folder, 'generated/client/public');
    const alias = { 'platform-client-public': join(client, 'index.js') };
    const bundle = await rolldown({
      input: join(fixture, 'main.ts'),
      platform: 'browser',
      tsconfig: false,
      resolve: { alias },
    });
    const { output } = await bundle.generate({ format: 'esm' });
    await bundle.close();
    script = output[0].code;
    address = `${origin}/?api=${encodeURIComponent(server.url)}`;
    browser = await startBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await Promise.all([database?.drop(), project?.remove()]);
    files?.closeAllConnections();
    files?.close();
  });

  it('passes the type checker', async () => {
    const config = join(project.folder, 'tsconfig.frontend.json');
    const paths = { 'platform-client-public': [join(client, 'index.d.ts')] };
    const options = {
      extends: join(fixture, 'tsconfig.json'),
      compilerOptions: { paths },
      include: [`${fixture}/*.ts`],
    };
    await writeFile(config, JSON.stringify(options));
    const checked = promisify(execFile)(process.execPath, [compilers['7.0'], '-p', config, '--pretty', 'false']);
    expect(
      await checked.then(
        () => '',
        (error: { readonly stdout: string }) => error.stdout,
      ),
    ).toBe('');
  });

  it('lists, searches, goes on and shows an article', async () => {
    const visitor = await browser.visit(address);
    const { page } = visitor;
    await page.goto(address);
    const titles = page.locator('li button');
    await expect.poll(() => titles.count(), { timeout: patience }).toBe(5);
    expect(await page.getByRole('status').textContent()).toBe('188 articles');
    await page.getByRole('button', { name: 'More' }).click();
    await expect.poll(() => titles.count(), { timeout: patience }).toBe(10);

    await page.getByRole('searchbox').fill('glacier');
    await page.getByRole('button', { name: 'Find' }).click();
    await expect.poll(() => page.getByRole('status').textContent(), { timeout: patience }).not.toBe('188 articles');
    const title = (await titles.first().textContent()) ?? '';
    expect(title).not.toBe('');
    await titles.first().click();
    const heading = page.getByRole('heading', { level: 2 });
    await expect.poll(() => heading.textContent(), { timeout: patience }).toBe(title);
    expect(await page.locator('article > *').count()).toBeGreaterThan(2);
    await visitor.leave();
    expect(visitor.complaints).toEqual([]);
  });
});
