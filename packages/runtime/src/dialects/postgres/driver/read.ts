import { type Parameter, type ReadClient, type RowSink, receiverOf } from '../../../database/database.ts';
import {
  isRetryable,
  isStatementTimeout,
  StalledError,
  toDatabaseError,
  toStatementError,
} from '../../../database/errors.ts';
import { collectRows, type TextRow } from '../../../database/own-statements.ts';
import { ClientGoneError } from '../../../errors.ts';
import type { PendingQuery, Request } from '../protocol/request.ts';
import type { PooledConnection } from './pooled-connection.ts';

/** Sends a read to a connection now, or to the queue of those that wait for one. */
type Dispatch = (read: Read) => void;

/** Twice, because a server that stops takes all connections with it, and the first retry may meet the last of them. */
const maxRetries = 2;

/** Milliseconds between tries: a server that stops ends all connections soon; one unaware of it is no better yet. */
export const retryPauseMs = 25;

/** One read under way, wherever it is: waiting, sent, or sent again. */
export class Read implements PendingQuery {
  readonly request: Request;
  /** Time after which it no longer waits for a connection; set while it waits. */
  deadline = 0;
  /** Time when it was sent to a connection that did nothing else; undefined where it stood behind others. */
  startedAt: number | undefined;
  readonly #sink: RowSink;
  readonly #receiver: RowSink;
  readonly #done: (error: unknown) => void;
  readonly #again: Dispatch;
  readonly #client: ReadClient | undefined;
  #rows = 0;
  #tries = 0;

  /** `done` is called once with the caller's result; `again` takes a read that deserves another attempt. */
  constructor(request: Request, sink: RowSink, again: Dispatch, done: (error: unknown) => void, client?: ReadClient) {
    this.request = request;
    this.#sink = sink;
    this.#receiver = receiverOf(sink);
    this.#again = again;
    this.#done = done;
    this.#client = client;
  }

  get isGone(): boolean {
    return this.#client?.isGone === true;
  }

  row(buffer: Buffer, offset: number, length: number): void {
    this.#rows++;
    this.#receiver.row(buffer, offset, length);
  }

  sent(now: number): void {
    this.#sink.sent?.(now, this.request.text);
  }

  /** Tried again elsewhere when nothing was delivered yet: reading twice does no harm. */
  settled(error: unknown): void {
    if (error === undefined) this.#done(this.#end());
    else if (this.isGone && (isStatementTimeout(error) || isRetryable(error))) this.leave();
    else if (this.#rows === 0 && this.#tries++ < maxRetries && isRetryable(error))
      setTimeout(() => this.#again(this), retryPauseMs);
    else this.#done(toStatementError(error, this.request));
  }

  /** Ends a read whose client has left. */
  leave(): void {
    this.#done(toDatabaseError(new ClientGoneError()));
  }

  /** Gives a read back that has not begun. */
  giveBack(): void {
    this.#done(new StalledError('The read waited for a slow one.'));
  }

  #end(): unknown {
    try {
      if (this.#receiver !== this.#sink) this.#sink.received?.(this.#rows);
      this.#sink.end?.();
      return undefined;
    } catch (error) {
      return toDatabaseError(error);
    }
  }
}

/** Sends a read on a connection, and takes its time where nothing else is under way there. */
export function sendRead({ connection }: Pick<PooledConnection, 'connection'>, read: Read): void {
  const now = performance.now();
  read.startedAt = connection.inFlight === 0 ? now : undefined;
  read.sent(now);
  const byValues = read.request.byValues === true;
  if (byValues) connection.planBlindly(false);
  connection.send(read.request, read);
  if (byValues) connection.planBlindly(true);
}

/** Waiting reads: those of callers without a token after all others, those that may be slow after these. */
export class ReadQueues {
  readonly #usual: Read[] = [];
  readonly #public: Read[] = [];
  readonly #apart: Read[] = [];

  /** In the order in which they are served. */
  readonly all: readonly Read[][] = [this.#usual, this.#public, this.#apart];

  of({ request }: Read): Read[] {
    if (request.apart === true) return this.#apart;
    return request.isPublic === true ? this.#public : this.#usual;
  }

  get length(): number {
    return this.#usual.length + this.#public.length + this.#apart.length;
  }

  /** Takes out the reads whose clients have left. */
  takeLeft(): readonly Read[] {
    const left = this.all.flatMap((queue) => queue.filter((read) => read.isGone));
    for (const read of left) {
      const queue = this.of(read);
      queue.splice(queue.indexOf(read), 1);
    }
    return left;
  }
}

/**
 * Number of requests that may be queued on one shared connection.
 *
 * Pipelining is for a database that answers fast. When an answer takes so long that queued requests would suffer, the
 * depth falls to one request per connection, as in an ordinary pool. It doubles again while nothing stalls.
 */
export class PipelineDepth {
  readonly #maxCount: number;
  #depth: number;
  #raisedAt = 0;

  /** Starts at `most`. */
  constructor(maximum = 256) {
    this.#maxCount = maximum;
    this.#depth = maximum;
  }

  /** Requests that one connection may have in flight. */
  get value(): number {
    return this.#depth;
  }

  /** Notes an answer that keeps others waiting. */
  stalled(now: number): void {
    this.#depth = 1;
    this.#raisedAt = now;
  }

  /** Lets the depth recover: it doubles every quarter of a second. */
  recover(now: number): void {
    if (this.#depth === this.#maxCount || now - this.#raisedAt < 250) return;
    this.#depth = Math.min(this.#depth * 2, this.#maxCount);
    this.#raisedAt = now;
  }
}

/** Runs a query without a prepared statement of its own and collects its rows. */
export function readTexts(
  read: (request: Request, sink: RowSink) => Promise<void>,
  text: string,
  parameters: readonly Parameter[],
  observer?: Pick<RowSink, 'sent'>,
): Promise<readonly TextRow[]> {
  const sent = (now: number): void => observer?.sent?.(now);
  return collectRows((sink) => read({ name: '', text, parameters, format: 'text' }, { ...sink, sent }));
}
