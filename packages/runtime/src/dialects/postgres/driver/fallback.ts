import type { Database } from '../../../database/database.ts';
import type { UnfitError } from '../../../database/errors.ts';

/** How long statements of the fast driver may take once the plain one is there, in milliseconds. */
const graceMs = 30_000;

/**
 * The fast driver where it works, else the plain one. That is decided at the start, or when a new connection (after the
 * database moved behind a pooler, say) does not support the fast one. There is no way back.
 *
 * `fast` opens the fast driver and tells its argument about every connection that is unfit. `told` is called once with
 * the reason, when the plain driver is connected. Rejects as the driver does that was tried last.
 */
export async function connectFitting(
  fast: (unfit: (reason: UnfitError) => void) => Promise<Database>,
  plain: () => Promise<Database>,
  onFallback: (reason: Error) => void,
): Promise<Database> {
  let unfitBecause: UnfitError | undefined;
  let moving = false;
  let closed = false;
  const lanes: Database[] = [];

  async function move(reason: UnfitError): Promise<void> {
    const database = await plain();
    if (closed) return database.close(0);
    const [left] = lanes;
    lanes.unshift(database);
    onFallback(reason);
    void left?.close(graceMs);
  }

  function unfit(reason: UnfitError): void {
    unfitBecause ??= reason;
    if (moving || lanes.length !== 1) return;
    moving = true;
    // When that fails too, the next connection of the fast lane that is unfit tries again.
    void move(reason)
      .catch(() => {})
      .finally(() => {
        moving = false;
      });
  }

  const first = await fast(unfit).catch(async (error: unknown) => {
    if (unfitBecause === undefined) throw error;
    const database = await plain();
    onFallback(unfitBecause);
    return database;
  });
  lanes.push(first);
  const current = (): Database => lanes[0] ?? first;
  return {
    read: (statement, parameters, sink) => current().read(statement, parameters, sink),
    stream: (...stream) => current().stream(...stream),
    load: () => current().load?.() ?? {},
    transaction: (work) => current().transaction(work),
    briefTransaction: (...brief) => current().briefTransaction(...brief),
    query: (...query) => current().query(...query),
    showPlan: async (...shown) => current().showPlan?.(...shown) ?? '',
    async close(grace) {
      closed = true;
      await Promise.all(lanes.map((driverMode) => driverMode.close(grace)));
    },
  };
}
