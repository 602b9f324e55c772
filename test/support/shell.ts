/** Commands of documentation pages, run in one shell and in the order of the page. Where JSON follows, it is the answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';

interface Step {
  readonly commands: string;
  /** Null where the page shows none. */
  readonly answer: string | null;
}

/** Where a page is run: its folder, the server that stands behind its addresses, and what its shell knows. */
export interface ShellSetting {
  readonly folder: string;
  readonly url: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Commands that come before the page's own. */
  readonly prelude?: string;
}

/** Runs a page, and compares what each of its steps prints with what the page says. */
export async function expectPage(page: string, setting: ShellSetting): Promise<void> {
  const steps = stepsOf(page);
  expect(steps.length).toBeGreaterThan(4);
  const printed = await run(steps, setting);
  for (const [place, { commands, answer }] of steps.entries()) {
    if (answer === null) expect([commands, printed[place]?.trim()]).toEqual([commands, '']);
    else expect([commands, JSON.parse(printed[place] ?? '')]).toEqual([commands, expected(JSON.parse(answer))]);
  }
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
async function run(steps: readonly Step[], { folder, url, variables, prelude = '' }: ShellSetting) {
  const mark = '=== end of a step ===';
  const script = steps.map(({ commands }) => `${commands}\necho; echo '${mark}'`).join('\n');
  const shell = spawn('bash', ['-eu'], {
    cwd: folder,
    env: { ...process.env, ...variables },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  shell.stdin.end(`${prelude}\n${script.replaceAll('http://127.0.0.1:8055', url)}`);
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
