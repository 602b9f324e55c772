/** The documentation page as somebody uses it. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { patience } from './browser.ts';

/** Milliseconds in which every document has to be there: the promise of docs/openapi.md. */
const mostWait = 3_000;

/** Times that a token is used until the page was quick enough: tests share their machine with others. */
const attempts = 5;

/** What somebody does on the page. */
export interface DocsPage {
  /** An operation in the list of its tag. */
  operation(id: string): Locator;
  /** Opens the page. */
  open(url: string): Promise<void>;
  /** Shows the document of the holder of a token; expects it in the promised time. */
  become(token: string): Promise<void>;
  /** Types into the search and gives what it says. */
  search(words: string): Promise<string>;
  /** Chooses a tag, opens all its operations and gives how many they are. */
  openAll(tag: string): Promise<number>;
  /** Opens an operation and sends it; `fields` are what is typed first, by their labels. */
  send(id: string, fields?: Readonly<Record<string, string>>): Promise<string>;
}

/** Takes hold of a page. */
export function docsPage(page: Page): DocsPage {
  const operation = (id: string): Locator => page.locator(`.operation[id="${id}"]`);
  const tried = (opened: Locator): Locator => opened.getByRole('button', { name: 'Send' });

  async function openOne(opened: Locator): Promise<void> {
    if ((await opened.getAttribute('open')) === null) await opened.locator('> summary').click();
    await tried(opened).waitFor();
    expect(await opened.locator('.problem').count()).toBe(0);
  }

  async function useToken(token: string): Promise<number> {
    await page.locator('#token').fill(token);
    await page.locator('#status').evaluate((element) => element.replaceChildren());
    const started = performance.now();
    await page.getByRole('button', { name: 'Use the token' }).click();
    await page.locator('#status', { hasText: 'With the token' }).waitFor();
    await page.locator('.operation').first().waitFor();
    return performance.now() - started;
  }

  return {
    operation,
    async open(url) {
      await page.goto(`${url}/docs`);
      await page.locator('#found', { hasText: 'operations' }).waitFor();
    },
    async become(token) {
      let fastest = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < attempts && fastest > mostWait; attempt += 1) {
        fastest = Math.min(fastest, await useToken(token));
      }
      expect(fastest).toBeLessThan(mostWait);
    },
    async search(words) {
      await page.getByLabel('Search').fill(words);
      return (await page.locator('#found').textContent()) ?? '';
    },
    async openAll(tag) {
      await page.getByLabel('Search').fill('');
      await page.locator('#index a', { hasText: new RegExp(`^${tag}$`) }).click();
      await page.locator('main h2', { hasText: tag }).waitFor();
      const all = await page.locator('main > .operation').all();
      for (const opened of all) await openOne(opened);
      return all.length;
    },
    async send(id, fields = {}) {
      const opened = operation(id);
      await openOne(opened);
      for (const [label, value] of Object.entries(fields)) {
        await opened.getByLabel(label, { exact: true }).fill(value);
      }
      await opened.locator('.answer').evaluate((element) => element.replaceChildren());
      await tried(opened).click();
      const answer = opened.locator('.answer');
      await expect.poll(() => answer.textContent(), { timeout: patience }).not.toBe('');
      return (await answer.textContent()) ?? '';
    },
  };
}
