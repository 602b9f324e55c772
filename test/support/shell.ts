/** Commands of documentation pages, run in one shell and in the order of the page. Where JSON follows, it is the answer. */
import { type ChildProcess, spawn } from 'node:child_process';
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
  readonly variables: Variables;
  /** Commands that come before the page's own. */
  readonly prelude?: string;
  /** Starts the shell. Default: as the user of the test, with the test's own variables. */
  readonly start?: (folder: string, command: readonly string[], variables: Variables) => ChildProcess;
}

type Variables = Readonly<Record<string, string>>;

/** Runs a page, and compares what each of its steps prints with what the page says. */
export async function expectPage(page: string, setting: ShellSetting): Promise<void> {
  const steps = stepsOf(page);
  expect(steps.length).toBeGreaterThan(4);
  const printed = await runBlocks(
    steps.map(({ commands }) => commands),
    setting,
  );
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

/** Runs blocks of commands in one shell, and resolves to the text that each prints. */
export async function runBlocks(blocks: readonly string[], setting: ShellSetting): Promise<readonly string[]> {
  const { folder, url, variables, prelude = '', start = startShell } = setting;
  const mark = '=== end of a step ===';
  const script = blocks.map((commands) => `${commands}\necho; echo '${mark}'`).join('\n');
  const text = `${prelude}\n${script.replaceAll('http://127.0.0.1:8055', url)}`;
  const shell = start(folder, ['bash', '-eu', '-c', text], variables);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) shell[name]?.on('data', (chunk) => (output[name] += String(chunk)));
  const [code] = await once(shell, 'close');
  expect(code, `${output.stdout.split(mark).at(-1)}${output.stderr}`).toBe(0);
  return output.stdout.split(mark).slice(0, -1);
}

function startShell(folder: string, [command = '', ...args]: readonly string[], variables: Variables): ChildProcess {
  const env = { ...process.env, ...variables };
  return spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** `…` in an answer stands for any text. */
function expected(value: unknown): unknown {
  if (value === '…') return expect.stringMatching(/./);
  if (Array.isArray(value)) return value.map(expected);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expected(member)]));
}
