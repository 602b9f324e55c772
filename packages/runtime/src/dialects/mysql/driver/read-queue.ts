/**
 * How many connections reads and streams may have at once, so that transactions always find one. Reads of callers
 * without a token have a smaller number, so that others find one as well.
 */
import { ConnectionError } from '../../../database/errors.ts';

/** Limits of concurrent reads. */
interface ReadQueueLimits {
  readonly maxCount: number;
  readonly maxPublic: number;
  /** How long one waits, in milliseconds. */
  readonly timeoutMs: number;
}

/** A read that was let in. */
export interface Admitted {
  readonly isPublic: boolean;
}

/** Lets reads in as far as there is room. */
export class ReadQueue {
  readonly #limits: ReadQueueLimits;
  readonly #running = new Set<Admitted>();
  readonly #waiting: ((admitted: Admitted) => void)[] = [];
  readonly #waitingPublic: ((admitted: Admitted) => void)[] = [];

  constructor(limits: ReadQueueLimits) {
    this.#limits = limits;
  }

  /** At once where there is room; else resolves when there is, and rejects with `ConnectionError` when not in time. */
  enter(isPublic: boolean): Promise<Admitted> | Admitted {
    const queue = this.#queueOf(isPublic);
    if (queue.length === 0 && this.#hasRoom(isPublic)) return this.#admit(isPublic);
    return new Promise((resolve, reject) => {
      const enter = (admitted: Admitted): void => {
        clearTimeout(timer);
        resolve(admitted);
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(enter), 1);
        reject(new ConnectionError('No connection was free in time.'));
      }, this.#limits.timeoutMs);
      queue.push(enter);
    });
  }

  /** Called once for each that was let in. */
  leave(admitted: Admitted): void {
    this.#running.delete(admitted);
    for (const isPublic of [false, true]) {
      const queue = this.#queueOf(isPublic);
      while (queue.length > 0 && this.#hasRoom(isPublic)) queue.shift()?.(this.#admit(isPublic));
    }
  }

  #queueOf(isPublic: boolean): ((admitted: Admitted) => void)[] {
    return isPublic ? this.#waitingPublic : this.#waiting;
  }

  #admit(isPublic: boolean): Admitted {
    const admitted = { isPublic };
    this.#running.add(admitted);
    return admitted;
  }

  #hasRoom(isPublic: boolean): boolean {
    const { maxCount: maxReads, maxPublic } = this.#limits;
    if (this.#running.size >= maxReads) return false;
    return !isPublic || [...this.#running].filter((admitted) => admitted.isPublic).length < maxPublic;
  }
}
