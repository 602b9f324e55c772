/** The template vite-react as its user has it: made, installed, compiled, served while it is written and built, in a browser. */
import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifestIn } from '../../scripts/dependencies.ts';
import { root } from '../packages/tarballs.ts';
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
import { freePort } from '../support/free-port.ts';
import { createFromTemplate, type InstalledProject, type Service, succeed } from './projects.ts';

/** A copy of the embedded database, from which every way to serve the app begins. */
const firstState = '.first-state';
const adminToken = 'token-of-an-administrator';
const editor = { email: 'eve@example.com', password: 'a password of tests' };

let project: InstalledProject;
beforeAll(async () => {
  project = await createFromTemplate('vite-react');
  for (const [args, input] of [
    [['migrate']],
    [['roles', '--sync']],
    [['users', 'create', editor.email, '--role', 'editor', '--password-stdin'], `${editor.password}\n`],
    [['generate']],
  ] as const) {
    await succeed(project, 'npx', ['platform', ...args], input);
  }
  await cp(join(project.folder, '.platform'), join(project.folder, firstState), { recursive: true });
}, 600_000);
afterAll(() => project?.remove());

it('names the version of the packages beside it', async () => {
  const { version } = manifestIn(join(root, 'packages/cli'));
  const { dependencies = {} } = manifestIn(join(root, 'fixtures/projects/vite-react'));
  const own = Object.entries(dependencies).filter(([name]) => /^@?tablewright\b/.test(name));
  expect(own).toEqual(['@tablewright/client', '@tablewright/runtime', 'tablewright'].map((name) => [name, version]));
});

it('passes its checks, and has nothing that is missing or foreign', async () => {
  await succeed(project, 'npm', ['run', 'check']);
  expect((await project.run('npx', ['tsc', '--skipLibCheck', 'false'])).output).toBe('');
  expect(await succeed(project, 'npm', ['ls', '--all'])).not.toMatch(/UNMET DEPENDENCY|extraneous|invalid/);
}, 120_000);

it.each([
  ['a misspelt field', "'cuisine.name', 'tags.name']", "'cuisine.nme', 'tags.name']", `Did you mean '"cuisine.name"'?`],
  [
    'a field that visitors may not read',
    "['title', 'minutes',",
    "['status', 'minutes',",
    `'"status"' is not assignable`,
  ],
  ['a misspelt filter', 'title: { _icontains', 'titel: { _icontains', "'titel' does not exist in type"],
])(
  'does not compile with %s',
  async (_, before, after, message) => {
    await project.replace('src/api.ts', before, after);
    const { code, output } = await project.run('npx', ['tsc']);
    await project.replace('src/api.ts', after, before);
    expect(output).toContain('src/api.ts(');
    expect(output).toContain(message);
    expect(code).not.toBe(0);
  },
  120_000,
);

/** Commands that serve the API and the app: as they were built, and while they are written. */
const ways = [
  { name: 'as it was built', isBuilt: true, api: ['start'], web: ['run', 'preview'] },
  { name: 'by the development servers', isBuilt: false, api: ['run', 'dev'], web: ['run', 'web'] },
];

