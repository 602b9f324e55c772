/** Rows that are read as fast as the reader takes them, on a connection of their own. */
import type { PoolConnection } from 'mysql2';
import { type Parameter, type RowSink, SignalClient, type Statement } from '../../../database/database.ts';
import {
  abortError,
  ConnectionError,
  statementTimeout,
  throwIfAborted,
  toDatabaseError,
} from '../../../database/errors.ts';
import { formParameters } from '../../../database/parameter-forms.ts';
import type { MysqlPool } from './pool.ts';
import { run } from './run.ts';

/** Bytes between two checks of the reader. */
const batchBytes = 262_144;
/** Number of looks for a sign of the server within the time that it may be silent. */
const looks = 8;

interface MysqlStream {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
  readonly sink: RowSink;
  readonly drained: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** Runs a statement as a stream, whose socket waits for its reader. Given up or silent, its connection goes too. */
export async function runMysqlStream(pool: MysqlPool, requested: MysqlStream): Promise<void> {
  const { statement, parameters, sink, drained, signal } = requested;
  throwIfAborted(signal);
  const isPublic = statement.isPublic === true;
  const { connection, end } = await pool.leaseForStream(isPublic, new SignalClient(signal)).catch((error: unknown) => {
    throw toDatabaseError(error);
  });
  sink.sent?.(performance.now());
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  const abort = (): void => fail(abortError(signal));
  signal.addEventListener('abort', abort, { once: true });
  const isShort = isPublic && pool.publicTimeoutMs < pool.answerTimeoutMs;
  const silence = isShort
    ? { ms: pool.publicTimeoutMs, error: statementTimeout }
    : { ms: pool.answerTimeoutMs, error: () => new ConnectionError('No answer in time.') };
  const flow = new Flow(connection, drained, fail, silence);
  try {
    const sent = formParameters(parameters, statement.forms);
    const running = run(connection, statement.text, sent, sink, (bytes) => flow.row(bytes));
    await Promise.race([running, failed]);
    pool.release(connection);
  } catch (error) {
    pool.abandon(connection);
    throw toDatabaseError(error);
  } finally {
    end();
    flow.end();
    signal.removeEventListener('abort', abort);
    failed.catch(() => {});
  }
}

/** Time that the server may be silent, and the error after it. */
interface Silence {
  readonly ms: number;
  readonly error: () => Error;
}

/** Stops the connection while the reader is behind, and watches it while he is not. */
class Flow {
  readonly #connection: PoolConnection;
  readonly #drained: () => Promise<void>;
  readonly #fail: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #late: () => Error;
  #bytes = 0;
  #waiting = false;
  /** Looks since the last row, or since the reader was behind. */
  #silent = 0;

  constructor(
    connection: PoolConnection,
    drained: () => Promise<void>,
    fail: (error: unknown) => void,
    silence: Silence,
  ) {
    this.#connection = connection;
    this.#drained = drained;
    this.#fail = fail;
    const { ms, error } = silence;
    this.#late = error;
    if (Number.isFinite(ms)) this.#timer = setInterval(() => this.#look(), ms / looks).unref();
  }

  /** A row was taken. More than a batch may come at once, of which the socket has read the bytes already. */
  row(bytes: number): void {
    this.#bytes += bytes;
    this.#silent = 0;
    if (this.#bytes < batchBytes || this.#waiting) return;
    this.#bytes = 0;
    this.#waiting = true;
    this.#connection.pause();
    this.#drained().then(() => this.#goOn(), this.#fail);
  }

  /** The last rows may have come while the reader lagged: the next user of the connection must be able to read. */
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
    if (this.#silent > looks) this.#fail(this.#late());
  }
}
