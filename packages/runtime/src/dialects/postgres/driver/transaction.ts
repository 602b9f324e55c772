/**
 * Transactions that either commit or leave nothing, after any failure on the way. Source: reliability notes, R2 and
 * R10.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome, RowSink, Transaction } from '../../../database/database.ts';
import { ConnectionError, isNotPrimary, toDatabaseError } from '../../../database/errors.ts';
import type { TextRow } from '../../../database/own-statements/texts.ts';
import { Tries } from '../../../database/tries.ts';
import { readTexts } from '../read-texts.ts';
import { Attempt } from './attempt.ts';
import type { Pool } from './pool.ts';

/** The first pause before it is asked again how a transaction ended, in milliseconds; it doubles up to the most. */
const firstWaitMs = 10;
const maxWaitMs = 500;
/** How long the end of a transaction may stay unknown before the request is given up. */
const resolveWithinMs = 15_000;

/**
 * Runs a function in a transaction, and repeats it if that is right. Rejects with the function's rejection. `tries` are
 * the attempts so far.
 */
export async function runTransaction<T>(
  pool: Pool,
  work: (transaction: Transaction) => Promise<Outcome<T>>,
  answerTimeoutMs: number,
  tries = new Tries(),
): Promise<T> {
  for (;;) {
    const { outcome, attempt, error } = await tryTransaction(pool, work, answerTimeoutMs);
    if (outcome !== undefined) return outcome.value;
    if (!tries.mayRunAgain(attempt.failure, attempt.prepared)) throw error;
    await sleep(tries.wait());
  }
}

/** Result of one attempt: the committed outcome, or an error after which nothing stayed. */
export type Tried<T> =
  | { readonly outcome: Outcome<T>; readonly attempt: Attempt; readonly error?: undefined }
  | { readonly outcome?: undefined; readonly attempt: Attempt; readonly error: unknown };

/** Runs a function in a transaction once. Rejects when it is unknown if it was committed, or no connection is free. */
export async function tryTransaction<T>(
  pool: Pool,
  work: (transaction: Transaction) => Promise<Outcome<T>>,
  answerTimeoutMs: number,
): Promise<Tried<T>> {
  const member = await pool.lease('transaction');
  const attempt = new Attempt(member.connection, answerTimeoutMs);
  let outcome: Outcome<T> | undefined;
  const remembered = async (transaction: Transaction): Promise<Outcome<T>> => {
    outcome = await work(transaction);
    return outcome;
  };
  try {
    return { outcome: await attempt.execute(remembered, () => pool.release(member)), attempt };
  } catch (error) {
    if (!attempt.unknown || outcome === undefined || !(await wasCommitted(pool, attempt))) return { attempt, error };
    await answerAgain(pool, attempt, outcome);
    return { outcome, attempt };
  } finally {
    if (isNotPrimary(attempt.failure)) pool.refusedToWrite();
    if (attempt.released) pool.ended(member);
    else pool.release(member);
  }
}

/** Finds out how a transaction ended whose COMMIT got no answer. Rejects if that is not known in time. */
async function wasCommitted(pool: Pool, { id }: Attempt): Promise<boolean> {
  // A transaction without a number has written nothing.
  if (id === undefined) return false;
  const end = performance.now() + resolveWithinMs;
  for (let wait = firstWaitMs; performance.now() < end; wait = Math.min(wait * 2, maxWaitMs)) {
    const status = await statusOf(pool, id);
    if (status === 'committed' || status === 'aborted') return status === 'committed';
    await sleep(wait);
  }
  throw toDatabaseError(new ConnectionError('The outcome of a COMMIT is unknown.'));
}

/** `in progress`, `committed` or `aborted`; undefined while the server does not answer. */
async function statusOf(pool: Pool, id: string): Promise<string | null | undefined> {
  const read = (...[request, sink]: Parameters<Pool['read']>) => pool.read(request, sink);
  const rows = await readTexts(read, 'SELECT pg_catalog.pg_xact_status($1::pg_catalog.xid8)', [id]).catch(
    (): readonly TextRow[] => [],
  );
  return rows[0]?.[0];
}

/** Reads the answer of a committed transaction when it was lost with the connection. */
async function answerAgain<T>(pool: Pool, { answered }: Attempt, { last }: Outcome<T>): Promise<void> {
  if (last === undefined || answered) return;
  const sink: RowSink = last.sink();
  await pool.read({ ...last.statement, parameters: last.parameters }, sink);
}
