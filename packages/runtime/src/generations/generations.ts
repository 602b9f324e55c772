/** One served API after the other in one process: requests keep the generation that they began with. */
import type { FastifyInstance } from 'fastify';
import type { DriftLog, DriftWatch } from '../drift-watch.ts';
import type { CompiledApi } from '../language/index.ts';

interface ServedApi {
  readonly api: CompiledApi;
  readonly server: FastifyInstance;
  readonly watch: DriftWatch;
}

export interface Generations {
  readonly current: () => ServedApi;
  /** Watch of the current one. */
  readonly watch: Pick<DriftWatch, 'drifts' | 'checked' | 'damaged' | 'refresh'>;
  start(log: DriftLog): Promise<void>;
  /**
   * Answers new requests by another API; resolves when they are. If that API fails to start, the current one stays. Several
   * replace each other in the order of the calls.
   */
  replace(api: CompiledApi): Promise<void>;
  close(): Promise<void>;
}

/**
 * Makes them; `make` starts nothing that the generation's own `close` would not end. It is given a watch that goes on where
 * what is watched is the same, else null.
 */
export function createGenerations(
  first: CompiledApi,
  create: (api: CompiledApi, watch: DriftWatch | null) => ServedApi,
): Generations {
  let current = create(first, null);
  let log: DriftLog | null = null;
  const ending = new Set<Promise<unknown>>();

  function end({ server, watch }: ServedApi, other: ServedApi): void {
    if (watch !== other.watch) watch.stop();
    // Requests under way are not touched by it: it ends what runs beside them.
    const ended = Promise.resolve(server.close())
      .catch(() => undefined)
      .finally(() => ending.delete(ended));
    ending.add(ended);
  }

  async function serveNext(api: CompiledApi): Promise<void> {
    const { hash } = current.api.fingerprint;
    const next = create(api, hash === api.fingerprint.hash ? current.watch : null);
    try {
      // Differences from the database must be known before the first request.
      await Promise.all([
        next.server.ready(),
        log === null || next.watch === current.watch ? undefined : next.watch.start(log),
      ]);
    } catch (error) {
      end(next, current);
      throw error;
    }
    const previous = current;
    current = next;
    end(previous, next);
  }

  return {
    current: () => current,
    watch: {
      drifts: () => current.watch.drifts(),
      checked: () => current.watch.checked(),
      damaged: () => current.watch.damaged(),
      refresh: () => current.watch.refresh(),
    },
    async start(to) {
      log = to;
      await current.server.ready();
      await current.watch.start(to);
    },
    replace: inOrder(serveNext),
    async close() {
      current.watch.stop();
      await current.server.close();
      await Promise.all(ending);
    },
  };
}

/** Makes a function whose runs follow each other in the order of its calls, also where one of them fails. */
export function inOrder<T>(run: (value: T) => Promise<void>): (value: T) => Promise<void> {
  let latest = Promise.resolve();
  return (value) => {
    const running = latest.then(() => run(value));
    latest = running.catch(() => undefined);
    return running;
  };
}
