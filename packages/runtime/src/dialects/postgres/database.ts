/** PostgreSQL servers reached over the network or a socket. */

import { RowLengths } from '../../database/batch-size.ts';
import type { ChooseText, KeyList, StatementRequest, TransactionRunner } from '../../database/connection-seams.ts';
import type { Database, Parameter, Statement } from '../../database/database.ts';
import { UnfitError } from '../../database/errors.ts';
import type { ConnectOptions } from '../server-dialect.ts';
import { type Open, openConnection } from './driver/connect.ts';
import { PipelineDepth } from './driver/depth.ts';
import { connectFitting } from './driver/fallback.ts';
import { answerTimeout, type PostgresSettings, postgresSettings } from './driver/options.ts';
import { Pool } from './driver/pool.ts';
import { showPlan } from './driver/show-plan.ts';
import { runStream } from './driver/stream.ts';
import { TableSizes } from './driver/table-sizes.ts';
import { runTransaction, tryTransaction } from './driver/transaction.ts';
import { openPlainConnection } from './plain/connect.ts';
import { readTexts } from './read-texts.ts';

/**
 * Connects to a PostgreSQL server (12 or later) and keeps a pool of connections to it.
 *
 * Rejects with SERVICE_UNAVAILABLE when the first connection cannot be made; the error's `cause` states the attempt and
 * its result in one sentence. Connections lost later are made again without end.
 */
export function connectPostgres(options: ConnectOptions): Promise<Database> {
  const settings = postgresSettings(options);
  const plain = () => connectPlain(settings);
  if (settings.driver === 'pg') return plain();
  if (settings.driver === 'fast') return connectFast(settings, () => {});
  return connectFitting((unfit) => connectFast(settings, unfit), plain, settings.onFallback);
}

/** Bounds the wait for a lock of another transaction. */
const lockTimeout: Statement = { name: 'w_patience', text: "SET LOCAL lock_timeout = '20ms'", brief: true };

/** Statements beside one that is timed: more of them make it longer by what they use themselves. */
const maxConcurrent = 2;

/** The fast driver; `unfit` is called whenever a connection turns out not to support it. */
async function connectFast(settings: PostgresSettings, unfit: (reason: UnfitError) => void): Promise<Database> {
  const pool = new Pool(settings, async (_shared, closed) => {
    try {
      return await openConnection(settings, closed);
    } catch (error) {
      if (error instanceof UnfitError) unfit(error);
      throw error;
    }
  });
  return start(pool, settings);
}

/** The plain lane: one request per connection, as in an ordinary pool. */
async function connectPlain(settings: PostgresSettings): Promise<Database> {
  const open: Open = (_shared, closed) => openPlainConnection(settings, closed);
  return start(new Pool(settings, open, new PipelineDepth(1)), settings);
}

async function start(pool: Pool, settings: PostgresSettings): Promise<Database> {
  const { wrapReads, wrapStreams, wrapTransactions, createChooser } = settings.seams;
  await pool.start();
  const timeout = answerTimeout(settings);
  const timeouts = { batch: timeout, publicBatch: settings.publicStatementTimeoutMs };
  const lengths = new RowLengths();
  const query: Database['query'] = (text, parameters, observer) =>
    readTexts((request, sink) => pool.read(request, sink), text, parameters, observer);
  const sizes = new TableSizes(query);
  const choose: ChooseText =
    createChooser?.({
      areSmall: (tables) => sizes.areSmall(tables),
      isCalm: () => pool.load.underWay <= maxConcurrent,
    }) ?? ((statement) => ({ statement }));
  const read: Database['read'] = (planned, parameters, sink) => {
    const { statement, took } = choose(planned);
    return pool.read({ ...statement, parameters }, sink, took);
  };
  const transactions: TransactionRunner = {
    run: (work, tries) => runTransaction(pool, work, timeout, tries),
    attempt: (work) => tryTransaction(pool, work, timeout),
    lockTimeout,
  };
  const alone: Database['briefTransaction'] = (work) =>
    transactions.run(async (transaction) => ({ value: await work(transaction) }));
  const keyBatches = { ask: askArray, maxRunning: Number.POSITIVE_INFINITY, sent: () => pool.flush() };
  const stream: Database['stream'] = (streamed, parameters, sink, drained, signal) =>
    runStream(pool, { ...choose(streamed), parameters, sink, drained, signal }, { timeouts, lengths });
  return {
    read: wrapReads?.(read, keyBatches) ?? read,
    stream: wrapStreams?.(stream, read) ?? stream,
    transaction: (work) => transactions.run(work),
    briefTransaction: wrapTransactions?.(transactions) ?? alone,
    query,
    showPlan: ({ text }, parameters) => showPlan(settings, text, parameters.length),
    load: () => ({ connections: pool.waited, pool: pool.load }),
    close: (graceMs) => pool.close(graceMs),
  };
}

/** Keys that have one text each need no quotes. */
function askArray(
  { statement, at: position }: KeyList,
  keys: readonly string[],
  parameters: readonly Parameter[],
): StatementRequest {
  return { statement, parameters: parameters.with(position, `{${keys.join()}}`) };
}
