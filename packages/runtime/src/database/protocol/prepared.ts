/** Which statements one connection has prepared, and which of them to forget when there are too many. */
export class PreparedNames {
  readonly #limit: number;
  /** In the order of their last use. */
  readonly #names = new Set<string>();

  /** Keeps at most `limit` names. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many statements are prepared. */
  get size(): number {
    return this.#names.size;
  }

  /** Notes a use; tells whether the statement is prepared already. */
  use(name: string): boolean {
    if (!this.#names.delete(name)) return false;
    this.#names.add(name);
    return true;
  }

  /** Notes a new statement; returns the one that has to be closed for it, if any. */
  add(name: string): string | undefined {
    this.#names.add(name);
    if (this.#names.size <= this.#limit) return undefined;
    const [oldest] = this.#names;
    if (oldest !== undefined) this.#names.delete(oldest);
    return oldest;
  }

  /** Forgets a statement that the server did not take. */
  delete(name: string): void {
    this.#names.delete(name);
  }
}
