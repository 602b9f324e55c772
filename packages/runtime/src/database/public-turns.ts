/**
 * Turns of callers without a token at a database that does one thing at a time. What they ask for may take long there, and
 * nothing else is done meanwhile, so few of their statements wait in line; behind a slow one they pause, and others do not.
 */
import { ConnectionError } from './errors.ts';
import { Waits } from './waits.ts';

/** Statements in line at once, as long as none is slow. */
const mostInLine = 4;
/** A statement that takes longer is slow, in milliseconds. */
const slowMs = 50;
/** The pause behind a slow statement: so many times as long as it took, and at most so many milliseconds. */
const pauseFactor = 3;
const mostPauseMs = 5_000;
/** How long after a slow statement they stand in line one at a time. */
const suspiciousMs = 10_000;

/** Lets statements of callers without a token in by turns. */
export class PublicTurns {
  readonly waits = new Waits();
  readonly #timeoutMs: number;
  readonly #queue: (() => void)[] = [];
  #inLine = 0;
  #pausedUntil = 0;
  #suspiciousUntil = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `timeoutMs` is how long a statement waits for its turn before it is refused. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Runs a statement in its turn. Rejects with `ConnectionError` when that does not come in time. */
  async run<T>(statement: () => Promise<T>): Promise<T> {
    if (this.#queue.length > 0 || !this.#hasRoom()) await this.#wait();
    else this.#inLine++;
    const start = performance.now();
    // Those in front took their time as well.
    const alone = this.#inLine === 1;
    try {
      return await statement();
    } finally {
      this.#inLine--;
      this.#ended(performance.now() - start, alone);
      this.#next();
    }
  }

  #ended(ms: number, alone: boolean): void {
    if (ms < slowMs) return;
    const now = performance.now();
    this.#suspiciousUntil = now + suspiciousMs;
    if (alone) this.#pausedUntil = now + Math.min(ms * pauseFactor, mostPauseMs);
  }

  #hasRoom(): boolean {
    const now = performance.now();
    return now >= this.#pausedUntil && this.#inLine < (now < this.#suspiciousUntil ? 1 : mostInLine);
  }

  async #wait(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.push(resolve);
    const ended = this.waits.begin();
    const timer = setTimeout(() => {
      this.#queue.splice(this.#queue.indexOf(resolve), 1);
      reject(new ConnectionError('The database was busy for too long.'));
    }, this.#timeoutMs);
    this.#next();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      ended();
    }
  }

  #next(): void {
    while (this.#queue.length > 0 && this.#hasRoom()) {
      this.#inLine++;
      this.#queue.shift()?.();
    }
    const pause = this.#pausedUntil - performance.now();
    if (this.#queue.length === 0 || pause <= 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#next(), pause).unref();
  }
}
