/** Turns of work that takes what all share, such as a processor: a little of it at once, and a bounded number waiting. */

import { PlatformError } from '../errors.ts';
import { findOrCreate } from '../language/values/once.ts';

/** Numbers of those that run at once and that may wait, and the milliseconds of the wait; without a bound unless one is named. */
interface WorkQueueOptions {
  readonly atOnce: number;
  readonly waiting: number;
  /** Default: as many as may wait, as long as no other client needs the room. */
  readonly waitingOfClient?: number;
  readonly longestWaitMs?: number;
}

/** Work that waits for its turn. */
interface WaitingWork {
  begin(): void;
  refuse(reason: string): void;
}

/** A queue in which the first of each client has its turn, so that no client takes the places of all others. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  /** Those with waiting work, in the order of their turns. */
  readonly #queues = new Map<string, WaitingWork[]>();
  #waiting = 0;
  #running = 0;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /**
   * Runs the work in turn; clients take turns with each other. Rejects with SERVICE_UNAVAILABLE when the turn comes too late.
   * So it does when too many wait, where the client that has most of them loses its newest.
   */
  async acquire<T>(work: () => Promise<T>, client = ''): Promise<T> {
    if (this.#running < this.#options.atOnce) this.#running++;
    else await this.#turn(client);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(client: string): Promise<void> {
    this.#makeRoom(client);
    const { longestWaitMs } = this.#options;
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const entry: WaitingWork = {
        begin() {
          clearTimeout(timer);
          resolve();
        },
        refuse(reason) {
          clearTimeout(timer);
          reject(unavailable(reason));
        },
      };
      const queue = findOrCreate(this.#queues, client, () => []);
      queue.push(entry);
      this.#waiting++;
      if (longestWaitMs === undefined) return;
      const giveUp = (): void =>
        this.#remove(client, queue.indexOf(entry))?.refuse(`No turn came within ${longestWaitMs} ms.`);
      timer = setTimeout(giveUp, longestWaitMs);
    });
  }

  #makeRoom(client: string): void {
    const { waiting, waitingOfClient = waiting } = this.#options;
    const length = this.#lengthOf(client);
    if (length >= waitingOfClient) throw unavailable(tooMany);
    if (this.#waiting < waiting) return;
    const [largest = ''] = [...this.#queues.keys()].sort((a, b) => this.#lengthOf(b) - this.#lengthOf(a));
    if (this.#lengthOf(largest) <= length + 1) throw unavailable(tooMany);
    this.#remove(largest, -1)?.refuse(tooMany);
  }

  #lengthOf(client: string): number {
    return this.#queues.get(client)?.length ?? 0;
  }

  #remove(client: string, position: number): WaitingWork | undefined {
    const queue = this.#queues.get(client) ?? [];
    const [removed] = queue.splice(position, 1);
    if (removed !== undefined) this.#waiting--;
    if (queue.length === 0) this.#queues.delete(client);
    return removed;
  }

  /** Hands the turn over without releasing it, so that a newcomer cannot get in between. */
  #next(): void {
    const [entry] = this.#queues;
    if (entry === undefined) {
      this.#running--;
      return;
    }
    const [client, queue] = entry;
    const first = this.#remove(client, 0);
    if (this.#queues.delete(client)) this.#queues.set(client, queue);
    first?.begin();
  }
}

/** Makes queues by names; each is there as long as it is used. */
export function createWorkQueues(options: WorkQueueOptions): (name: string) => Pick<WorkQueue, 'acquire'> {
  const queues = new Map<string, { readonly queue: WorkQueue; users: number }>();
  return (name) => ({
    async acquire(work, client) {
      const entry = findOrCreate(queues, name, () => ({ queue: new WorkQueue(options), users: 0 }));
      entry.users++;
      try {
        return await entry.queue.acquire(work, client);
      } finally {
        entry.users--;
        if (entry.users === 0) queues.delete(name);
      }
    },
  });
}

const tooMany = 'Too many wait for their turn already.';

function unavailable(reason: string): PlatformError {
  return new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: new Error(reason) });
}
