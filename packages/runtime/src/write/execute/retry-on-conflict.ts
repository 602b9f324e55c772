import type { TransactionBody } from './transaction-body.ts';

/** Maximum number of conflicts with other requests after which a write runs again; then it fails with the error. */
const maxConflicts = 3;

/** Runs work, again from the start when another request was faster. */
export async function retryOnConflict<T>(
  { isConflict }: Pick<TransactionBody, 'isConflict'>,
  run: () => Promise<T>,
): Promise<T> {
  for (let again = 0; ; again++) {
    try {
      return await run();
    } catch (error) {
      if (again >= maxConflicts || isConflict?.(error) !== true) throw error;
    }
  }
}
