import { readEnvironment } from '../environment.ts';
import type { CompiledApi } from '../language/index.ts';
import { serve } from './serve.ts';
import { startFailure } from './start-failure.ts';

/**
 * Serves a compiled API as the purpose of this process: a start that fails is one sentence and an exit code.
 * @example await serveProcess(api);
 */
export async function serveProcess(api: CompiledApi): Promise<void> {
  try {
    await serve(api);
  } catch (error) {
    const failure = startFailure(error, databaseUrl());
    if (failure === null) throw error;
    process.stderr.write(`${failure.message}\n${failure.hint === null ? '' : `  ${failure.hint}\n`}`);
    process.exit(failure.exitCode);
  }
}

/** That of the environment; null where the database is embedded, or the environment is what is wrong. */
function databaseUrl(): string | null {
  const reading = readEnvironment(process.env);
  return reading.ok ? reading.environment.database.url : null;
}
