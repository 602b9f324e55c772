/** A parameter in the text form of its type, or null. Every parameter is cast in the statement, so its type is fixed. */
export type Parameter = string | null;

/** A statement of fixed text, prepared once per connection under its name. All result columns arrive in binary. */
export interface Statement {
  /** Short and unique per text: `r_` and a hash. */
  readonly name: string;
  readonly text: string;
}

/**
 * Receives the rows of one statement as protocol bytes.
 *
 * `offset` points at the first column's length (4 bytes, -1 for null, then the value) of a DataRow; `length` counts the
 * bytes from there. The buffer is only valid during the call.
 */
export interface RowSink {
  row(buffer: Buffer, offset: number, length: number): void;
  /** There are no more rows. Called by `read` before anything else is received, so that memory is free for the next. */
  end?(): void;
}

/** A database that runs compiled statements. Errors reject with `PlatformError` (see `errors.ts`). */
export interface Database {
  /** Runs one statement to its end, pipelined with others on a shared connection. */
  read(statement: Statement, parameters: readonly Parameter[], sink: RowSink): Promise<void>;
  /**
   * Runs one statement on a connection of its own in batches of rows: after each batch `drained` is awaited before the
   * next is asked for, so memory stays flat however slow the reader is. Aborting the signal ends it in the database.
   */
  stream(
    statement: Statement,
    parameters: readonly Parameter[],
    sink: RowSink,
    drained: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Runs a small query of our own and returns its rows as text values. For start, drift and health; not for requests. */
  query(text: string, parameters: readonly Parameter[]): Promise<readonly (readonly (string | null)[])[]>;
  /** Waits for statements under way, at most `graceMs`, then closes every connection. */
  close(graceMs: number): Promise<void>;
}
