/** The project of docs/extensions.md, and every request of the page. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { readExamples } from '../support/examples.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { typeCheck } from '../support/type-check.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/extensions.md', import.meta.url)), 'utf8');

function block(language: string): string {
  return new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? '';
}

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: block('sql'),
    permissions: 'permissions: { public: { orders: { read: { fields: ["*"] }, create: { fields: ["*"] } } } }',
    extensions: { 'orders.ts': block('ts') },
  });
});
afterAll(() => project?.close());

it.each(readExamples(page))('$request', async ({ method, path, body, answer }) => {
  const { json } = await project.ask(path, { method, body });
  expect(json).toEqual(JSON.parse(answer ?? ''));
});

it('writes the journal and prints after the commit', async () => {
  const { rows } = await withClient(project.database.url, (client) => client.query('SELECT line FROM journal'));
  expect(rows).toEqual([{ line: 'order 1' }]);
  await expect.poll(() => project.log()).toContain('{"sold":2}');
});

it('passes the type checker', async () => {
  expect(await typeCheck(project.folder)).toBe('');
});
