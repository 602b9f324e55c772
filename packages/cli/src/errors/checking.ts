import { CommandError, exitCodes } from './exit-codes.ts';
import { knownFailure } from './known-failure.ts';

/**
 * Runs a command whose exit code is a verdict, so that 1 has no other meaning: a failure before the verdict ends with
 * 2. Bugs stay bugs.
 */
export async function checking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = knownFailure(error);
    if (!(failure instanceof CommandError)) throw failure;
    throw new CommandError(exitCodes.usage, failure.message, failure.hint);
  }
}
