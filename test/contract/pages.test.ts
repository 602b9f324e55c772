/** The pages for people, as HTTP answers; what they do is tried in a browser, `test/browser`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts } from '../support/accounts.ts';
import { createDatabase } from '../support/database.ts';
import { createProject, startPlatform } from '../support/platform.ts';
import { failure } from '../support/project.ts';

const pages = ['accept-invite', 'reset-password', 'login', 'two-factor'];

/** As browsers ask. */
const asBrowser = { headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' } };

let project: AccountsProject;
beforeAll(async () => {
  project = await serveAccounts({ sql: 'CREATE TABLE docs (id integer PRIMARY KEY)', permissions: 'permissions: {}' });
});
afterAll(() => project?.close());

describe('a page', () => {
  it.each(pages)('%s is not stored, tells nobody where it was, and loads nothing from elsewhere', async (name) => {
    const { status, headers, text } = await project.server.ask(`/admin/${name}?token=a.b.c`);
    expect(status).toBe(200);
    expect(text).not.toContain('a.b.c');
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
    });
    const policy = headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]),
    );
    expect(policy.join()).not.toMatch(/unsafe|\*|http|,.*,.*default-src/);
  });

  it('is asked for by GET and HEAD, at its very address', async () => {
    const head = await project.server.ask('/admin/login', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    for (const [method, path] of [
      ['POST', '/admin/login'],
      ['GET', '/admin/login/'],
      ['GET', '/admin/%6cogin'],
      ['GET', '/admin'],
      ['GET', '/admin/assets/..%2f..%2fpackage.json'],
      ['GET', '/admin/assets/login.html.hbs'],
      ['GET', '/admin/assets/tsconfig.json'],
    ] as const) {
      expect([path, failure(await project.server.ask(path, { method }))]).toEqual([path, '404 ROUTE_NOT_FOUND']);
    }
  });
});

describe('the first page', () => {
  it.each(['/', '/admin'])('%s is for browsers, and no route to programs', async (path) => {
    const page = await project.server.ask(path, asBrowser);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('<a href="admin/login">');
    expect(page.text).not.toMatch(/"docs"|"graphql"/);
    expect(page.headers.get('content-security-policy')).not.toMatch(/unsafe|\*|http/);
    for (const accept of ['*/*', 'application/json', 'application/json, text/html']) {
      const answer = await project.server.ask(path, { headers: { accept } });
      expect(failure(answer)).toBe('404 ROUTE_NOT_FOUND');
      for (const { headers } of [page, answer]) expect(headers.get('vary')?.split(', ')).toContain('Accept');
    }
    expect(failure(await project.server.ask(path, { ...asBrowser, method: 'POST' }))).toBe('404 ROUTE_NOT_FOUND');
  });
});

it('what pages load is kept by browsers and asked for again', async () => {
  const { text } = await project.server.ask('/admin/login');
  const names = [...text.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, name]) => `/admin/${name}`);
  expect(names).toEqual(['/admin/assets/icon.svg', '/admin/assets/style.css', '/admin/assets/login.js']);
  for (const name of names) {
    const { status, headers } = await project.server.ask(name);
    expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    const again = await project.server.ask(name, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    expect([again.status, again.text]).toEqual([304, '']);
  }
});

it('a project replaces templates, style and icon by files of the same name', { timeout: 60_000 }, async () => {
  const { folder, database } = project;
  await writeFile(join(folder, 'platform.config.ts'), `export default { templates: 'own' };\n`);
  await mkdir(join(folder, 'own/pages'), { recursive: true });
  await writeFile(join(folder, 'own/pages/style.css'), 'body { color: teal }');
  const server = await startPlatform(folder, database.url);
  try {
    expect((await server.ask('/admin/assets/style.css')).text).toBe('body { color: teal }');
    expect((await server.ask('/admin/login')).text).toContain('<h1');
  } finally {
    await server.stop();
  }
  await writeFile(join(folder, 'own/pages/log-in.html.hbs'), 'x');
  await expect(startPlatform(folder, database.url)).rejects.toThrow(
    '"log-in.html.hbs" replaces no template of the pages',
  );
});

it('there is none but the first where there are no users', { timeout: 60_000 }, async () => {
  const database = await createDatabase();
  const { folder, remove } = await createProject();
  const server = await startPlatform(folder, database.url, { DOCS: 'true', GRAPHIQL: 'true' });
  try {
    for (const name of [...pages, 'assets/login.js']) {
      expect(failure(await server.ask(`/admin/${name}`))).toBe('404 ROUTE_NOT_FOUND');
    }
    const { text } = await server.ask('/', asBrowser);
    expect(text).toContain('<h1>Tablewright</h1>');
    const links = [...text.matchAll(/<a href="([^"]*)"/g)].map(([, to]) => to);
    expect(links).toEqual(['docs', 'graphql', 'server/health', 'server/specs/oas']);
    expect((await server.ask('/admin/assets/style.css')).status).toBe(200);
  } finally {
    await server.stop();
    await Promise.all([database.drop(), remove()]);
  }
});
