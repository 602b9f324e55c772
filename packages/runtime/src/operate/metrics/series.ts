/** Bounds the series that name a collection: beyond the bound they share the name `_other`. */

/** Name of the collections that have no series of their own. */
const otherCollection = '_other';

/** Counts the series that name a collection. */
export class CollectionSeries {
  readonly #max: number;
  readonly #onFull: () => void;
  #lines = 0;
  #isFull = false;

  /** `onFull` is called once, when the first collection gets no series of its own. */
  constructor(max: number, onFull: () => void) {
    this.#max = max;
    this.#onFull = onFull;
  }

  /** Name under which a child of so many lines is bound. */
  nameFor(collection: string, lines: number): string {
    if (this.#lines + lines <= this.#max) {
      this.#lines += lines;
      return collection;
    }
    if (!this.#isFull) this.#onFull();
    this.#isFull = true;
    return otherCollection;
  }
}
