/** Transactions on MySQL and MariaDB that end well or not at all. Source: reliability notes, R2 and R10; decision 33. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome, Transaction } from '../database.ts';
import { ConnectionError, toDatabaseError } from '../errors.ts';
import { Tries } from '../tries.ts';
import { MysqlAttempt } from './attempt.ts';
import { lease, type MysqlPool } from './pool.ts';

/**
 * Runs a function in a transaction, again where that is right. Rejects with what the function rejects with.
 *
 * The servers do not tell how a transaction ended whose COMMIT got no answer: then it rejects with SERVICE_UNAVAILABLE.
 */
export async function runMysqlTransaction<T>(
  pool: MysqlPool,
  work: (transaction: Transaction) => Promise<Outcome<T>>,
  answerTimeoutMs: number,
): Promise<T> {
  const tries = new Tries();
  for (;;) {
    const { attempt, error, value } = await tryOnce(pool, work, answerTimeoutMs);
    if (value !== undefined) return value.of;
    if (attempt?.unknown === true) {
      throw toDatabaseError(new ConnectionError('Nobody can tell whether a transaction was committed.'));
    }
    // What the function itself rejects with is told as it is.
    if (!tries.mayRunAgain(attempt === undefined ? error : attempt.failure)) {
      throw attempt === undefined ? toDatabaseError(error) : error;
    }
    await sleep(tries.wait());
  }
}

/** How one try ended: with a value, or with an error behind which nothing stayed unless it is `unknown`. */
interface Tried<T> {
  /** Undefined where no connection was to be had. */
  readonly attempt?: MysqlAttempt;
  readonly error?: unknown;
  readonly value?: { readonly of: T };
}

async function tryOnce<T>(
  pool: MysqlPool,
  work: (transaction: Transaction) => Promise<Outcome<T>>,
  answerTimeoutMs: number,
): Promise<Tried<T>> {
  let connection: Awaited<ReturnType<typeof lease>>;
  try {
    connection = await lease(pool);
  } catch (error) {
    return { error };
  }
  const attempt = new MysqlAttempt(connection, answerTimeoutMs);
  try {
    return { attempt, value: { of: (await attempt.perform(work)).value } };
  } catch (error) {
    return { attempt, error };
  } finally {
    if (attempt.broken) connection.destroy();
    else connection.release();
  }
}
