import type { Duplex } from 'node:stream';
import pg from 'pg';
import { ConnectionError, ServerError } from '../../../database/errors.ts';
import { kinds, MessageReader } from '../../../database/messages.ts';
import { leave } from '../driver/options.ts';
import type { Channel, PendingQuery, Request } from '../protocol/request.ts';
import { type RequestSettings, Submission, toServerError } from './submission.ts';

/** A connection that `pg` drives: one request at a time, with its own settings; nothing stays between two. */
export class PlainConnection implements Channel {
  readonly #client: pg.Client;
  readonly #settings: RequestSettings;
  readonly #closed: (error: unknown) => void;
  /** The request under way, then those that wait for it. */
  #requests: Submission[] = [];
  #over = false;

  /**
   * Takes a connected client; `settings` are run in the transaction of every request, or of several. `closed` is called
   * once, when the connection has ended for any reason; then every request is settled.
   */
  constructor(client: pg.Client, settings: RequestSettings, closed: (error: unknown) => void) {
    this.#client = client;
    this.#settings = settings;
    this.#closed = closed;
    const fail = (error: unknown): void => this.fail(error);
    takeRows(client.connection.stream, (buffer, offset, length) => this.head?.row(buffer, offset, length), fail);
    client.on('error', fail);
    client.on('end', () => this.fail(new ConnectionError('The connection was closed.')));
  }

  get inFlight(): number {
    return this.#requests.length;
  }

  readonly gathers = false;

  get head(): Submission | undefined {
    return this.#requests[0];
  }

  /** The next request waits until the one before it is answered, so nothing is gained by sending it. */
  readonly ends = false;

  readonly prepares = false;

  get isClosed(): boolean {
    return this.#over;
  }

  /** Its settings belong to others as well, and nothing is prepared to be planned once. */
  planBlindly(): void {}

  send(request: Request, pendingQuery: PendingQuery): void {
    this.#take(request, pendingQuery, undefined);
  }

  /** Nothing waits for the end of a turn. */
  flush(): void {}

  open(request: Request, rows: number, pendingQuery: PendingQuery): void {
    this.#take(request, pendingQuery, rows);
  }

  more(rows: number): void {
    this.head?.more(rows);
  }

  stop(): void {
    this.head?.stop();
  }

  /** Takes back the queries that were not even sent. */
  withdraw(): readonly PendingQuery[] {
    return this.#requests.splice(1).map(({ pendingQuery }) => pendingQuery);
  }

  fail(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#client.connection.stream.destroy();
    const failure = toFailure(error);
    const left = this.#requests;
    this.#requests = [];
    for (const submission of left) submission.abandon();
    // First, so that repeated requests are not sent here.
    this.#closed(failure);
    for (const { pendingQuery } of left) pendingQuery.settled(failure);
  }

  end(): void {
    if (this.#over) return;
    leave(this.#client);
    this.fail(new ConnectionError('The connection was closed.'));
  }

  #take(request: Request, pendingQuery: PendingQuery, batch: number | undefined): void {
    if (this.#over) {
      pendingQuery.settled(new ConnectionError('The connection was closed.'));
      return;
    }
    const submission: Submission = new Submission(this.#settings, request, pendingQuery, batch, {
      done: (error) => {
        const finish = (): void => this.#done(pendingQuery, error);
        if (error === undefined || !submission.begins || isFatal(error)) finish();
        else this.#rollBack(finish);
      },
      lost: (error) => this.fail(error),
    });
    this.#requests.push(submission);
    if (this.#requests.length === 1) this.#client.query(submission);
  }

  /** After a failure the server has skipped COMMIT, and takes ROLLBACK once it is ready. */
  #rollBack(then: () => void): void {
    this.#client.connection.once('readyForQuery', () => {
      if (!this.#over) this.#client.query('ROLLBACK').then(then, then);
    });
  }

  #done(pendingQuery: PendingQuery, error: unknown): void {
    // The server closes the connection after it.
    if (isFatal(error)) this.fail(error);
    if (this.#over) return;
    this.#requests.shift();
    const next = this.head;
    if (next !== undefined) this.#client.query(next);
    pendingQuery.settled(error);
  }
}

function isFatal(error: unknown): boolean {
  return error instanceof ServerError && error.fatal;
}

function toFailure(error: unknown): ServerError | ConnectionError {
  if (error instanceof pg.DatabaseError) return toServerError(error);
  if (error instanceof ServerError || error instanceof ConnectionError) return error;
  return new ConnectionError('The connection was lost.', { cause: error });
}

/** Bytes in front of the body of a message. */
const headSize = 5;

/**
 * Takes the rows out of the bytes of a server. `pg` gets all other messages, and drives the conversation.
 *
 * It would decode every column as UTF-8, binary ones too, and so destroy them (node-postgres issue 3495), for time and
 * memory that nothing needs. Throws nothing; `broken` is called for bytes that cannot be messages.
 */
function takeRows(
  socket: Duplex,
  row: (buffer: Buffer, offset: number, length: number) => void,
  broken: (error: unknown) => void,
): void {
  const others = socket.listeners('data');
  const reader = new MessageReader((kind, buffer, start, end) => {
    if (kind === kinds.dataRow) row(buffer, start + 2, end - start - 2);
    else for (const read of others) Reflect.apply(read, socket, [buffer.subarray(start - headSize, end)]);
  });
  socket.removeAllListeners('data').on('data', (chunk: Buffer) => {
    try {
      reader.feed(chunk);
    } catch (error) {
      broken(error);
    }
  });
}
