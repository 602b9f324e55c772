/** Transactions on MySQL and MariaDB that end well or not at all. Source: reliability notes, R2 and R10. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolConnection } from 'mysql2';
import { nextPause, resolveWithinMs, Tries } from '../../../database/connection-seams.ts';
import type { CommitProof, Outcome, Transaction } from '../../../database/database.ts';
import { ConnectionError, toDatabaseError, UnknownOutcomeError } from '../../../database/errors.ts';
import { formParameters } from '../../../database/parameter-forms.ts';
import { MysqlAttempt } from './attempt.ts';
import type { MysqlPool } from './pool.ts';
import { run } from './run.ts';

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

/**
 * Looks for the row that the transaction has left. A session that still has it open holds its rows locked. So the look
 * waits until the server has run COMMIT or noticed that the client is gone. Rejects with SERVICE_UNAVAILABLE if there
 * is no such row to look for, and if the result is not known in time.
 *
 * `moves` are the changes of the server before the transaction. On another server a number proves nothing. A row that is
 * known by itself may still be on its way there, and then meets the second one.
 */
async function wasCommitted(pool: MysqlPool, commitProof: CommitProof | undefined, moves: number): Promise<boolean> {
  const isUnproved = (): boolean => commitProof?.isNumbered === true && pool.moves !== moves;
  const end = performance.now() + (commitProof === undefined ? 0 : resolveWithinMs);
  let wait = nextPause();
  while (commitProof !== undefined && performance.now() < end && !pool.isTimedOut && !isUnproved()) {
    // A server that takes no writes may hold the row for as long as that lasts.
    const found = pool.isLost ? undefined : await look(pool, commitProof).catch(() => undefined);
    if (found !== undefined && !isUnproved()) return found;
    await sleep(wait);
    wait = nextPause(wait);
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
