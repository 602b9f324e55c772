import pg from 'pg';
import { RowContextError, ServerError } from '../../../database/errors.ts';
import { type RowContext, rowContextOf } from '../../../database/row-context.ts';
import type { PendingQuery, Request } from '../protocol/request.ts';

/** Gets the end of a request; one of the two functions is called, once. */
interface SubmissionOwner {
  /** The server is done with the request: `error` is undefined when it succeeded. */
  done(error: unknown): void;
  /** Tells that there is no connection any more. */
  lost(error: unknown): void;
}

/** Statements of one row that set a transaction up. */
export interface RequestSettings {
  readonly reading: string;
  readonly writing: string;
}

/**
 * One request as `pg` takes it: its messages, and the meaning of its answer.
 *
 * The settings and the statement go out together with one Sync at the end, which makes them one transaction. So the
 * settings hold for this statement only. A transaction of several requests is set up after its BEGIN. No statement is
 * prepared under a name: a pooler between here and the server sees one batch of messages that needs no earlier one.
 *
 * `pg` hands over everything but the rows, which are taken out of its bytes (see `takeRows`).
 */
export class Submission implements pg.Submittable {
  readonly pendingQuery: PendingQuery;
  readonly request: Request;
  readonly #settings: RequestSettings;
  readonly #context: RowContext | undefined;
  /** Rows of the first batch; undefined when all are wanted at once. */
  readonly #batch: number | undefined;
  readonly #owner: SubmissionOwner;
  #connection: pg.Connection | undefined;
  /** Statements that are complete: the settings, then the request's own. */
  #complete = 0;
  #rows = 0;
  #synced: boolean;
  #ended = false;
  #error: unknown;

  /** The owner settles the exchange. */
  constructor(
    settings: RequestSettings,
    request: Request,
    pendingQuery: PendingQuery,
    batch: number | undefined,
    owner: SubmissionOwner,
  ) {
    this.pendingQuery = pendingQuery;
    this.#settings = settings;
    this.request = request;
    this.#context = request.part === undefined ? rowContextOf(request) : undefined;
    this.#batch = batch;
    this.#owner = owner;
    this.#synced = batch === undefined;
  }

  /** Called by `pg` when it is this request's turn. */
  submit(connection: pg.Connection): void {
    this.#connection = connection;
    const { text, parameters, format, part } = this.request;
    connection.stream.cork();
    if (this.#context !== undefined) run(connection, 'BEGIN', [], 'text', undefined);
    if (part === undefined) run(connection, this.#settings.reading, [], 'text', undefined);
    if (this.#context !== undefined) {
      const { apply } = this.#context;
      run(connection, apply.text, apply.parameters, 'text', undefined);
    }
    run(connection, text, parameters, format ?? 'binary', this.#batch);
    if (part === 'begin') run(connection, this.#settings.writing, [], 'text', undefined);
    if (this.#synced) this.#finish(connection);
    else connection.flush();
    connection.stream.uncork();
  }

  /** True if it is a transaction of its own in the words of SQL, which a failure leaves open. */
  get begins(): boolean {
    return this.#context !== undefined;
  }

  /** Takes the next row: the first is that of the settings of this server, where there are any. */
  row(buffer: Buffer, offset: number, length: number): void {
    if (this.#rows++ < (this.#setsUp ? 1 : 0) || this.#error !== undefined || this.#ended) return;
    try {
      this.pendingQuery.row(buffer, offset, length);
    } catch (error) {
      this.#error = error;
    }
  }

  /** Asks for the next batch. */
  more(rows: number): void {
    if (this.#ended) return;
    this.#connection?.execute({ rows: String(rows) }, true);
    this.#connection?.flush();
  }

  /** Gives up the rows that are left. */
  stop(): void {
    if (this.#synced || this.#ended) return;
    this.#connection?.close({ type: 'P', name: '' }, true);
    this.#sync();
  }

  /** Ends it from outside. Its exchange is for the caller to settle. */
  abandon(): void {
    this.#ended = true;
  }

  handleCommandComplete(): void {
    this.#complete++;
    if (this.#complete === (this.#setsUp ? 2 : 1) + (this.begins ? 2 : 0)) this.#sync();
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete();
  }

  handlePortalSuspended(): void {
    if (this.#ended) return;
    if (this.#error === undefined) this.pendingQuery.suspended?.();
    else this.stop();
  }

  handleReadyForQuery(): void {
    this.#end(this.#error);
  }

  /** Nothing more is heard of a request that failed; `pg` waits for the server to be ready by itself. */
  handleError(error: unknown): void {
    if (error instanceof pg.DatabaseError) {
      this.#sync();
      this.#end(this.#error ?? this.#reasonOf(toServerError(error)));
    } else this.#lose(error);
  }

  /** A failure before the settings of the caller are complete is not one of the statement. */
  #reasonOf(error: ServerError): Error {
    if (!this.begins || this.#complete > 2 || error.fatal) return error;
    return new RowContextError(error);
  }

  handleRowDescription(): void {}

  handleDataRow(): void {}

  handleCopyInResponse(): void {
    this.#lose(new Error('COPY is not for this connection.'));
  }

  handleCopyData(): void {}

  /** True if settings go with it: for itself, or for the transaction that it begins. */
  get #setsUp(): boolean {
    const { part } = this.request;
    return part === undefined || part === 'begin';
  }

  #sync(): void {
    if (this.#synced) return;
    this.#synced = true;
    if (this.#connection !== undefined) this.#finish(this.#connection);
  }

  /** Ends the transaction in the same packet, as poolers by transaction want it. */
  #finish(connection: pg.Connection): void {
    if (this.begins) run(connection, 'COMMIT', [], 'text', undefined);
    connection.sync();
  }

  #end(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#owner.done(error);
  }

  #lose(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#owner.lost(error);
  }
}

/** Prepares a statement without a name and runs it, up to a number of rows. */
function run(
  connection: pg.Connection,
  text: string,
  values: readonly (string | null)[],
  format: 'text' | 'binary',
  rows: number | undefined,
): void {
  connection.parse({ name: '', text, types: [] }, true);
  connection.bind({ values: [...values], ...(format === 'binary' && { binary: format }) }, true);
  connection.execute(rows === undefined ? null : { rows: String(rows) }, true);
}

export function toServerError(error: pg.DatabaseError): ServerError {
  const { message, code, severity, detail, schema, table, column, constraint, dataType, routine, internalQuery } =
    error;
  const about = { s: schema, t: table, c: column, n: constraint, d: dataType, R: routine, q: internalQuery };
  const fields = Object.entries({ M: message, C: code, S: severity, D: detail, ...about });
  return new ServerError(new Map(fields.flatMap(([name, text]) => (text ? [[name, text] as const] : []))));
}
