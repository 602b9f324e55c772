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
  const { worker, send } = startWorker<number>()(new URL(name, import.meta.url), workerData);
  worker.unref();
  let requested = 0;
  let ended = false;
  const end = (reason: string): void => {
    if (!ended) onVerdict({ kind: 'unchecked', reason });
    ended = true;
  };
  worker.on('message', ({ number, verdict }: { readonly number: number; readonly verdict: TypeVerdict }) => {
    if (number === requested) onVerdict(verdict);
  });
  worker.on('error', (error) => end(error instanceof Error ? error.message : String(error)));
  return {
    /** Checks the project as it is now; if several checks wait, only the last one runs. */
    check(): void {
      requested += 1;
      if (!ended) send(requested);
    },
    async close(): Promise<void> {
      ended = true;
      await worker.terminate();
    },
  };
}
