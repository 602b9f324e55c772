/** Rows that are read as fast as somebody takes them, on a connection of their own. */
import type { PoolConnection } from 'mysql2';
import type { Parameter, RowSink, Statement } from '../database.ts';
import { ConnectionError, toDatabaseError } from '../errors.ts';
import { formParameters } from './parameters.ts';
import type { MysqlPool } from './pool.ts';
import { run } from './run.ts';

/** Rows between two looks at whoever takes them. */
const batch = 500;
/** How often it is looked whether the server still says something: so many times within the time that it may be silent. */
const looks = 8;

/** What a stream was asked for. */
export interface MysqlStream {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
  readonly sink: RowSink;
  readonly drained: () => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Runs a statement as a stream. The socket is not read while the reader is behind; a stream that is given up, or whose server
 * says nothing any more for as long as an answer may take, takes its connection along.
 */
export async function runMysqlStream(pool: MysqlPool, asked: MysqlStream): Promise<void> {
  const { statement, parameters, sink, drained, signal } = asked;
  signal.throwIfAborted();
  const connection = await pool.lease().catch((error: unknown) => {
    throw toDatabaseError(error);
  });
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  const abort = (): void => fail(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const flow = new Flow(connection, drained, fail, pool.answerTimeoutMs);
  try {
    const sent = formParameters(parameters, statement.forms);
    const running = run(connection, statement.text, sent, sink, () => flow.row());
    await Promise.race([running, failed]);
    pool.release(connection);
  } catch (error) {
    pool.destroy(connection);
    throw signal.aborted ? error : toDatabaseError(error);
  } finally {
    flow.end();
    signal.removeEventListener('abort', abort);
    failed.catch(() => {});
  }
}

/** Stops the connection while the reader is behind, and watches it while he is not. */
class Flow {
  readonly #connection: PoolConnection;
  readonly #drained: () => Promise<void>;
  readonly #fail: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout | undefined;
  #rows = 0;
  #waiting = false;
  /** Looks since the last row, or since the reader was behind. */
  #silent = 0;

  constructor(connection: PoolConnection, drained: () => Promise<void>, fail: (error: unknown) => void, ms: number) {
    this.#connection = connection;
    this.#drained = drained;
    this.#fail = fail;
    if (Number.isFinite(ms)) this.#timer = setInterval(() => this.#look(), ms / looks).unref();
  }

  /** A row was taken. More than a batch may come at once, of which the socket has read the bytes already. */
  row(): void {
    this.#rows += 1;
    this.#silent = 0;
    if (this.#rows < batch || this.#waiting) return;
    this.#rows = 0;
    this.#waiting = true;
    this.#connection.pause();
    this.#drained().then(() => this.#goOn(), this.#fail);
  }

  /** The last rows may have come while the reader was behind: the connection is to be read by whoever has it next. */
  end(): void {
    clearInterval(this.#timer);
    this.#goOn();
  }

  #goOn(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    this.#silent = 0;
    this.#connection.resume();
  }

  #look(): void {
    if (this.#waiting) return;
    this.#silent += 1;
    if (this.#silent > looks) this.#fail(new ConnectionError('No answer in time.'));
  }
}
