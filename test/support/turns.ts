/** Requests that run at once, as tests ask them, and pieces of work during which nothing else may run. */

/** Who may run when. */
export interface Turns {
  /** Runs with others, but not while a piece of work is alone. */
  together<T>(run: () => Promise<T>): Promise<T>;
  /**
   * Does `before` alone, runs, and does `after` with both results if nothing else ran meanwhile. Where something does run,
   * or `before` gives null, it only runs; `prevented` is told of the former.
   */
  first<B, T>(
    before: () => Promise<B | null>,
    run: () => Promise<T>,
    after: (before: B, result: T) => Promise<void>,
    prevented: () => void,
  ): Promise<T>;
}

/** Makes the turns of one server. */
export function createTurns(): Turns {
  let running = 0;
  let started = 0;
  let alone: Promise<unknown> | null = null;

  async function together<T>(run: () => Promise<T>): Promise<T> {
    while (alone !== null) await alone;
    running += 1;
    started += 1;
    try {
      return await run();
    } finally {
      running -= 1;
    }
  }

  function begin<B>(before: () => Promise<B | null>): Promise<B | null> {
    const work = before().finally(() => {
      alone = null;
    });
    // Whoever waits is not told of failures.
    alone = work.catch(() => {});
    return work;
  }

  return {
    together,
    async first(before, run, after, prevented) {
      if (running > 0 || alone !== null) {
        prevented();
        return together(run);
      }
      const prepared = await begin(before);
      const mark = started + 1;
      const result = await together(run);
      if (prepared === null) return result;
      if (running > 0 || started !== mark) prevented();
      else await begin(() => after(prepared, result).then(() => null));
      return result;
    },
  };
}
