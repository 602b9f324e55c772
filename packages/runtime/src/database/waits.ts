/** Waits for results and for limited resources, which are counted for monitoring of the server. */
import { ClientGoneError } from '../errors.ts';
import { ConnectionError } from './errors.ts';

/** Reported figures of the waiting requests. */
export interface Waited {
  readonly waiting: number;
  /** The longest wait of the last minute or two, in milliseconds, of those who still wait as well. */
  readonly longestMs: number;
}

/** Least time that a wait is remembered, in milliseconds. */
const rememberedMs = 60_000;

/** Counts who waits, and remembers the longest wait. */
export class Waits {
  readonly #since = new Set<{ readonly from: number }>();
  #longest = 0;
  #former = 0;
  #turnedAt = performance.now();

  /** Records a wait, until the function that it returns is called. */
  begin(): () => void {
    const wait = { from: performance.now() };
    this.#since.add(wait);
    return () => {
      if (!this.#since.delete(wait)) return;
      this.#turn();
      this.#longest = Math.max(this.#longest, performance.now() - wait.from);
    };
  }

  get waited(): Waited {
    this.#turn();
    const [first] = this.#since;
    const still = first === undefined ? 0 : performance.now() - first.from;
    return { waiting: this.#since.size, longestMs: Math.round(Math.max(this.#longest, this.#former, still)) };
  }

  #turn(): void {
    const age = performance.now() - this.#turnedAt;
    if (age < rememberedMs) return;
    this.#former = age < 2 * rememberedMs ? this.#longest : 0;
    this.#longest = 0;
    this.#turnedAt = performance.now();
  }
}

/** Milliseconds of a timer at most: one for longer fires at once. */
export const longestTimer = 2 ** 31 - 1;

/** Waits for a result, so many milliseconds at most; then gives what `late` does. The work goes on by itself. */
export function inTime<T, Late = never>(
  result: PromiseLike<T>,
  timeoutMs: number,
  late: () => Late | PromiseLike<Late>,
): Promise<T | Late> {
  return new Promise((resolve, reject) => {
    const timer = Number.isFinite(timeoutMs)
      ? setTimeout(() => resolve(late()), Math.min(timeoutMs, longestTimer))
      : undefined;
    result.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** A client that may leave while something waits for it. */
interface Leaving {
  readonly isGone: boolean;
}

export function noneFree(): ConnectionError {
  return new ConnectionError('No connection was free in time.');
}

/** Error of what waits for a client that has left; undefined while it is there. */
export function leftError(client: Leaving | undefined): ClientGoneError | undefined {
  return client?.isGone === true ? new ClientGoneError() : undefined;
}

/** Interval at which waiting reads are looked at, in milliseconds. */
const lookMs = 10;

interface ReadQueueLimits {
  readonly maxCount: number;
  readonly maxPublic: number;
  /** Time that one waits, in milliseconds. */
  readonly timeoutMs: number;
}

export interface Admitted {
  readonly isPublic: boolean;
}

interface WaitingRead {
  readonly resolve: (admitted: Admitted) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: number;
  readonly client: Leaving | undefined;
}

/** Lets reads and streams in so far that transactions find a connection, and readers without a token less far. */
export class ReadQueue {
  readonly #limits: ReadQueueLimits;
  readonly #running = new Set<Admitted>();
  readonly #waiting: WaitingRead[] = [];
  readonly #waitingPublic: WaitingRead[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: ReadQueueLimits) {
    this.#limits = limits;
  }

  /**
   * At once where there is room, else in turn; it waits `moreMs` longer. Rejects with `ConnectionError` when late, and
   * with `ClientGoneError` when its client has left.
   */
  enter(isPublic: boolean, moreMs = 0, client?: WaitingRead['client']): Promise<Admitted> | Admitted {
    const queue = this.#queueOf(isPublic);
    if (queue.length === 0 && this.#hasRoom(isPublic)) return this.#admit(isPublic);
    const deadline = performance.now() + this.#limits.timeoutMs + moreMs;
    const { promise, resolve, reject } = Promise.withResolvers<Admitted>();
    queue.push({ resolve, reject, deadline, client });
    this.#timer ??= setInterval(() => this.#look(), lookMs);
    return promise;
  }

  /** Called once for each that was let in. */
  leave(admitted: Admitted): void {
    this.#running.delete(admitted);
    for (const isPublic of [false, true]) {
      const queue = this.#queueOf(isPublic);
      for (let [next] = queue; next !== undefined && this.#hasRoom(isPublic); [next] = queue) {
        queue.shift();
        const failure = leftError(next.client);
        if (failure === undefined) next.resolve(this.#admit(isPublic));
        else next.reject(failure);
      }
    }
  }

  #look(): void {
    const now = performance.now();
    for (const queue of [this.#waiting, this.#waitingPublic]) {
      for (const waiting of [...queue]) {
        const isLate = waiting.deadline < now;
        const failure = leftError(waiting.client) ?? (isLate ? noneFree() : undefined);
        if (failure === undefined) continue;
        queue.splice(queue.indexOf(waiting), 1);
        waiting.reject(failure);
      }
    }
    if (this.#waiting.length + this.#waitingPublic.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #queueOf(isPublic: boolean): WaitingRead[] {
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
