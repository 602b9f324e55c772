import type { CompiledApi } from '../language/index.ts';
import { serve } from '../serve.ts';
import { startFailure } from './start-failure.ts';

/**
 * Serves a compiled API as the purpose of this process: a start that fails is one sentence and an exit code.
 *
 * ```ts
 * await serveProcess(api);
 * ```
 */
export async function serveProcess(api: CompiledApi): Promise<void> {
  try {
    await serve(api);
  } catch (error) {
    const failure = startFailure(error);
    if (failure === null) throw error;
    process.stderr.write(`${failure.message}\n${failure.hint === null ? '' : `  ${failure.hint}\n`}`);
    process.exit(failure.exitCode);
  }
}
