/**
 * Rows of one statement in batches: the next batch is asked for when the reader has taken the last one, so the server
 * keeps the rest and memory stays flat on both sides.
 */
import type { Parameter, RowSink, Statement } from '../database.ts';
import { ConnectionError } from '../errors.ts';
import type { Exchange } from '../protocol/request.ts';
import type { Channel } from './channel.ts';

/** Bytes a batch should have: enough to be worth a round trip, little enough to keep. */
const batchBytes = 262_144;
const firstRows = 64;
const mostRows = 4_096;

/** What ended a batch: the portal may have more rows, or the statement is complete. */
type Batch = 'more' | 'done';

/** One statement run in batches on a connection that nobody else uses. */
export class Portal implements Exchange {
  /** Rows delivered so far. */
  rows = 0;
  readonly #connection: Channel;
  readonly #sink: RowSink;
  #batchRows = 0;
  #batchSize = 0;
  #running = false;
  #ended = false;
  #settle: PromiseWithResolvers<Batch> = Promise.withResolvers();

  constructor(connection: Channel, sink: RowSink) {
    this.#connection = connection;
    this.#sink = sink;
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
    this.#connection.open({ ...statement, parameters }, firstRows, this);
    return this.#settle.promise;
  }

  /** Asks for the next batch, sized by the rows so far, and resolves at its end. */
  next(): Promise<Batch> {
    const rows = Math.round((batchBytes * this.#batchRows) / Math.max(this.#batchSize, 1));
    return this.#continue(() => this.#connection.more(Math.min(Math.max(rows, 1), mostRows)));
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
    this.#batchRows++;
    this.#batchSize += length;
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
    this.#batchRows = 0;
    this.#batchSize = 0;
    this.#settle = Promise.withResolvers();
    ask();
    return this.#settle.promise;
  }
}
