/** When to repeat a failed attempt: doubling waits with jitter, so that many processes do not come back at once. */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #failures = 0;
  #until = 0;

  /** Waits at most `firstMs` after the first failure, twice as long after each further one, up to `maxMs`. */
  constructor(firstMs = 250, maxMs = 32_000) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
  }

  /** True after a failure until the next success. */
  get failing(): boolean {
    return this.#failures > 0;
  }

  /** Milliseconds from `now` until the next try is due; 0 when it is. */
  wait(now: number): number {
    return Math.max(this.#until - now, 0);
  }

  /** Notes a failure; `random` in [0, 1) spreads the wait over its upper half. */
  fail(now: number, random: number): void {
    const limit = Math.min(this.#firstMs * 2 ** this.#failures, this.#maxMs);
    this.#failures = Math.min(this.#failures + 1, 30);
    this.#until = now + limit * (0.5 + random / 2);
  }

  /** Notes a success. */
  succeed(): void {
    this.#failures = 0;
    this.#until = 0;
  }
}
