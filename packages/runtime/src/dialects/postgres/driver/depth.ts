/**
 * How many requests may be queued on one shared connection.
 *
 * Pipelining is for a database that answers fast. When an answer takes so long that queued requests would suffer, the
 * depth falls to one request per connection, as in an ordinary pool. It doubles again while nothing stalls.
 */
export class PipelineDepth {
  readonly #maxCount: number;
  #depth: number;
  #raisedAt = 0;

  /** Starts at `most`. */
  constructor(maximum = 256) {
    this.#maxCount = maximum;
    this.#depth = maximum;
  }

  /** Requests that one connection may have in flight. */
  get value(): number {
    return this.#depth;
  }

  /** Notes an answer that keeps others waiting. */
  stalled(now: number): void {
    this.#depth = 1;
    this.#raisedAt = now;
  }

  /** Lets the depth recover: it doubles every quarter of a second. */
  recover(now: number): void {
    if (this.#depth === this.#maxCount || now - this.#raisedAt < 250) return;
    this.#depth = Math.min(this.#depth * 2, this.#maxCount);
    this.#raisedAt = now;
  }
}
