/** Waits for results and for limited resources, which are counted for monitoring of the server. */

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
