/** Bytes a batch should have: enough to be worth a round trip, little enough to keep. */
const usualBytes = 131_072;
/** Bytes a batch has at most, as long as no row is longer than those before. */
const mostBytes = 1_048_576;
/** Rows of the first batch, whose length is still unknown. */
const firstRows = 8;
/** A batch has at most so many times the rows of the one before. */
const growth = 8;
const mostRows = 4_096;

/** Sizes the batches of a stream by the bytes of the rows so far: databases are asked for rows. */
export class BatchSize {
  #asked = firstRows;
  #rows = 0;
  #bytes = 0;
  #longest = 0;

  /** Rows to ask for. */
  get asked(): number {
    return this.#asked;
  }

  /** Notes a row. */
  row(bytes: number): void {
    this.#rows++;
    this.#bytes += bytes;
    if (bytes > this.#longest) this.#longest = bytes;
  }

  /** Ends a batch, and gives the rows to ask for next. */
  next(): number {
    const usual = (usualBytes * this.#rows) / Math.max(this.#bytes, 1);
    const limit = mostBytes / Math.max(this.#longest, 1);
    this.#asked = Math.max(1, Math.round(Math.min(usual, limit, this.#rows * growth, mostRows)));
    this.#rows = 0;
    this.#bytes = 0;
    return this.#asked;
  }
}
