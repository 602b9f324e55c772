import type { Read } from './read.ts';

/** Waiting reads: those of callers without a token after all others, those that may be slow after these. */
export class ReadQueues {
  readonly #usual: Read[] = [];
  readonly #public: Read[] = [];
  readonly #apart: Read[] = [];

  /** In the order in which they are served. */
  readonly all: readonly Read[][] = [this.#usual, this.#public, this.#apart];

  /** The queue that a read waits in. */
  of({ request }: Read): Read[] {
    if (request.apart === true) return this.#apart;
    return request.isPublic === true ? this.#public : this.#usual;
  }

  get length(): number {
    return this.#usual.length + this.#public.length + this.#apart.length;
  }
}
