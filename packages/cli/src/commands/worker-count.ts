import { CommandError, exitCodes } from '../errors/exit-codes.ts';

/** More would be a mistake: each process has connections and a compiler of its own. */
const maxWorkers = 128;

/** The number of processes that `--workers` names. */
export function workerCount(workers: string): number {
  const count = /^\d{1,3}$/.test(workers) ? Number(workers) : 0;
  if (count >= 1 && count <= maxWorkers) return count;
  throw new CommandError(exitCodes.usage, `--workers takes a number from 1 to ${maxWorkers}.`);
}
