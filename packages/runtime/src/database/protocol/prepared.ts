/** Which statements one connection has prepared, and which of them to forget when there are too many. */
export class PreparedNames {
  readonly #limit: number;
  /** In the order of their last use; true once the server has confirmed. */
  readonly #names = new Map<string, boolean>();

  /** Keeps at most `limit` names. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many statements are prepared or about to be. */
  get size(): number {
    return this.#names.size;
  }

  /** Notes a use; tells whether the statement has been sent to be prepared already. */
  use(name: string): boolean {
    const confirmed = this.#names.get(name);
    if (confirmed === undefined) return false;
    this.#names.delete(name);
    this.#names.set(name, confirmed);
    return true;
  }

  /** Notes a statement that is sent to be prepared; returns the one that has to be closed for it, if any. */
  add(name: string): string | undefined {
    this.#names.delete(name);
    this.#names.set(name, false);
    if (this.#names.size <= this.#limit) return undefined;
    const [oldest] = this.#names.keys();
    if (oldest !== undefined) this.#names.delete(oldest);
    return oldest;
  }

  /** Notes that the server has prepared it. */
  confirm(name: string): void {
    if (this.#names.has(name)) this.#names.set(name, true);
  }

  /** Tells whether the server has prepared it and nothing has been heard to the contrary since. */
  isConfirmed(name: string): boolean {
    return this.#names.get(name) === true;
  }

  /** Forgets a statement that the server did not take. */
  delete(name: string): void {
    this.#names.delete(name);
  }
}