const inBrowser = { timeout: 8 * patience };
describe.skipIf(browserVersion === undefined).each(ways)(`in Chromium $name${withoutBrowser}`, inBrowser, (way) => {
  let api: Service;
  let app: Service;
  let browser: Browser;
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    await rm(join(project.folder, '.platform'), { recursive: true });
    await cp(join(project.folder, firstState), join(project.folder, '.platform'), { recursive: true });
    if (way.isBuilt) await succeed(project, 'npm', ['run', 'build']);
    const variables = { PORT: String(await freePort()), ADMIN_TOKEN: adminToken };
    api = await project.serve('npm', way.api, /Listening on (\S+)/, variables);
    const port = String(await freePort());
    const args = [...way.web, '--', '--host', '127.0.0.1', '--port', port];
    app = await project.serve('npm', args, /(http:\/\/127\.0\.0\.1:\d+)/, { API_URL: api.url, NO_COLOR: '1' });
    browser = await startBrowser();
    visitor = await browser.visit(app.url);
    page = visitor.page;
    await page.goto(app.url);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
    await api?.stop();
  });

  const titles = (): Promise<readonly string[]> => page.getByRole('list').getByRole('link').allTextContents();
  const shows = (text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor();
  const openPage = async (name: string): Promise<void> => {
    await page.getByRole('link', { name, exact: true }).click();
  };

  it('lists what visitors may read, by title and cuisine', async () => {
    await shows('5 recipes');
    expect(await titles()).not.toContain('Okonomiyaki');
    expect(await barriersOf(page)).toEqual([]);
    await page.getByLabel('Cuisine').selectOption('Italian');
    await shows('2 recipes');
    expect(await titles()).toEqual(['Cacio e pepe', 'Minestrone']);
    await page.getByLabel('Title').fill('STRONE');
    await shows('1 recipe');
    await openPage('Minestrone');
    await page.getByText('2 sticks celery').waitFor();
    expect(await page.title()).toBe('Minestrone – Recipes');
    expect(await barriersOf(page)).toEqual([]);
    await page.goto(`${app.url}/#/recipes/6`);
    await page.getByText('you may not see or change it').waitFor();
  });

  it('signs in, and says why it does not', async () => {
    await openPage('Sign in');
    await page.getByLabel('Email').fill(editor.email);
    await page.getByLabel('Password').fill('wrong');
    const button = page.getByRole('button', { name: 'Sign in' });
    await button.click();
    await page.getByText('Email or password is wrong.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByLabel('Password').fill(editor.password);
    await button.click();
    await shows('6 recipes');
    await page.reload();
    await shows('6 recipes');
    expect(await titles()).toContain('Okonomiyaki');
  });

  it('saves a recipe with its ingredients and tags, and says what is wrong with it', async () => {
    await openPage('Okonomiyaki');
    await openPage('Edit');
    const save = page.getByRole('button', { name: 'Save' });
    await save.waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByLabel('Title').fill('Minestrone');
    await page.getByLabel('Published').check();
    await page.getByLabel('dinner').check();
    await page.getByLabel('New tags').fill('pancake, street food');
    for (const [index, [amount, name]] of [
      ['200 g', 'cabbage'],
      ['2', 'eggs'],
      ['', 'bonito'],
    ].entries()) {
      await page.getByRole('button', { name: 'Add ingredient' }).click();
      await page.getByLabel(`Amount ${index + 1}`).fill(amount ?? '');
      await page.getByLabel(`Ingredient ${index + 1}`, { exact: true }).fill(name ?? '');
    }
    await save.click();
    await page.getByText('This is taken already.').waitFor();
    expect(await page.getByLabel('Title').getAttribute('aria-invalid')).toBe('true');
    expect(await barriersOf(page)).toEqual([]);
    await page.getByLabel('Title').fill('Okonomiyaki');
    await page.getByRole('button', { name: 'Remove bonito' }).click();
    await save.click();
    await page.getByText('Japanese · 35 minutes · dinner · pancake · street food').waitFor();
    expect(await page.getByRole('listitem').allTextContents()).toEqual(['200 g cabbage', '2 eggs']);

    await openPage('Edit');
    await page.getByRole('button', { name: 'Remove cabbage' }).click();
    await page.getByLabel('street food').uncheck();
    await save.click();
    await page.getByText('Japanese · 35 minutes · dinner · pancake', { exact: true }).waitFor();
    const fields = 'fields=title,tags.name,ingredients.name,ingredients.position';
    const answer = await fetch(`${api.url}/items/recipes?filter={"title":"Okonomiyaki"}&${fields}`);
    expect(await answer.json()).toEqual({
      data: [
        {
          title: 'Okonomiyaki',
          tags: [{ name: 'dinner' }, { name: 'pancake' }],
          ingredients: [{ name: 'eggs', position: 0 }],
        },
      ],
    });
  });

  it('creates a recipe, and signs out', async () => {
    await openPage('New recipe');
    await page.getByLabel('Title').fill('Toast');
    await page.getByLabel('Minutes').fill('5');
    await page.getByLabel('Ingredient 1', { exact: true }).fill('bread');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Toast' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await shows('6 recipes');
    expect(await titles()).toContain('Okonomiyaki');
    expect(await titles()).not.toContain('Toast');
    expect(await page.context().cookies()).toEqual([]);
  });

  it.skipIf(way.isBuilt)('shows a new column as soon as it is there, in types and on the page', async () => {
    const types = (role: string) =>
      readFile(join(project.folder, `generated/client/${role}/collections/recipes.d.ts`), 'utf8');
    await openPage('Minestrone');
    await page.getByText('Italian · 55 minutes').waitFor();
    await page.evaluate('globalThis.isSamePage = true');
    await project.replace('src/api.ts', "['title', 'minutes',", "['title', 'servings', 'minutes',");
    expect((await project.run('npx', ['tsc'])).output).toContain(`"servings"`);
    const answer = await fetch(`${api.url}/fields/recipes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ field: 'servings', type: 'integer' }),
    });
    expect(answer.status, await answer.text()).toBe(200);
    await expect.poll(() => types('editor')).toContain('servings');
    expect(await types('public')).not.toContain('servings');
    await project.replace('permissions.yaml', '[id, title, minutes,', '[id, title, servings, minutes,');
    await expect.poll(() => types('public')).toContain('servings');
    await succeed(project, 'npx', ['tsc']);
    await project.replace('src/RecipePage.tsx', '...tags.map', "recipe.servings ?? 'for all', ...tags.map");
    await page.getByText('Italian · 55 minutes · for all').waitFor();
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
  });

  it('asks no other host, and reports nothing', async () => {
    const own = visitor.sent.filter((line) => line.startsWith(`${app.url}/api/`));
    expect(own.length).toBeGreaterThan(20);
    expectCalm(visitor);
    await visitor.leave();
  });

  it('fits a narrow window, and says when the server cannot be reached', async () => {
    const narrow = await browser.visit(app.url, { width: 390, colorScheme: 'dark' });
    await narrow.page.goto(app.url);
    await narrow.page.getByText('6 recipes').waitFor();
    expect(await narrow.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await barriersOf(narrow.page)).toEqual([]);
    await narrow.page.context().setOffline(true);
    await narrow.page.getByLabel('Title').fill('x');
    await narrow.page.getByText('The server cannot be reached.').waitFor();
    expect(narrow.strangers).toEqual([]);
    await narrow.leave();
  });
});
