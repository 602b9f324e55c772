/** Transactions that either commit or leave nothing. Source: reliability notes, R2 and R10. */
import { setTimeout as sleep } from 'node:timers/promises';
import { nextPause, resolveWithinMs, Tries } from '../../../database/connection-seams.ts';
import type { CommitProof, Outcome, Transaction } from '../../../database/database.ts';
import { toDatabaseError, UnknownOutcomeError } from '../../../database/errors.ts';
import type { TextRow } from '../../../database/own-statements.ts';
import { Attempt } from './attempt.ts';
import { identitySql } from './identified.ts';
import type { Pool } from './pool.ts';
import { readTexts } from './read.ts';

/** Runs a function in a transaction, and repeats it if that is right. `tries` are the attempts so far. Rejects as the function does. */
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
type Tried<T> =
  | { readonly outcome: Outcome<T>; readonly attempt: Attempt; readonly error?: undefined }
  | { readonly outcome?: undefined; readonly attempt: Attempt; readonly error: unknown };

/** Runs a function in a transaction once. Rejects when it is unknown if it was committed, or no connection is free. */
export async function tryTransaction<T>(
  pool: Pool,
  work: (transaction: Transaction) => Promise<Outcome<T>>,
  answerTimeoutMs: number,
): Promise<Tried<T>> {
  const member = await pool.lease('transaction');
  const attempt = new Attempt(member.connection, answerTimeoutMs, true, pool.settings.notePosition);
  let outcome: Outcome<T> | undefined;
  const remembered = async (transaction: Transaction): Promise<Outcome<T>> => {
    outcome = await work(transaction);
    return outcome;
  };
  try {
    return { outcome: await attempt.execute(remembered, () => pool.release(member)), attempt };
  } catch (error) {
    pool.failed(attempt.failure);
    if (!attempt.unknown || outcome === undefined) return { attempt, error };
    if (!(await wasCommitted(pool, attempt, member.identity))) return { attempt, error };
    await answerAgain(pool, attempt, outcome);
    return { outcome, attempt };
  } finally {
    if (attempt.released) pool.ended(member);
    else pool.release(member);
  }
}

/**
 * Finds out how a transaction ended whose COMMIT got no answer. Numbers of transactions tell it on the same server
 * alone: a promoted one may have given the number to another. There a row of its own tells it. Rejects if that is not
 * known in time.
 */
async function wasCommitted(pool: Pool, { id, evidence }: Attempt, identity: string | undefined): Promise<boolean> {
  // A transaction without a number has written nothing.
  if (id === undefined) return false;
  const end = performance.now() + resolveWithinMs;
  for (let wait = nextPause(); performance.now() < end; wait = nextPause(wait)) {
    if (pool.settings.failover.isTimedOut) break;
    const [status, server] = (await statusOf(pool, id)) ?? [];
    const isSame = server != null && server === identity;
    if (isSame && (status === 'committed' || status === 'aborted')) return status === 'committed';
    // A standby writes no history: it may be promoted, or another server found.
    if (server != null && !isSame && !server.endsWith('/')) return isThere(pool, evidence);
    await sleep(wait);
  }
  throw toDatabaseError(new UnknownOutcomeError());
}

/** `in progress`, `committed` or `aborted`, and the identity of the server; undefined while it does not answer. */
async function statusOf(pool: Pool, id: string): Promise<TextRow | undefined> {
  const text = `SELECT pg_catalog.pg_xact_status($1::pg_catalog.xid8), ${identitySql}`;
  return (await readTexts(reads(pool), text, [id]).catch((): readonly TextRow[] => []))[0];
}

/** Looks for the row that the transaction has left. Rejects where it has left none to look for. */
async function isThere(pool: Pool, evidence: CommitProof | undefined): Promise<boolean> {
  if (evidence === undefined) throw toDatabaseError(new UnknownOutcomeError());
  const { statement, parameters } = evidence;
  return (await readTexts(reads(pool), statement.text, parameters)).length > 0;
}

function reads(pool: Pool): (...read: Parameters<Pool['read']>) => Promise<void> {
  return (request, sink) => pool.read(request, sink);
}

/** Reads the answer of a committed transaction when it was lost with the connection. */
async function answerAgain<T>(pool: Pool, { answered }: Attempt, { last }: Outcome<T>): Promise<void> {
  if (last === undefined || answered) return;
  // A write is answered also where the reads of its caller take turns.
  await pool.read({ ...last.statement, isPublic: false, parameters: last.parameters }, last.sink());
}
