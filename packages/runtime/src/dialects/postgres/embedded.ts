/** The embedded database: PGlite, PostgreSQL compiled to WebAssembly, in this process and spoken to in the same protocol. */
import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises';
import { BatchSize } from '../../database/batch-size.ts';
import type {
  Database,
  Outcome,
  Parameter,
  ReadClient,
  RowSink,
  Statement,
  Transaction,
} from '../../database/database.ts';
import { ConnectionError, throwIfAborted, toDatabaseError } from '../../database/errors.ts';
import { leftError } from '../../database/waits.ts';
import { PlatformError } from '../../errors.ts';
import { lockEmbedded } from '../embedded-lock.ts';
import type { EmbeddedDatabase } from '../server-dialect.ts';
import { Attempt } from './driver/attempt.ts';
import { sessionSql } from './driver/options.ts';
import { Read, readTexts } from './driver/read.ts';
import { embeddedExtensions } from './pglite.ts';
import { Connection } from './protocol/connection.ts';
import type { Request } from './protocol/request.ts';
import { withSettings } from './row-security.ts';

const session = { statementTimeoutMs: 0, applicationName: 'platform', readOnly: false };
const preparedLimit = 1_000;

/** Milliseconds of an exchange, in which the process hears nothing, that has reads after it wait until it has. */
const longMs = 20;
/** Rounds of the event loop in which the end of a client's connection is heard. */
const hearingRounds = 5;

/**
 * Opens an embedded database: a data directory (made when it does not exist), or a running instance. That one stays
 * open when the database is closed.
 *
 * There is one session for everything, so it is not read-only, and statements have no timeout. A stream keeps its rows
 * in a held cursor instead of keeping the session to itself.
 */
export async function connectPglite(source: string | EmbeddedDatabase): Promise<Database> {
  const { embedded, close } =
    typeof source === 'string' ? await startPglite(source) : { embedded: source, close: async () => {} };
  await embedded.exec(sessionSql(session));
  const conversation = new Conversation(embedded);
  const read: ReadRequest = (request, sink) => conversation.read(request, sink);
  return {
    read: (statement, parameters, sink, client) =>
      conversation.read({ ...requestOf(statement), parameters }, sink, client),
    stream: (statement, parameters, sink, drained, signal) =>
      streamCursor(read, statement, parameters, { sink, drained, signal }),
    transaction: (work) => conversation.transaction(work),
    briefTransaction: (work) => conversation.transaction(async (transaction) => ({ value: await work(transaction) })),
    query: (text, parameters, observer) => readTexts(read, text, parameters, observer),
    close: async (graceMs) => {
      await conversation.close(graceMs);
      await close();
    },
  };
}

/** A directory on disk is locked while it is open; a name with a scheme, such as `memory://`, is no such directory. */
async function startPglite(
  directory: string,
): Promise<{ readonly embedded: EmbeddedDatabase; close(): Promise<void> }> {
  const release = directory.includes('://') ? () => {} : lockEmbedded(directory);
  try {
    const { PGlite } = await importPglite();
    const embedded = await PGlite.create(directory, { extensions: await embeddedExtensions() });
    return { embedded, close: () => embedded.close().finally(release) };
  } catch (cause) {
    release();
    const error = new ConnectionError(`Cannot open the embedded database in ${directory}: ${String(cause)}`, { cause });
    throw toDatabaseError(error);
  }
}

/** PGlite comes with the package `tablewright`: a server that has a database of its own does without it. */
async function importPglite(): Promise<typeof import('@electric-sql/pglite')> {
  try {
    return await import('@electric-sql/pglite');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    const advice = 'Set DATABASE_URL, or install the package tablewright and run `platform start`.';
    throw new Error(`@electric-sql/pglite is not installed. ${advice}`, { cause: error });
  }
}

class Conversation {
  readonly #embedded: EmbeddedDatabase;
  readonly #connection: Connection;
  #closing = false;
  #transactions = 0;
  /** Sinks of reads that wait for the end of a transaction. */
  #unsent: RowSink[] = [];
  /** True if the last exchange took long. */
  #isLong = false;
  #lastHeard: Promise<unknown> = Promise.resolve();

  constructor(embedded: EmbeddedDatabase) {
    this.#embedded = embedded;
    const link = { write: (bytes: Buffer) => void this.#exchange(bytes), destroy: () => {} };
    this.#connection = new Connection(link, preparedLimit, () => {});
  }

  /** Reads after a long exchange begin one after the other, each when the process has heard who has left meanwhile. */
  read(request: Request, sink: RowSink, client?: ReadClient): Promise<void> {
    if (!this.#isLong) return this.#read(request, sink);
    const read = this.#lastHeard.then(hear).then(() => {
      const left = leftError(client);
      return left === undefined ? this.#read(request, sink) : Promise.reject(toDatabaseError(left));
    });
    this.#lastHeard = read.catch(() => undefined);
    return read;
  }

