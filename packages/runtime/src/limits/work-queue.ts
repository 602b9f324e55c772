/** Work that keeps a processor busy, a little of it at once and a bounded number waiting. */
import { PlatformError } from '../errors.ts';

export interface WorkQueue {
  /** Runs the work as soon as it is its turn. Rejects with SERVICE_UNAVAILABLE at once when too many wait already. */
  acquire<T>(work: () => Promise<T>): Promise<T>;
}

/** How many run at once, and how many may wait for them. */
interface WorkQueueOptions {
  readonly atOnce: number;
  readonly waiting: number;
}

/** Makes a queue of its own: first come, first served. */
export function createWorkQueue({ atOnce, waiting }: WorkQueueOptions): WorkQueue {
  const queue: (() => void)[] = [];
  let running = 0;

  /** Hands the turn over without releasing it, so that a newcomer cannot get in between. */
  function next(): void {
    const first = queue.shift();
    if (first === undefined) running--;
    else first();
  }

  return {
    async acquire(work) {
      if (running >= atOnce && queue.length >= waiting) {
        const cause = new Error(`${waiting} wait for a processor already.`);
        throw new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause });
      }
      if (running >= atOnce) await new Promise<void>((resolve) => queue.push(resolve));
      else running++;
      try {
        return await work();
      } finally {
        next();
      }
    },
  };
}
