/** How a transaction ended whose COMMIT got no answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommitProof } from '../../../database/database.ts';
import { toDatabaseError, UnknownOutcomeError } from '../../../database/errors.ts';
import { formParameters } from '../../../database/parameter-forms.ts';
import type { MysqlPool } from './pool.ts';
import { run } from './run.ts';

/** The first pause before it is looked again, in milliseconds; it doubles up to the most. */
const firstWaitMs = 10;
const maxWaitMs = 500;
/** How long the end of a transaction may stay unknown before the request is given up. */
const resolveWithinMs = 15_000;

/**
 * Looks for the row that the transaction has left. A session that still has it open holds its rows locked. So the look
 * waits until the server has run COMMIT or noticed that the client is gone. Rejects with SERVICE_UNAVAILABLE if there
 * is no such row to look for, and if the result is not known in time.
 *
 * `moves` are the changes of the server before the transaction. On another server a number proves nothing. A row that is
 * known by itself may still be on its way there, and then meets the second one.
 */
export async function wasCommitted(
  pool: MysqlPool,
  commitProof: CommitProof | undefined,
  moves: number,
): Promise<boolean> {
  const isUnproved = (): boolean => commitProof?.isNumbered === true && pool.moves !== moves;
  const end = performance.now() + (commitProof === undefined ? 0 : resolveWithinMs);
  for (
    let wait = firstWaitMs;
    commitProof !== undefined && performance.now() < end && !pool.isTimedOut && !isUnproved();
    wait = Math.min(wait * 2, maxWaitMs)
  ) {
    // A server that takes no writes may hold the row for as long as that lasts.
    const found = pool.isLost ? undefined : await look(pool, commitProof).catch(() => undefined);
    if (found !== undefined && !isUnproved()) return found;
    await sleep(wait);
  }
  throw toDatabaseError(new UnknownOutcomeError());
}

function look(pool: MysqlPool, { statement: { text, forms }, parameters }: CommitProof): Promise<boolean> {
  return pool.read(false, async (connection) => {
    let found = false;
    const row = (): void => {
      found = true;
    };
    await run(connection, text, formParameters(parameters, forms), { row });
    return found;
  });
}