  #read(request: Request, sink: RowSink): Promise<void> {
    if (this.#closing) return Promise.reject(new PlatformError('SERVICE_UNAVAILABLE'));
    return new Promise((resolve, reject) => {
      const again = (read: Read): void => this.#connection.send(request, read);
      const done = (error: unknown): void => (error === undefined ? resolve() : reject(error));
      this.#unsent.push(sink);
      again(new Read(request, sink, again, done));
    });
  }

  /** Keeps the session to itself until the end, so that other requests, which wait, read no uncommitted rows. */
  async transaction<T>(work: (transaction: Transaction) => Promise<Outcome<T>>): Promise<T> {
    if (this.#closing) throw new PlatformError('SERVICE_UNAVAILABLE');
    this.#transactions++;
    try {
      const { value } = await this.#embedded.runExclusive(() => {
        // Names of statements belong to the session, where the other connection has its own.
        const attempt = new Attempt(this.#exclusive(), Number.POSITIVE_INFINITY, false);
        return attempt.execute(work);
      });
      return value;
    } finally {
      this.#transactions--;
    }
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const end = performance.now() + graceMs;
    while ((this.#connection.inFlight > 0 || this.#transactions > 0) && performance.now() < end) await sleep(5);
    this.#connection.fail(new ConnectionError('The database was closed.'));
  }

  #exclusive(): Connection {
    let sent = Promise.resolve();
    const write = (bytes: Buffer): void => {
      sent = sent.then(() => this.#embedded.execProtocolRaw(bytes)).then(received, (error) => connection.fail(error));
    };
    const received = (result: Uint8Array): void =>
      connection.receive(Buffer.from(result.buffer, result.byteOffset, result.byteLength));
    const connection: Connection = new Connection({ write, destroy: () => {} }, preparedLimit, () => {});
    return connection;
  }

  /** Sends whole requests and receives whole answers, so that messages of other requests do not get in between. */
  async #exchange(bytes: Buffer): Promise<void> {
    const sinks = this.#unsent;
    this.#unsent = [];
    try {
      const response = await this.#embedded.runExclusive(() => {
        const now = performance.now();
        for (const sink of sinks) sink.sent?.(now);
        const answered = this.#embedded.execProtocolRaw(bytes, { syncToFs: false });
        return answered.finally(() => {
          this.#isLong = performance.now() - now > longMs;
        });
      });
      this.#connection.receive(Buffer.from(response.buffer, response.byteOffset, response.byteLength));
    } catch (error) {
      this.#connection.fail(error);
    }
  }
}

async function hear(): Promise<void> {
  for (let round = 0; round < hearingRounds; round++) await nextRound();
}

/** The session also writes, so that what may only read says so to the transaction it runs in. */
function requestOf({ name, text, runsAs, readOnly }: Statement): Omit<Request, 'parameters'> {
  const acting = readOnly === true ? withSettings(runsAs, 'reading', { transaction_read_only: 'on' }) : runsAs;
  return { name, text, ...(acting && { runsAs: acting }), ...(readOnly && { readOnly }) };
}

type ReadRequest = (request: Request, sink: RowSink) => Promise<void>;

interface Reader {
  readonly sink: RowSink;
  readonly drained: () => Promise<void>;
  readonly signal: AbortSignal;
}

let cursors = 0;

/** Streams from a cursor that outlives its transaction: the session is free for others while the reader is slow. */
async function streamCursor(
  read: ReadRequest,
  statement: Statement,
  parameters: readonly Parameter[],
  { sink, drained, signal }: Reader,
): Promise<void> {
  const cursor = `platform_${++cursors}`;
  const nothing = { row: () => {} };
  throwIfAborted(signal);
  const declare = `DECLARE ${cursor} NO SCROLL CURSOR WITH HOLD FOR ${statement.text}`;
  await read({ ...requestOf({ ...statement, name: '', text: declare }), parameters }, nothing);
  try {
    const size = new BatchSize();
    for (let rows = size.requested; (await readBatch(read, fetchOf(cursor, rows), sink, size)) === rows; ) {
      await drained();
      throwIfAborted(signal);
      rows = size.next();
    }
  } finally {
    await read({ name: '', text: `CLOSE ${cursor}`, parameters: [] }, nothing);
  }
}

function fetchOf(cursor: string, rows: number): Request {
  return { name: '', text: `FETCH FORWARD ${rows} FROM ${cursor}`, parameters: [] };
}

async function readBatch(read: ReadRequest, fetch: Request, sink: RowSink, size: BatchSize): Promise<number> {
  let rows = 0;
  await read(fetch, {
    row: (buffer, offset, length) => {
      rows++;
      size.row(length);
      sink.row(buffer, offset, length);
    },
  });
  return rows;
}
