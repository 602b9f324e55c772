/**
 * Transactions on MySQL and MariaDB that end well or not at all. Source: reliability notes, R2 and R10;
 * `docs/decisions/writes-on-mysql.md`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolConnection } from 'mysql2';
import type { Outcome, Transaction } from '../../../database/database.ts';
import { ConnectionError, toDatabaseError } from '../../../database/errors.ts';
import { Tries } from '../../../database/tries.ts';
import { MysqlAttempt } from './attempt.ts';
import type { MysqlPool } from './pool.ts';
import { wasCommitted } from './was-committed.ts';

/**
 * Runs a function in a transaction, and repeats it if that is right. Rejects with the function's rejection.
 *
 * The servers do not tell how a transaction ended whose COMMIT got no answer. If it has left a proof, that is looked
 * for; else it rejects with SERVICE_UNAVAILABLE.
 */
export async function runMysqlTransaction<T>(
  pool: MysqlPool,
  work: (transaction: Transaction) => Promise<Outcome<T>>,
): Promise<T> {
  const tries = new Tries();
  for (;;) {
    const { moves } = pool;
    const { attempt, error, outcome } = await tryOnce(pool, work);
    if (outcome !== undefined && error === undefined) return outcome.value;
    // The answer of a transaction is read before its COMMIT, so it is there.
    if (attempt?.unknown === true && (await wasCommitted(pool, attempt.evidence, moves)) && outcome)
      return outcome.value;
    // A rejection of the function itself is passed on as it is.
    if (!tries.mayRunAgain(attempt === undefined ? error : attempt.failure)) {
      throw attempt === undefined ? toDatabaseError(error) : error;
    }
    await sleep(tries.wait());
  }
}

/** Result of one attempt: the value of the function, and an error unless that was committed. */
interface Tried<T> {
  /** Undefined where no connection was to be had. */
  readonly attempt?: MysqlAttempt;
  readonly error?: unknown;
  readonly outcome?: Outcome<T>;
}

async function tryOnce<T>(pool: MysqlPool, work: (transaction: Transaction) => Promise<Outcome<T>>): Promise<Tried<T>> {
  let connection: PoolConnection;
  if (pool.isLost) return { error: new ConnectionError('No database server takes writes.') };
  try {
    connection = await pool.lease();
  } catch (error) {
    pool.failed(error);
    return { error };
  }
  const attempt = new MysqlAttempt(connection, pool.answerTimeoutMs);
  let outcome: Outcome<T> | undefined;
  const remembered = async (transaction: Transaction): Promise<Outcome<T>> => {
    outcome = await work(transaction);
    return outcome;
  };
  try {
    return { attempt, outcome: await attempt.execute(remembered) };
  } catch (error) {
    pool.failed(attempt.failure);
    return { attempt, error, ...(outcome && { outcome }) };
  } finally {
    if (attempt.broken) pool.destroy(connection);
    else pool.release(connection);
  }
}
