/** State of one prepared statement. */
interface Known {
  /** True once the server has confirmed. */
  confirmed: boolean;
  /** Characters of its text. */
  readonly size: number;
}

/** Text of all statements of one connection. Their plans take the server some hundred times as many bytes. */
const maxTextBytes = 1_048_576;

/** Statements that one connection has prepared, and those to forget when there are too many. */
export class PreparedNames {
  readonly #limit: number;
  /** In the order of their last use. */
  readonly #names = new Map<string, Known>();
  #text = 0;

  /** Keeps at most `limit` names. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Number of statements that are prepared or about to be. */
  get size(): number {
    return this.#names.size;
  }

  /** Notes a use; returns true if the statement has been sent to be prepared already. */
  use(name: string): boolean {
    const cached = this.#names.get(name);
    if (cached === undefined) return false;
    this.#names.delete(name);
    this.#names.set(name, cached);
    return true;
  }

  /** Notes a statement that is sent to be prepared; returns those that have to be closed for it. */
  add(name: string, size: number): readonly string[] {
    this.delete(name);
    this.#names.set(name, { confirmed: false, size });
    this.#text += size;
    const evicted: string[] = [];
    for (const oldest of this.#names.keys()) {
      if (oldest === name || (this.#names.size <= this.#limit && this.#text <= maxTextBytes)) break;
      this.delete(oldest);
      evicted.push(oldest);
    }
    return evicted;
  }

  /** Forgets the half that was not used for longest, where the server has room for no more; returns those that have to be closed. */
  evictHalf(): readonly string[] {
    const evicted = [...this.#names.keys()].slice(0, Math.ceil(this.#names.size / 2));
    for (const name of evicted) this.delete(name);
    return evicted;
  }

  /** Notes that the server has prepared it. */
  confirm(name: string): void {
    const cached = this.#names.get(name);
    if (cached !== undefined) cached.confirmed = true;
  }

  /** True if the server has prepared it and has not reported an error since. */
  isConfirmed(name: string): boolean {
    return this.#names.get(name)?.confirmed === true;
  }

  /** Forgets a statement that the server did not take. */
  delete(name: string): void {
    this.#text -= this.#names.get(name)?.size ?? 0;
    this.#names.delete(name);
  }
}
