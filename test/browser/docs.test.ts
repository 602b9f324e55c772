/** The documentation page in a browser that reaches nothing but the server it came from. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Browser,
  barriersOf,
  browserVersion,
  expectCalm,
  patience,
  startBrowser,
  type Visitor,
  withoutBrowser,
} from '../support/browser.ts';
import { type DocsPage, docsPage } from '../support/docs-page.ts';
import { administrator, adminToken } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

describe.skipIf(browserVersion === undefined)(
  `the documentation page${withoutBrowser}`,
  { timeout: 4 * patience },
  () => {
    let project: ServedProject;
    let browser: Browser;
    let visitor: Visitor;
    let docs: DocsPage;
    beforeAll(async () => {
      project = await serveProject({
        system: true,
        environment: { DOCS: 'true' },
        sql: `CREATE TABLE notes (id integer PRIMARY KEY, body text, kept text, facts jsonb); COMMENT ON TABLE notes IS 'What people write down.';
        INSERT INTO notes VALUES (1, 'first note', 'a secret', '{"big": 9007199254740993}')`,
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
      docs = docsPage(visitor.page);
      await docs.open(project.url);
    });
    afterEach(async () => {
      await visitor.leave();
      expectCalm(visitor);
    });

    async function settled(text: string): Promise<void> {
      await expect.poll(() => visitor.page.locator('#status').textContent(), { timeout: patience }).toContain(text);
    }

    it('shows what may be asked without a token, and asks it', async () => {
      await docs.operation('readItemsNotes').waitFor();
      expect(await visitor.page.locator('main').textContent()).toContain('What people write down.');
      expect(await docs.operation('createItemsNotes').count()).toBe(0);
      const answer = await docs.send('readItemsNotes', { 'filter (query)': '{"id":{"_eq":1}}' });
      expect(answer).toContain('200');
      expect(answer).toContain('first note');
      expect(answer).not.toContain('a secret');
    });

    it('shows and asks what the holder of a token may', async () => {
      await docs.become(adminToken);
      await docs.operation('createItemsNotes').waitFor();
      const all = await docs.send('readItemsNotes');
      expect(all).toContain('a secret');
      expect(all).toContain('9007199254740993');
      expect(await docs.send('createItemsNotes', { 'Body (application/json)': '{"id":2}' })).toContain('"id": 2');
      expect(await docs.send('deleteSingleItemsNotes', { 'key (path, required)': '2' })).toMatch(/^204/);
      expect(await docs.send('searchItemsNotes', { 'Body (application/json)': '{"query":{}}' })).toContain('a secret');
      expect(await docs.operation('searchItemsNotes').textContent()).toContain('Items, or aggregate rows.');
      const formed = ['readItemsNotes', 'searchItemsNotes', 'deleteSingleItemsNotes'].map((id) =>
        docs.operation(id).getByLabel('fields (query)', { exact: true }).count(),
      );
      expect(await Promise.all(formed)).toEqual([1, 0, 0]);
      await visitor.page.getByRole('button', { name: 'Use none' }).click();
      await expect.poll(() => docs.operation('createItemsNotes').count(), { timeout: patience }).toBe(0);
      await visitor.page.getByLabel('Token', { exact: true }).fill('nonsense');
      await visitor.page.getByRole('button', { name: 'Use the token' }).click();
      await settled('not valid');
    });

    it('can be used by everybody, searched, and read to the last member of a schema', async () => {
      expect(await docs.search('LIST notes')).toContain('operations found');
      await visitor.page.locator('#index a').first().click();
      const opened = docs.operation('readItemsNotes');
      await opened.getByRole('button', { name: 'Send' }).waitFor();
      let place = opened;
      for (const name of ['filter', 'possibility 1', 'body', 'possibility 2']) {
        place = place.locator(`details:has(> summary > code:text-is("${name}"))`).first();
        await place.locator('> summary').click();
      }
      await place.getByText('_contains', { exact: true }).waitFor();
      await docs.send('readItemsNotes');
      expect(await barriersOf(visitor.page)).toEqual([]);
    });

    it('says that nobody is signed in, and asks as the user who is', async () => {
      const session = visitor.page.getByRole('button', { name: 'Use the session of this browser' });
      await session.click();
      await settled('You are not signed in');
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
      await docs.operation('createItemsNotes').waitFor();
      await visitor.page.goto(`${project.url}/docs#usersMe`);
      // The document comes once more, and takes the place of the operations that are there.
      await page.locator('#status').evaluate((element) => element.replaceChildren());
      await session.click();
      await settled('As the user who is signed in');
      await docs.operation('usersMe').waitFor();
      expect(await docs.send('usersMe')).toContain(administrator.email);
    });
  },
);

it('is not there unless it is asked for', { timeout: 4 * patience }, async () => {
  const project = await serveProject({ sql: 'CREATE TABLE notes (id integer PRIMARY KEY)' });
  const statuses = ['/docs', '/docs/docs.js', '/docs/docs-worker.js'].map(
    async (path) => (await project.ask(path)).status,
  );
  expect(await Promise.all(statuses)).toEqual([404, 404, 404]);
  await project.close();
});
