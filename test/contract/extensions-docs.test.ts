/** The project of docs/extensions.md, and every request of the page. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { readExamples } from '../support/examples.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { typeCheck } from '../support/type-check.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/extensions.md', import.meta.url)), 'utf8');

function blocks(language: string): readonly string[] {
  const found = page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return [...found].map(([, text = '']) => text);
}

let project: ServedProject;
beforeAll(async () => {
  const [hooks = '', routes = ''] = blocks('ts');
  project = await serveProject({
    sql: blocks('sql').join(''),
    permissions: 'permissions: { public: { orders: { read: { fields: ["*"] }, create: { fields: ["*"] } } } }',
    extensions: { 'orders.ts': hooks, 'reports.ts': routes },
  });
});
afterAll(() => project?.close());

it.each(readExamples(page))('$request', async ({ method, path, body, answer }) => {
  const { json } = await project.ask(path, { method, ...(body !== '' && { body }) });
  expect(json).toEqual(JSON.parse(answer ?? ''));
});

it('writes the journal and prints after the commit', async () => {
  const { rows } = await withClient(project.database.url, (client) => client.query('SELECT line FROM journal'));
  expect(rows.map(({ line }) => line)).toEqual(['order 1', 'order 2', 'order 3']);
  await expect.poll(() => project.log()).toContain('{"sold":2}');
});

it('leaves it to the rules to refuse an item without what is required', async () => {
  const { status, json } = await project.ask('/items/orders', { method: 'POST', body: { amount: 2 } });
  expect([status, json.errors[0].message]).toEqual([400, '"label" is required.']);
});

it('passes the type checker', async () => {
  expect(await typeCheck(project.folder)).toBe('');
}, 60_000);
