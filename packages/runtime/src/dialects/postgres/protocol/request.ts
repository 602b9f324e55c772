/** Requests to a connection, the receivers of their answers, and those that are sent and not answered yet. */
import type { Parameter, Statement } from '../../../database/database.ts';
import type { ResultFormat } from './encode.ts';

/** Receiver of the answer to a request. `settled` is called exactly once, last. */
export interface PendingQuery {
  /** One row; see `RowSink.row`. */
  row(buffer: Buffer, offset: number, length: number): void;
  /** True once its client has left, so that its statement may be ended. */
  readonly isGone?: boolean;
  /** The portal has given as many rows as were asked for and may have more. */
  suspended?(): void;
  /** The server is done with the request: `error` is undefined when it succeeded. */
  settled(error: unknown): void;
}

/** A statement to run. An empty name prepares it anew each time. */
export interface Request extends Statement {
  readonly parameters: readonly Parameter[];
  /** Format of all columns; binary when absent. */
  readonly format?: ResultFormat;
  /**
   * Begins a transaction, is part of one, or ends it, and so is of no use when it is sent again after an error. The
   * next request must follow one that begins at once, and one that ends is none until the server confirms it.
   */
  readonly part?: 'begin' | 'within' | 'end';
}

/** A request that was sent, in the order of the answers. */
export interface Slot {
  readonly request: Request;
  /** Undefined once the answer is no longer wanted. */
  pendingQuery: PendingQuery | undefined;
  parses: string | undefined;
  /** Set until the settings that go in front of the request are applied, with the name under which Parse was sent. */
  setting: { parses: string | undefined } | undefined;
  rows: number;
  error: unknown;
  retried: boolean;
  /** Absent unless the request runs in batches; then whether its Sync has been sent. */
  synced: boolean | undefined;
  /** Rows of its first batch, where it runs in batches. */
  readonly batch: number;
  /** True when it shares the Sync of the request after it. */
  joined: boolean;
}

/** Makes the slot of a request that is about to be sent. */
export function newSlot(request: Request, pendingQuery: PendingQuery): Slot {
  return {
    request,
    pendingQuery,
    parses: undefined,
    setting: undefined,
    rows: 0,
    error: undefined,
    retried: false,
    synced: undefined,
    batch: 0,
    joined: false,
  };
}

/** Settled slots at the front of the queue that are worth being cut off. */
const compactAt = 512;

export class SlotQueue {
  #slots: Slot[] = [];
  #first = 0;

  get length(): number {
    return this.#slots.length - this.#first;
  }

  /** The request being answered. */
  get head(): Slot | undefined {
    return this.#slots[this.#first];
  }

  get last(): Slot | undefined {
    return this.#slots.at(-1);
  }

  push(slot: Slot): void {
    this.#slots.push(slot);
  }

  /** Takes the head away. */
  shift(): void {
    this.#first++;
    if (this.#first < this.#slots.length && this.#first <= compactAt) return;
    this.#slots = this.#slots.slice(this.#first);
    this.#first = 0;
  }

  /** Slots after the head. */
  behind(): readonly Slot[] {
    return this.#slots.slice(this.#first + 1);
  }

  /** Takes all of them away. */
  drain(): readonly Slot[] {
    const left = this.#slots.slice(this.#first);
    this.#slots = [];
    this.#first = 0;
    return left;
  }
}

/** A connection as the pool sees it. Requests are answered in order, and each `PendingQuery` is settled once. */
export interface Channel {
  /** Requests sent and not yet answered. */
  readonly inFlight: number;
  /** True when brief reads do best to come here, because they go together with others. */
  readonly gathers: boolean;
  /** The request being answered, as a mark to compare: while it stays the same, no answer was completed. */
  readonly head: { readonly request: Request; readonly pendingQuery: PendingQuery | undefined } | undefined;
  /** True when the last request is the end of a transaction, after which the next one can be sent. */
  readonly ends: boolean;
  /** True when the server keeps statements of this connection under their names. */
  readonly prepares: boolean;
  /** True when the connection can take no more requests. */
  readonly isClosed: boolean;
  /** Has statements planned with a look at their values from here on (false), or without one (true), where the session is ours. */
  planBlindly(blindly: boolean): void;
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
