/** The site that `npm run docs` builds: its links, what it loads, and its search. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root } from '../architecture/files.ts';
import { browserVersion, patience, startBrowser, withoutBrowser } from '../support/browser.ts';

const site = join(root, '.tmp', 'docs');
const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

let server: Server;
let url: string;
beforeAll(async () => {
  await promisify(execFile)(process.execPath, ['node_modules/vitepress/bin/vitepress.js', 'build', 'docs'], {
    cwd: root,
  });
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
    readFile(join(site, decodeURIComponent(pathname))).then(
      (body) => response.setHeader('Content-Type', types[extname(pathname)] ?? 'application/octet-stream').end(body),
      () => response.writeHead(404).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  // The whole site is built, which takes minutes where other tests run.
}, 300_000);
afterAll(() => server?.close());

const pages = (): ReadonlyMap<string, string> =>
  new Map(globSync('**/*.html', { cwd: site }).map((name) => [name, readFileSync(join(site, name), 'utf8')]));

it('has a page and a heading for every link', () => {
  const texts = pages();
  const sources = globSync('**/*.md', { cwd: join(root, 'docs') });
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.filter((name) => !texts.has(name.replace(/\.md$/, '.html')))).toEqual([]);
  const broken = [...texts].flatMap(([name, text]) =>
    [...text.matchAll(/<a [^>]*href="([^"]+)"/g)].flatMap(([, href = '']) => {
      const target = new URL(href, `${url}/${name}`);
      if (target.origin !== url || target.pathname === '/') return [];
      // Servers of files answer a folder with its index.
      const found = texts.get(target.pathname.slice(1).replace(/\/$/, '/index.html'));
      const anchor = decodeURIComponent(target.hash.slice(1));
      const there = found !== undefined && (anchor === '' || found.includes(`id="${anchor}"`));
      return there ? [] : [`${name}: ${href}`];
    }),
  );
  expect([...new Set(broken)]).toEqual([]);
});

it('names no other host in anything that it loads', () => {
  const loads = [...pages().values()].flatMap((text) => [
    ...[...text.matchAll(/<(?:script|img|iframe|source)\b[^>]*\ssrc="([^"]+)"/g)].map(([, address = '']) => address),
    ...[...text.matchAll(/<link\b[^>]*\shref="([^"]+)"/g)].map(([, address = '']) => address),
  ]);
  const styles = globSync('**/*.css', { cwd: site }).map((name) => readFileSync(join(site, name), 'utf8'));
  const urls = styles.flatMap((text) =>
    [...text.matchAll(/(?:url\(|@import )["']?([^"')]+)/g)].map(([, address = '']) => address),
  );
  expect(loads.length).toBeGreaterThan(100);
  expect([...loads, ...urls].filter((address) => /^(?:[a-z]+:)?\/\//i.test(address))).toEqual([]);
});

it.skipIf(browserVersion === undefined)(
  `finds a variable by its search, and asks no other host${withoutBrowser}`,
  async () => {
    const browser = await startBrowser();
    try {
      for (const width of [1280, 390]) {
        const { page, strangers, leave } = await browser.visit(url, { width });
        await page.goto(`${url}/reference/commands.html`, { timeout: patience, waitUntil: 'networkidle' });
        // Tables and blocks of code scroll by themselves: the page never does.
        expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0);
        await page.keyboard.press('Control+k');
        await page.locator('.search-input').fill('STORAGE_LOCATIONS');
        const result = page.locator('.result', { hasText: 'Environment variables' }).first();
        await result.click({ timeout: patience });
        await page.waitForURL('**/reference/environment.html#files', { timeout: patience });
        expect(strangers).toEqual([]);
        await leave();
      }
    } finally {
      await browser.close();
    }
  },
);
