import type { PendingQuery, Request } from '../protocol/request.ts';

/**
 * A connection as the pool sees it, with either driver. Requests are answered in the order in which they were sent, and
 * each `PendingQuery` is settled exactly once.
 */
export interface Channel {
  /** Requests sent and not yet answered. */
  readonly inFlight: number;
  /** True when brief reads do best to come here, because they go together with others. */
  readonly gathers: boolean;
  /** The request being answered, as a mark to compare: while it stays the same, no answer was completed. */
  readonly head: { readonly request: Request } | undefined;
  /** True when the last request is the end of a transaction, after which the next one can be sent. */
  readonly ends: boolean;
  /** True when the server keeps statements of this connection under their names. */
  readonly prepares: boolean;
  /** True when the connection can take no more requests. */
  readonly isClosed: boolean;
  /** Has statements planned with a look at their values from here on (false), or without one (true), where the session is ours. */
  planBlindly(blindly: boolean): void;
  /** Sends a request and runs it to its end. */
  send(request: Request, pendingQuery: PendingQuery): void;
  /** Sends requests now, instead of with all others of this turn of the event loop. */
  flush(): void;
  /** Runs a request as the only one on this connection and stops after `rows` rows; go on with `more` or `stop`. */
  open(request: Request, rows: number, pendingQuery: PendingQuery): void;
  /** Asks a suspended request for the next rows. */
  more(rows: number): void;
  /** Ends a suspended request, which is settled when the server has confirmed. */
  stop(): void;
  /** Takes back every request after the one being answered; none of them has received a row. */
  withdraw(): readonly PendingQuery[];
  /** Ends the connection because of an error; requests under way are settled with it. */
  fail(error: unknown): void;
  /** Ends an idle connection politely. */
  end(): void;
}
