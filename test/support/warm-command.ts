/**
 * Commands for tests of what they find, write and print: one after the other in one process for each test file, where all
 * modules are loaded and warm, so that all but the first take a fraction of the processor's time of a process of their own.
 * Tests of the process, of what it reads, and of what it does beside others use `runPlatform`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { bundledFor } from './bundled.ts';
import { type CommandResult, commandVariables, runPlatform } from './platform.ts';
import type { WarmCall } from './warm-command-process.ts';

const script = fileURLToPath(new URL('./warm-command-process.ts', import.meta.url));

interface Warm {
  /** The test file that it was started for. */
  readonly file: string | undefined;
  readonly child: ChildProcess;
  /** Rejects when the process ends. */
  readonly ended: Promise<never>;
}

let warm: Warm | null = null;
let queue: Promise<unknown> = Promise.resolve();

/** The same as `runPlatform`, which it calls for servers, which end their process, and where variables are for Node itself. */
export function runWarm(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<CommandResult> {
  const needsProcess = args[0] === 'start' || args[0] === 'dev' || environment.NODE_OPTIONS !== undefined;
  return needsProcess ? runPlatform(args, environment) : runRefused(args, environment);
}

/** The same for a start that is refused, after which a process ends as after any other command. */
export function runRefused(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<CommandResult> {
  const { testPath } = expect.getState();
  const result = queue.then(() => ask(testPath, { args, variables: commandVariables(environment) }));
  queue = result.catch(() => {});
  return result;
}

async function ask(file: string | undefined, call: WarmCall): Promise<CommandResult> {
  if (warm?.file !== file) end();
  warm ??= start(file);
  const { child, ended } = warm;
  const answered = once(child, 'message');
  child.send(call);
  const [result] = await Promise.race([answered, ended]);
  return result;
}

/** Ends the process of the file before: what commands of one file leave in memory must not matter in another. */
function end(): void {
  warm?.child.disconnect();
  warm = null;
}

function start(file: string | undefined): Warm {
  const child = spawn(process.execPath, [...bundledFor(undefined), script], {
    env: commandVariables({}),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    if (warm?.child === child) warm = null;
    throw new Error(`The process of warm commands ended with ${code}.`);
  });
  ended.catch(() => {});
  return { file, child, ended };
}
