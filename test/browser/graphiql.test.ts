/** GraphiQL in a browser that reaches nothing but the server it came from. */

import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Browser,
  browserVersion,
  expectCalm,
  patience,
  startBrowser,
  type Visitor,
  withoutBrowser,
} from '../support/browser.ts';
import { adminToken } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

describe.skipIf(browserVersion === undefined)(`GraphiQL${withoutBrowser}`, { timeout: 4 * patience }, () => {
  let project: ServedProject;
  let browser: Browser;
  let visitor: Visitor;
  beforeAll(async () => {
    project = await serveProject({
      environment: { GRAPHIQL: 'true' },
      sql: `CREATE TABLE notes (id integer PRIMARY KEY, body text, hidden text); INSERT INTO notes VALUES (1, 'first note', 'kept')`,
      permissions: 'permissions: { public: { notes: { read: { fields: [id, body] } } } }',
    });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await project?.close();
  });
  beforeEach(async () => {
    visitor = await browser.visit(project.url);
  });
  afterEach(async () => {
    await visitor.leave();
    expectCalm(visitor);
  });

  const answer = (): Locator => visitor.page.locator('.result-window');

  async function open(path: string): Promise<void> {
    await visitor.page.goto(`${project.url}${path}`);
    await visitor.page.locator('.graphiql-query-editor .CodeMirror').waitFor();
  }

  async function write(editor: string, text: string): Promise<void> {
    const { page } = visitor;
    await page.locator(`${editor} .CodeMirror`).click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(text);
  }

  async function run(): Promise<void> {
    await visitor.page.getByRole('button', { name: /Execute query/ }).click();
  }

  it('asks for data, and says what is wrong', async () => {
    await open('/graphql');
    await write('.graphiql-query-editor', '{ notes { id body } }');
    await run();
    await expect.poll(() => answer().textContent(), { timeout: patience }).toContain('first note');
    await write('.graphiql-query-editor', '{ notes { hidden } }');
    await run();
    await expect.poll(() => answer().textContent(), { timeout: patience }).toContain('INVALID_QUERY');
  });

  it('completes and explains what the caller may see, and no more', async () => {
    await open('/graphql');
    const { page } = visitor;
    await write('.graphiql-query-editor', '{ notes { ');
    await page.keyboard.press('Control+Space');
    await expect.poll(() => page.locator('.CodeMirror-hints').textContent(), { timeout: patience }).toContain('body');
    expect(await page.locator('.CodeMirror-hints').textContent()).not.toContain('hidden');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.getByRole('link', { name: 'Query', exact: true }).click();
    await expect
      .poll(() => page.locator('.graphiql-plugin').textContent(), { timeout: patience })
      .toContain('notes_by_id');
  });

  it('takes a token as a header', async () => {
    await open('/graphql');
    await visitor.page.getByRole('button', { name: 'Headers' }).click();
    await write(
      '[aria-label="Headers"] .graphiql-editor:not(.hidden)',
      JSON.stringify({ Authorization: `Bearer ${adminToken}` }),
    );
    await write('.graphiql-query-editor', '{ notes { hidden } }');
    await run();
    await expect.poll(() => answer().textContent(), { timeout: patience }).toContain('kept');
  });

  it('asks below the path of a proxy', async () => {
    const proxy = createServer((incoming, outgoing) => {
      const { method, headers, url = '' } = incoming;
      // Whatever is asked beside the path is not this server's.
      if (!url.startsWith('/shop/v1/')) return void outgoing.writeHead(404).end();
      const passed = request(`${project.url}${url.slice('/shop/v1'.length)}`, { method, headers }, (answered) => {
        outgoing.writeHead(answered.statusCode ?? 500, answered.headers);
        answered.pipe(outgoing);
      });
      incoming.pipe(passed);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const address = proxy.address();
    const outside = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/shop/v1`;
    const stranger = await browser.visit(new URL(outside).origin);
    for (const path of ['/graphql?query=%7B+notes+%7B+body+%7D+%7D', '/graphql/system?query=%7B+server_ping+%7D']) {
      await stranger.page.goto(`${outside}${path}`);
      await stranger.page.locator('.graphiql-query-editor .CodeMirror').waitFor();
      await stranger.page.getByRole('button', { name: /Execute query/ }).click();
      const shown = stranger.page.locator('.result-window');
      await expect.poll(() => shown.textContent(), { timeout: patience }).toMatch(/first note|pong/);
    }
    await stranger.leave();
    expectCalm(stranger);
    proxy.close();
    proxy.closeAllConnections();
  });

  it('asks the other scope where it came from', async () => {
    await open('/graphql/system?query=%7B+server_ping+%7D');
    await run();
    await expect.poll(() => answer().textContent(), { timeout: patience }).toContain('pong');
    expect(visitor.sent.some((request) => request.startsWith(`${project.url}/graphql/system `))).toBe(true);
  });
});
