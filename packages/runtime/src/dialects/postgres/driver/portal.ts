/**
 * Rows of one statement in batches: the next batch is asked for when the reader has taken the last one. So the server
 * keeps the rest, and memory stays flat on both sides.
 */
import { BatchSize } from '../../../database/batch-size.ts';
import type { Parameter, RowSink, Statement } from '../../../database/database.ts';
import { ConnectionError } from '../../../database/errors.ts';
import type { PendingQuery } from '../protocol/request.ts';
import type { Channel } from './channel.ts';

/** End of a batch: the portal may have more rows, or the statement is complete. */
type Batch = 'more' | 'done';

/** One statement run in batches on a connection for exclusive use. */
export class Portal implements PendingQuery {
  /** Rows delivered so far. */
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
