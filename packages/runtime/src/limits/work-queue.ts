/** Work that keeps a processor busy, a little of it at once and a bounded number waiting. */
import { PlatformError } from '../errors.ts';

export interface WorkQueue {
  /** Runs the work in turn. Rejects with SERVICE_UNAVAILABLE when too many wait, or when the turn comes too late. */
  acquire<T>(work: () => Promise<T>): Promise<T>;
}

/** Numbers of those that run at once and that may wait, and the milliseconds of the wait; without a bound unless one is named. */
interface WorkQueueOptions {
  readonly atOnce: number;
  readonly waiting: number;
  readonly longestWaitMs?: number;
}

/** Makes a queue of its own: first come, first served. */
export function createWorkQueue({ atOnce, waiting, longestWaitMs }: WorkQueueOptions): WorkQueue {
  const queue: (() => void)[] = [];
  let running = 0;

  /** Hands the turn over without releasing it, so that a newcomer cannot get in between. */
  function next(): void {
    const first = queue.shift();
    if (first === undefined) running--;
    else first();
  }

  function turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      queue.push(begin);
      if (longestWaitMs === undefined) return;
      timer = setTimeout(() => {
        queue.splice(queue.indexOf(begin), 1);
        reject(unavailable(new Error(`No processor was free within ${longestWaitMs} ms.`)));
      }, longestWaitMs);
    });
  }

  return {
    async acquire(work) {
      if (running >= atOnce && queue.length >= waiting) {
        throw unavailable(new Error(`${waiting} wait for a processor already.`));
      }
      if (running >= atOnce) await turn();
      else running++;
      try {
        return await work();
      } finally {
        next();
      }
    },
  };
}

/**
 * Makes a way into a queue that clients share alike: each waits there for one turn only, with its other work behind that.
 * So no client takes the places of all others.
 */
export function shareQueue(shared: WorkQueue, waiting: number): (client: string) => WorkQueue {
  const queues = new Map<string, { readonly queue: WorkQueue; users: number }>();
  return (client) => ({
    async acquire(work) {
      const entry = queues.get(client) ?? { queue: createWorkQueue({ atOnce: 1, waiting }), users: 0 };
      queues.set(client, entry);
      entry.users++;
      try {
        return await entry.queue.acquire(() => shared.acquire(work));
      } finally {
        entry.users--;
        if (entry.users === 0) queues.delete(client);
      }
    },
  });
}

function unavailable(cause: Error): PlatformError {
  return new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause });
}
