/**
 * A process of its own that runs commands one after the other, each as if it were alone: its arguments, variables, exit code and
 * what it prints are its own, it loads files of projects anew, and it is over when nothing is left to do, as a process is.
 * Started by warm-command.ts; not meant to be imported.
 */
import { once } from 'node:events';
import { registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { main } from '../../packages/cli/src/command-line.ts';
import { bundleVariable } from './bundled.ts';
import type { CommandResult } from './platform.ts';

/** One command that the parent asks for. It waits for the result before the next. */
export interface WarmCall {
  readonly args: readonly string[];
  /** All variables of the command. */
  readonly variables: Readonly<Record<string, string>>;
}

const repository = new URL('../../', import.meta.url);
const ours = [new URL('packages/', repository).href, pathToFileURL(process.env[bundleVariable] ?? '').href];
let number = 0;

process.chdir(fileURLToPath(repository));
// The name that the command itself gives to numbers of changes, and leaves out of what it prints.
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const isOurs = ours.some((folder) => resolved.url.startsWith(folder)) || resolved.url.includes('/node_modules/');
    if (isOurs || !resolved.url.startsWith('file:')) return resolved;
    return { ...resolved, url: `${resolved.url}?changed=${number}` };
  },
});

async function run({ args, variables }: WarmCall): Promise<CommandResult> {
  number += 1;
  for (const name of Object.keys(process.env)) if (variables[name] === undefined) delete process.env[name];
  Object.assign(process.env, variables);
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
  process.exitCode = undefined;
  const printed = { stdout: '', stderr: '' };
  const originals = { stdout: process.stdout.write, stderr: process.stderr.write };
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
      printed[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      for (const written of rest) if (typeof written === 'function') process.nextTick(written);
      return true;
    };
  }
  // The channel to the parent would keep the process from ending: without it, the end is where a command's own would be.
  process.channel?.unref();
  const ended = once(process, 'beforeExit');
  try {
    await main(process.argv);
    await ended;
    return { code: Number(process.exitCode ?? 0), ...printed };
  } finally {
    process.channel?.ref();
    process.stdout.write = originals.stdout;
    process.stderr.write = originals.stderr;
    process.exitCode = undefined;
  }
}

process.on('message', async (call: WarmCall) => process.send?.(await run(call)));
process.on('disconnect', () => process.exit(0));
