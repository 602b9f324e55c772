/** Requests to a connection, and the receivers of their answers. */
import type { Parameter, Statement } from '../../../database/database.ts';
import type { ResultFormat } from './encode.ts';

/** Receiver of the answer to a request. `settled` is called exactly once, last. */
export interface PendingQuery {
  /** One row; see `RowSink.row`. */
  row(buffer: Buffer, offset: number, length: number): void;
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
   * next request must follow one that begins at once, and one that ends is none until the server confirms that none is
   * left.
   */
  readonly part?: 'begin' | 'within' | 'end';
}
