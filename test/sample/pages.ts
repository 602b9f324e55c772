/** The pages of the sample in a browser: from the first one to the documentation, GraphiQL and signing in. */
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
import { docsPage } from '../support/docs-page.ts';
import type { Sample } from '../support/sample.ts';

/** Declares the tests. */
export function visitPages(sampleOf: () => Sample): void {
  describe.skipIf(browserVersion === undefined)(
    `pages of the sample${withoutBrowser}`,
    { timeout: 4 * patience },
    () => {
      let sample: Sample;
      let browser: Browser;
      let visitor: Visitor;
      beforeAll(async () => {
        sample = sampleOf();
        browser = await startBrowser();
      });
      afterAll(() => browser?.close());
      beforeEach(async () => {
        visitor = await browser.visit(sample.url);
        await visitor.page.goto(sample.url);
      });
      afterEach(async () => {
        await visitor.leave();
        expectCalm(visitor);
      });

      const follow = (name: string) => visitor.page.getByRole('link', { name }).click();

      it('are named by the command, and the first one leads to all of them', async () => {
        const line = `Open in a browser: ${['/', '/docs', '/graphql', '/admin/login'].map((path) => sample.url + path).join(', ')}`;
        expect(sample.log()).toContain(line);
        for (const link of await visitor.page.getByRole('link').all()) {
          const address = new URL((await link.getAttribute('href')) ?? '', sample.url);
          expect([
            address.pathname,
            (await sample.ask(address.pathname, { headers: { accept: 'text/html' } })).status,
          ]).toEqual([address.pathname, 200]);
        }
      });

      it('sign the administrator in, as whom the documentation then asks', async () => {
        await follow('Sign in');
        await visitor.page.getByLabel('E-mail address').fill(sample.administrator.email);
        await visitor.page.getByLabel('Password', { exact: true }).fill(sample.administrator.password);
        await visitor.page.getByRole('button', { name: 'Sign in', exact: true }).click();
        await visitor.page.waitForURL(`${sample.url}/admin/two-factor`);
        const docs = docsPage(visitor.page);
        await docs.open(sample.url);
        await visitor.page.getByRole('button', { name: 'Use the session of this browser' }).click();
        await visitor.page.locator('#status', { hasText: 'As the user who is signed in' }).waitFor();
        await visitor.page.goto(`${sample.url}/docs#tag/users`);
        expect(await docs.openAll('items/orders')).toBe(8);
        expect(await docs.send('readItemsOrders', { 'limit (query)': '1' })).toMatch(/^200/);
      });

      it('show the document of administrators in three seconds, and send its requests', async () => {
        await follow('API documentation');
        await visitor.page.locator('#found', { hasText: 'operations' }).waitFor();
        const docs = docsPage(visitor.page);
        await docs.become(sample.adminToken);
        expect(await docs.search('search articles')).toContain('operations found');
        expect(await docs.openAll('items/articles')).toBe(8);
        const answer = await docs.send('readItemsArticles', { 'fields (query)': 'title', 'limit (query)': '1' });
        expect(answer).toMatch(/^200/);
        expect(answer).toContain('"title"');
      });

      it('write and run GraphQL', async () => {
        const query = encodeURIComponent('{ tags(limit: 1) { name } }');
        await visitor.page.goto(`${sample.url}/graphql?query=${query}`);
        await visitor.page.getByRole('button', { name: 'Execute query' }).click();
        await expect
          .poll(() => visitor.page.locator('.result-window').textContent(), { timeout: patience })
          .toContain('"name"');
      });
    },
  );
}
