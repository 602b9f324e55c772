/** Type checks of a project beside its server, in a thread that caches earlier checks. */
import { startWorker } from '../process/worker-thread.ts';

/** Result of a check: lines for people, none if everything fits; or the reason why there was none. */
export type TypeVerdict =
  | { readonly kind: 'checked'; readonly errors: readonly string[]; readonly ms: number }
  | { readonly kind: 'unchecked'; readonly reason: string };

/** Inputs of the thread. */
export interface TypeSources {
  readonly folder: string;
  /** Folders below it whose files are checked. */
  readonly folders: readonly string[];
}

export type TypeChecks = ReturnType<typeof startTypeChecks>;

/** Starts the thread; `onVerdict` gets the result of every check that no other has followed meanwhile. */
export function startTypeChecks(workerData: TypeSources, onVerdict: (verdict: TypeVerdict) => void) {
  const name = import.meta.url.endsWith('.ts') ? './type-worker.ts' : './type-worker.js';
  let requested = 0;

  function start() {
    const started = startWorker<number>()(new URL(name, import.meta.url), workerData);
    const { worker } = started;
    worker.unref();
    const end = (reason: string): void => {
      if (thread !== started) return;
      thread = null;
      onVerdict({ kind: 'unchecked', reason });
    };
    worker.on('message', ({ number, verdict }: { readonly number: number; readonly verdict: TypeVerdict }) => {
      if (number === requested) onVerdict(verdict);
    });
    worker.on('error', (error) => end(error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => end('the thread that checks them has ended'));
    return started;
  }

  let thread: ReturnType<typeof start> | null = start();
  return {
    /** Checks the project as it is now, in another thread after one has died. If several checks wait, only the last one runs. */
    check(): void {
      requested += 1;
      thread ??= start();
      thread.send(requested);
    },
    async close(): Promise<void> {
      const last = thread;
      thread = null;
      await last?.worker.terminate();
    },
  };
}
