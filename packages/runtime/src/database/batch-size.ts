/** Bytes a batch should have: enough to be worth a round trip, little enough to keep. */
const usualBytes = 131_072;
/** Bytes a batch has at most, as long as no row is longer than those before. */
const maxBytes = 1_048_576;
/** Rows of the first batch, where the length of rows is still unknown. */
const firstRows = 8;
/** The same at most, where rows were short in earlier runs: they may be longer this time. */
const maxFirstRows = 32;
/** A batch has at most so many times the rows of the one before. */
const growth = 8;
const maxRows = 4_096;

/** Statements whose rows are remembered; those that came first are forgotten first. */
const maxRemembered = 1_000;

/** Remembers how long the rows of statements are, so that short ones need no second batch, or none at all. */
export class RowLengths {
  readonly #longest = new Map<string, number>();

  /** Rows of the first batch of a statement, by its name. */
  firstRows(name: string): number {
    const longest = this.#longest.get(name);
    if (longest === undefined) return firstRows;
    const usual = Math.max(firstRows, Math.floor(usualBytes / Math.max(longest, 1)));
    return Math.max(1, Math.min(usual, Math.floor(maxBytes / Math.max(longest, 1)), maxFirstRows));
  }

  /** True if all rows of a statement, by its name, are likely to fit into one batch. */
  fit(name: string, rows: number): boolean {
    const longest = this.#longest.get(name);
    return longest !== undefined && rows <= maxFirstRows && rows * longest <= usualBytes;
  }

  /** Takes the bytes of the longest row of a run. A longer one before that is forgotten by and by. */
  note(name: string, longest: number): void {
    const before = this.#longest.get(name) ?? 0;
    this.#longest.delete(name);
    this.#longest.set(name, Math.max(longest, before / 2));
    if (this.#longest.size <= maxRemembered) return;
    const [first] = this.#longest.keys();
    if (first !== undefined) this.#longest.delete(first);
  }
}

/** Sizes the batches of a stream by the bytes of the rows so far: databases are asked for rows. */
export class BatchSize {
  #requested: number;
  #rows = 0;
  #bytes = 0;
  #longest = 0;

  constructor(first = firstRows) {
    this.#requested = first;
  }

  /** Bytes of the longest row so far. */
  get longest(): number {
    return this.#longest;
  }

  /** Rows to ask for. */
  get requested(): number {
    return this.#requested;
  }

  row(bytes: number): void {
    this.#rows++;
    this.#bytes += bytes;
    if (bytes > this.#longest) this.#longest = bytes;
  }

  /** Ends a batch, and gives the rows to ask for next. */
  next(): number {
    const usual = (usualBytes * this.#rows) / Math.max(this.#bytes, 1);
    const limit = maxBytes / Math.max(this.#longest, 1);
    this.#requested = Math.max(1, Math.round(Math.min(usual, limit, this.#rows * growth, maxRows)));
    this.#rows = 0;
    this.#bytes = 0;
    return this.#requested;
  }
}
