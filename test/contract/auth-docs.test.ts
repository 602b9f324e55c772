/** Every command of docs/auth.md, in one shell and in the order of the page. Where JSON follows, it is the answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts } from '../support/accounts.ts';
import { administrator } from '../support/platform.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/auth.md', import.meta.url)), 'utf8');

let project: AccountsProject;
beforeAll(async () => {
  project = await serveAccounts({ sql: 'CREATE TABLE docs (id integer PRIMARY KEY)', permissions: 'permissions: {}' });
  await project.addUser(null, { token: 'the token of a program' });
});
afterAll(() => project?.close());

interface Step {
  readonly commands: string;
  /** Null where the page shows none. */
  readonly answer: string | null;
}

function stepsOf(text: string): readonly Step[] {
  const blocks = [...text.matchAll(/^```(sh|json)\n([\s\S]*?)^```$/gm)].map(([, language, block = '']) => ({
    language,
    block,
  }));
  return blocks.flatMap(({ language, block }, place) => {
    const next = blocks[place + 1];
    return language === 'sh' ? [{ commands: block, answer: next?.language === 'json' ? next.block : null }] : [];
  });
}

/** What a shell prints for each of the steps. */
async function run(steps: readonly Step[]): Promise<readonly string[]> {
  const mark = '=== end of a step ===';
  const script = steps.map(({ commands }) => `${commands}\necho; echo '${mark}'`).join('\n');
  const shell = spawn('bash', ['-eu'], {
    cwd: project.folder,
    env: { ...process.env, ADMIN_PASSWORD: administrator.password, STATIC_TOKEN: 'the%20token%20of+a%20program' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  shell.stdin.end(script.replaceAll('http://127.0.0.1:8055', project.server.url));
  let printed = '';
  shell.stdout.on('data', (chunk) => {
    printed += String(chunk);
  });
  const [code] = await once(shell, 'close');
  expect(code).toBe(0);
  return printed.split(mark).slice(0, -1);
}

/** `…` in an answer stands for any text. */
function expected(value: unknown): unknown {
  if (value === '…') return expect.stringMatching(/./);
  if (Array.isArray(value)) return value.map(expected);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expected(member)]));
}

it('every command answers what the page says', async () => {
  const steps = stepsOf(page);
  expect(steps.length).toBeGreaterThan(7);
  const printed = await run(steps);
  for (const [place, { commands, answer }] of steps.entries()) {
    if (answer === null) expect([commands, printed[place]?.trim()]).toEqual([commands, '']);
    else expect([commands, JSON.parse(printed[place] ?? '')]).toEqual([commands, expected(JSON.parse(answer))]);
  }
});
