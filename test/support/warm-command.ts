/**
 * Commands for tests of what they find and print, one after the other in one process of a worker, where all modules are loaded
 * and warm: each takes a fifth of the processor's time of a process of its own. Tests of the process use `runPlatform`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundled } from './bundled.ts';
import { type CommandResult, commandVariables, runPlatform } from './platform.ts';
import type { WarmCall } from './warm-command-process.ts';

const script = fileURLToPath(new URL('./warm-command-process.ts', import.meta.url));

interface Warm {
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
  if (needsProcess) return runPlatform(args, environment);
  const result = queue.then(() => ask({ args, variables: commandVariables(environment) }));
  queue = result.catch(() => {});
  return result;
}

async function ask(call: WarmCall): Promise<CommandResult> {
  warm ??= start();
  const { child, ended } = warm;
  const answered = once(child, 'message');
  child.send(call);
  const [result] = await Promise.race([answered, ended]);
  return result;
}

function start(): Warm {
  const child = spawn(process.execPath, [...bundled(), script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(([code]) => {
    warm = null;
    throw new Error(`The process of warm commands ended with ${code}.`);
  });
  ended.catch(() => {});
  return { child, ended };
}
