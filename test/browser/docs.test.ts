/** The documentation page in a browser that reaches nothing but the server it came from. */
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
import { administrator, adminToken } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

describe.skipIf(browserVersion === undefined)(
  `the documentation page${withoutBrowser}`,
  { timeout: 4 * patience },
  () => {
    let project: ServedProject;
    let browser: Browser;
    let visitor: Visitor;
    beforeAll(async () => {
      project = await serveProject({
        system: true,
        environment: { DOCS: 'true' },
        sql: `CREATE TABLE notes (id integer PRIMARY KEY, body text, kept text); COMMENT ON TABLE notes IS 'What people write down.';
        INSERT INTO notes VALUES (1, 'first note', 'a secret')`,
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
      await visitor.page.goto(`${project.url}/docs`);
      await visitor.page.locator('.swagger-ui .info').waitFor();
    });
    afterEach(async () => {
      await visitor.leave();
      expectCalm(visitor);
    });

    const operation = (id: string): Locator => visitor.page.locator(`[id$="-${id}"]`);

    async function run(id: string): Promise<string> {
      const one = operation(id);
      await one.locator('.opblock-summary-control').click();
      await one.getByRole('button', { name: 'Execute' }).click();
      const answer = one.locator('.live-responses-table .response').first();
      await answer.waitFor();
      return (await answer.textContent()) ?? '';
    }

    async function settled(text: string): Promise<void> {
      await expect.poll(() => visitor.page.locator('#status').textContent(), { timeout: patience }).toContain(text);
    }

    it('shows what may be asked without a token, and asks it', async () => {
      await operation('readItemsNotes').waitFor();
      expect(await visitor.page.locator('#docs').textContent()).toContain('What people write down.');
      expect(await operation('createItemsNotes').count()).toBe(0);
      const answer = await run('readItemsNotes');
      expect(answer).toContain('200');
      expect(answer).toContain('first note');
      expect(answer).not.toContain('a secret');
    });

    it('shows and asks what the holder of a token may', async () => {
      await visitor.page.getByLabel('Token', { exact: true }).fill(adminToken);
      await visitor.page.getByRole('button', { name: 'Use the token' }).click();
      await settled('With the token');
      await operation('createItemsNotes').waitFor();
      expect(await run('readItemsNotes')).toContain('a secret');
      await visitor.page.getByRole('button', { name: 'Use none' }).click();
      await expect.poll(() => operation('createItemsNotes').count(), { timeout: patience }).toBe(0);
    });

    it('says that nobody is signed in, and asks as the user who is', async () => {
      const session = visitor.page.getByRole('button', { name: 'Use the session of this browser' });
      await session.click();
      await settled('Nobody is signed in');
      const { page } = visitor;
      const signedIn = await page.evaluate(async (credentials) => {
        const response = await fetch('auth/login', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ ...credentials, mode: 'cookie' }),
        });
        return response.status;
      }, administrator);
      expect(signedIn).toBe(200);
      await session.click();
      await settled('As the user who is signed in');
      await operation('createItemsNotes').waitFor();
      expect(await run('usersMe')).toContain(administrator.email);
    });
  },
);

it('is not there unless it is asked for', { timeout: 4 * patience }, async () => {
  const project = await serveProject({ sql: 'CREATE TABLE notes (id integer PRIMARY KEY)' });
  const statuses = ['/docs', '/docs/page.js', '/docs/swagger-ui.js'].map(
    async (path) => (await project.ask(path)).status,
  );
  expect(await Promise.all(statuses)).toEqual([404, 404, 404]);
  await project.close();
});
