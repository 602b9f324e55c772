/**
 * Puts this process, and all that it starts from then on, on one processor as batch work: Linux only.
 *
 * Load, server and database then take turns. A process that is woken does not interrupt another, so that requests which are
 * sent at once arrive at once. Else chance decides how many of them share a statement, and with it what each costs.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** True if it worked. */
export function takeOneCore(): boolean {
  const { pid } = process;
  const commands = [
    ['taskset', '-pc', String(availableParallelism() - 1), String(pid)],
    ['chrt', '--batch', '-p', '0', String(pid)],
  ] as const;
  return commands.every(([program, ...args]) => spawnSync(program, args).status === 0);
}
