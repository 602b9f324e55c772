/** What a process takes from its start to its end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Of one process; times in milliseconds. */
export interface Usage {
  readonly ms: number;
  /** Of all its threads. */
  readonly processorMs: number;
  /** Resident at most. */
  readonly megabytes: number;
}

/** Gives the variables under which a program of Node tells what it took, runs it, and adds what it told. */
export async function measured<Result>(
  work: (variables: Readonly<Record<string, string>>) => Promise<Result>,
): Promise<{ readonly result: Result; readonly usage: Usage }> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-usage-'));
  const file = join(folder, 'usage.json');
  const loaded = pathToFileURL(join(import.meta.dirname, 'usage.mjs')).href;
  try {
    const start = performance.now();
    const result = await work({ NODE_OPTIONS: `--import=${loaded}`, USAGE_FILE: file });
    const ms = performance.now() - start;
    const told: Omit<Usage, 'ms'> = JSON.parse(await readFile(file, 'utf8'));
    return { result, usage: { ms, ...told } };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a program in a folder; resolves to what it printed. Rejects with what it complained about. */
export async function run(
  program: string,
  args: readonly string[],
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [printed, complained] = ['', ''];
  child.stdout.on('data', (chunk) => {
    printed += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    complained += String(chunk);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(complained.trim());
  return printed;
}
