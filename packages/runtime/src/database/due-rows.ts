/** Work that waits in rows. A process takes a row at a time, its own or another's, until none is due. */

/** Interval between checks for rows that other processes have left, in milliseconds. */
const lookEveryMs = 60_000;

export interface DueRows {
  /** Something is due: takes it soon, never before the current turn of the event loop has ended. */
  wake(): void;
  /** Stops looking, and resolves when nothing is under way. */
  close(): Promise<void>;
}

/** Takes rows with `takeOne`, which tells if there was one. Starts at `wake`, or when a minute has passed. */
export function createDueRows(takeOne: () => Promise<boolean>): DueRows {
  let closed = false;
  let again = false;
  let running: Promise<void> | undefined;

  async function takeAll(): Promise<void> {
    do {
      again = false;
      while (!closed && (await takeOne()));
    } while (again && !closed);
  }

  function look(): void {
    if (closed) return;
    again = true;
    running ??= takeAll()
      // The database is away; the rows stay in it.
      .catch(() => undefined)
      .finally(() => {
        running = undefined;
      });
  }

  const timer = setInterval(look, lookEveryMs).unref();
  return {
    wake: () => void setImmediate(look),
    async close() {
      closed = true;
      clearInterval(timer);
      await running;
    },
  };
}
