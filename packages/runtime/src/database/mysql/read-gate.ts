/**
 * How many connections reads and streams may have at once, so that transactions always find one; and how many of these
 * reads of callers without a token may have, so that others do.
 */
import { ConnectionError } from '../errors.ts';

/** What may go on at once. */
export interface ReadGateLimits {
  readonly most: number;
  readonly mostPublic: number;
  /** How long one waits, in milliseconds. */
  readonly timeoutMs: number;
}

interface Waiting {
  readonly enter: () => void;
}

/** Lets reads in as far as there is room. */
export class ReadGate {
  readonly #limits: ReadGateLimits;
  #running = 0;
  #runningPublic = 0;
  readonly #waiting: Waiting[] = [];
  readonly #waitingPublic: Waiting[] = [];

  constructor(limits: ReadGateLimits) {
    this.#limits = limits;
  }

  /** Undefined where there is room; else resolves when there is, and rejects with `ConnectionError` when not in time. */
  enter(isPublic: boolean): Promise<void> | undefined {
    const queue = isPublic ? this.#waitingPublic : this.#waiting;
    if (queue.length === 0 && this.#hasRoom(isPublic)) {
      this.#count(isPublic, 1);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        enter: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiting), 1);
        reject(new ConnectionError('No connection was free in time.'));
      }, this.#limits.timeoutMs);
      queue.push(waiting);
    });
  }

  /** Called once for each that was let in. */
  leave(isPublic: boolean): void {
    this.#count(isPublic, -1);
    this.#serve(this.#waiting, false);
    this.#serve(this.#waitingPublic, true);
  }

  #serve(queue: Waiting[], isPublic: boolean): void {
    while (queue.length > 0 && this.#hasRoom(isPublic)) {
      this.#count(isPublic, 1);
      queue.shift()?.enter();
    }
  }

  #hasRoom(isPublic: boolean): boolean {
    const { most, mostPublic } = this.#limits;
    return this.#running < most && (!isPublic || this.#runningPublic < mostPublic);
  }

  #count(isPublic: boolean, by: 1 | -1): void {
    this.#running += by;
    if (isPublic) this.#runningPublic += by;
  }
}
