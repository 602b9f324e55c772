/** The program of docs/clients.md: it passes the type checker, and prints what the page says. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts } from '../support/accounts.ts';
import { administrator } from '../support/platform.ts';
import { typeCheck } from '../support/type-check.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/clients.md', import.meta.url)), 'utf8');
const blocks = (language: string): string =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text).join('\n');
const program = blocks('ts');

/** Prints values as JSON, so that they can be compared. */
const prelude = `console.log = (value) => process.stdout.write(JSON.stringify(value) + '\\n');`;

let project: AccountsProject;
let file: string;
beforeAll(async () => {
  project = await serveAccounts({ sql: blocks('sql'), permissions: 'roles: { editor: {} }' });
  await project.addRole('editor');
  await mkdir(join(project.folder, 'extensions'));
  file = join(project.folder, 'extensions', 'program.ts');
  await writeFile(file, program.replaceAll('http://127.0.0.1:8055', project.server.url));
});
afterAll(() => project?.close());

it('prints what the page says', async () => {
  const expected = [...program.matchAll(/\/\/ (.*)$/gm)].map(([, text = '']) => text);
  expect(expected.length).toBe(program.split('console.log(').length - 1);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(prelude)}`, file],
    { env: { ...process.env, ADMIN_PASSWORD: administrator.password } },
  );
  expect(stdout.trim().split('\n')).toEqual(expected);
});

it('passes the type checker', { timeout: 60_000 }, async () => {
  expect(await typeCheck(project.folder)).toBe('');
});
