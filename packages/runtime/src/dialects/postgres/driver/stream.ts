/** Streamed reads: a leased connection, a portal, and everything that can end them early. */

import { setTimeout as sleep } from 'node:timers/promises';
import { BatchSize, type RowLengths } from '../../../database/batch-size.ts';
import type { Parameter, RowSink, Statement } from '../../../database/database.ts';
import {
  abortError,
  ConnectionError,
  isRetryable,
  statementTimeout,
  throwIfAborted,
  toStatementError,
} from '../../../database/errors.ts';
import { inTime } from '../../../database/waits.ts';
import type { Channel, PendingQuery } from '../protocol/request.ts';
import type { Pool } from './pool.ts';
import type { PooledConnection } from './pooled-connection.ts';
import { retryPauseMs } from './read.ts';

interface Stream {
  readonly statement: Statement;
  /** Told the milliseconds that the database took for all rows. */
  readonly took?: (ms: number) => void;
  readonly parameters: readonly Parameter[];
  readonly sink: RowSink;
  readonly drained: () => Promise<void>;
  readonly signal: AbortSignal;
}

interface StreamSettings {
  readonly timeouts: StreamTimeouts;
  readonly lengths: RowLengths;
}

/** Milliseconds that a batch may take: of any statement, and of callers without a token, where 0 means the first as well. */
interface StreamTimeouts {
  readonly batch: number;
  readonly publicBatch: number;
}

interface BatchTimeout {
  readonly ms: number;
  readonly error: () => Error;
}

function timeoutOf({ isPublic }: Statement, { batch, publicBatch }: StreamTimeouts): BatchTimeout {
  if (isPublic === true && publicBatch > 0 && publicBatch < batch) return { ms: publicBatch, error: statementTimeout };
  return { ms: batch, error: () => new ConnectionError('No answer in time.') };
}

/** Time that an abandoned statement may take to end before it is cancelled and the connection dropped. */
const endMs = 500;

/** Runs a stream; once more on another connection when one is lost before the first row. Rejects with `PlatformError`. */
export async function runStream(pool: Pool, stream: Stream, { timeouts, lengths }: StreamSettings): Promise<void> {
  const { name } = stream.statement;
  for (let tries = 0; ; tries++) {
    const member = await lease(pool, stream.signal);
    stream.sink.sent?.(performance.now(), stream.statement.text);
    const byValues = stream.statement.byValues === true;
    if (byValues) member.connection.planBlindly(false);
    const size = new BatchSize(lengths.firstRows(name));
    const portal = new Portal(member.connection, stream.sink, size);
    try {
      await runPortal(portal, stream, timeouts);
      lengths.note(name, size.longest);
      return;
    } catch (error) {
      if (tries > 0 || portal.rows > 0 || stream.signal.aborted || !isRetryable(error))
        throw toStatementError(error, stream.statement);
    } finally {
      await endPortal(portal, member);
      if (byValues) member.connection.planBlindly(true);
      pool.release(member);
    }
    await sleep(retryPauseMs);
  }
}

async function lease(pool: Pool, signal: AbortSignal): Promise<PooledConnection> {
  throwIfAborted(signal);
  return pool.lease('stream', signal);
}

async function runPortal(portal: Portal, stream: Stream, timeouts: StreamTimeouts): Promise<void> {
  const { statement, took, parameters, drained, signal } = stream;
  const aborted = whenAborted(signal);
  const timeout = timeoutOf(statement, timeouts);
  let startedAt = performance.now();
  let ms = 0;
  try {
    let batch = await batchInTime(portal.open(statement, parameters), aborted.promise, timeout);
    ms += performance.now() - startedAt;
    while (batch === 'more') {
      await Promise.race([drained(), aborted.promise]);
      startedAt = performance.now();
      batch = await batchInTime(portal.next(), aborted.promise, timeout);
      ms += performance.now() - startedAt;
    }
    took?.(ms);
  } finally {
    aborted.forget();
  }
}

/** Ends the rest of the statement, so that the connection can be used again or is gone. */
async function endPortal(portal: Portal, member: PooledConnection): Promise<void> {
  if (portal.ended || member.connection.isClosed) return;
  const stopped = portal.stop().catch(() => {});
  await inTime(stopped, endMs, () => {});
  if (portal.ended) return;
  await member.cancel();
  member.connection.fail(new ConnectionError('The statement was abandoned.'));
}

/** Waits for a batch, but not beyond the abort of the request or the time in which a server that lives has answered. */
function batchInTime<T>(batch: Promise<T>, aborted: Promise<never>, { ms, error }: BatchTimeout): Promise<T> {
  return Promise.race([aborted, inTime(batch, ms, () => Promise.reject(error()))]);
}

function whenAborted(signal: AbortSignal): { readonly promise: Promise<never>; readonly forget: () => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(abortError(signal));
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  // It may reject when no code awaits it.
  promise.catch(() => {});
  return { promise, forget: () => signal.removeEventListener('abort', abort) };
}

/** End of a batch: the portal may have more rows, or the statement is complete. */
type Batch = 'more' | 'done';

/**
 * One statement run in batches on a connection for exclusive use.
 *
 * Rows of one statement in batches: the next batch is asked for when the reader has taken the last one. So the server
 * keeps the rest, and memory stays flat on both sides.
 */
class Portal implements PendingQuery {
  rows = 0;
  readonly #connection: Channel;
  readonly #sink: RowSink;
  readonly #size: BatchSize;
  #running = false;
  #ended = false;
  #settle: PromiseWithResolvers<Batch> = Promise.withResolvers();

  constructor(connection: Channel, sink: RowSink, size = new BatchSize()) {
    this.#connection = connection;
    this.#sink = sink;
    this.#size = size;
  }

  /** True while the server works on a batch. */
  get running(): boolean {
    return this.#running;
  }

  /** True when the server is done with the statement. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Starts the statement and resolves at the end of its first batch. */
  open(statement: Statement, parameters: readonly Parameter[]): Promise<Batch> {
    this.#running = true;
    this.#connection.open({ ...statement, parameters }, this.#size.requested, this);
    return this.#settle.promise;
  }

  /** Asks for the next batch, sized by the rows so far, and resolves at its end. */
  next(): Promise<Batch> {
    return this.#continue(() => this.#connection.more(this.#size.next()));
  }

  /** Gives up the rows that are left and resolves when the server has confirmed. */
  async stop(): Promise<void> {
    if (this.#ended) return;
    // While a batch runs the server reads nothing; it is stopped at the end of the batch.
    if (this.#running && (await this.#settle.promise) === 'done') return;
    await this.#continue(() => this.#connection.stop());
  }

  row(buffer: Buffer, offset: number, length: number): void {
    this.rows++;
    this.#size.row(length);
    this.#sink.row(buffer, offset, length);
  }

  suspended(): void {
    this.#running = false;
    this.#settle.resolve('more');
  }

  settled(error: unknown): void {
    this.#running = false;
    this.#ended = true;
    if (error === undefined) this.#settle.resolve('done');
    else this.#settle.reject(error);
  }

  #continue(ask: () => void): Promise<Batch> {
    if (this.#ended || this.#connection.isClosed)
      return Promise.reject(new ConnectionError('The connection was lost.'));
    this.#running = true;
    this.#settle = Promise.withResolvers();
    ask();
    return this.#settle.promise;
  }
}
