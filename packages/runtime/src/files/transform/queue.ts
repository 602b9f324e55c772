/** Work of which only so much runs at the same time, and only so much waits. */
import { PlatformError } from '../../errors.ts';

/** Runs work in its turn. Rejects with SERVICE_UNAVAILABLE when too much waits already. */
type Queue = <T>(work: () => Promise<T>) => Promise<T>;

/** Makes a queue of `running` works at once, and of `waiting` more. */
export function createQueue(running: number, waiting: number): Queue {
  const waiters: (() => void)[] = [];
  let free = running;
  return async function run(work) {
    if (free > 0) free--;
    else if (waiters.length >= waiting) throw new PlatformError('SERVICE_UNAVAILABLE');
    else await new Promise<void>((resolve) => waiters.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiters.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
