/**
 * Prepared statements on a connection of the driver. The driver connects, signs in, encrypts and prepares. Running
 * statements and reading their answers bypasses it: it does more for each packet than reading a row needs.
 */

import { EventEmitter } from 'node:events';
import type { Connection, RowDataPacket } from 'mysql2';
import type { RowSink } from '../../../database/database.ts';
import { ConnectionError, ServerError } from '../../../database/errors.ts';
import { type Framing, MessageReader } from '../../../database/messages.ts';
import type { SentParameter } from '../../../database/parameter-forms.ts';
import { PreparedNames } from '../../../database/prepared.ts';
import { derivedOnce } from '../../../language/values/once.ts';
import { AnswerReader } from '../rows/answer-reader.ts';
import { maxPacketBytes, printExecute } from '../rows/execute-packet.ts';
import { toMysqlError } from './errors.ts';
import type { KnownColumns } from './known-columns.ts';
import { reuseMemory } from './options.ts';

/** Statements that are kept prepared on one connection. */
export const maxPrepared = 1_000;

/** A packet: its length in three bytes, its number, and so many bytes. */
const framing: Framing = {
  headSize: 4,
  sizeOf: (buffer, offset) =>
    4 + (buffer[offset] ?? 0) + (buffer[offset + 1] ?? 0) * 0x1_00 + (buffer[offset + 2] ?? 0) * 0x1_00_00,
};

interface StatementRun {
  readonly text: string;
  readonly parameters: readonly SentParameter[];
  readonly sink: RowSink;
  readonly onRow?: ((bytes: number) => void) | undefined;
  /** Called once, without an error when all rows were handed over. */
  settled(error?: unknown): void;
}

interface Prepared {
  readonly id: number;
  columns: KnownColumns | undefined;
}

/** The part of the driver that takes received bytes, which it looks for anew with every chunk. */
interface Receiver {
  execute(chunk: Buffer): void;
}

/** Waits for statements that other connections close for a new one, in milliseconds. */
const roomWaitsMs = [5, 20, 80] as const;

/** Bytes of a packet that every server takes. */
const alwaysTakenBytes = 65_536;

/** Lines of open connections: where the server has room for no more statements, all of them make room. */
const open = new Set<Line>();

export const lineOf = derivedOnce((connection: Connection): Line => new Line(connection));

/** Runs statements on one connection, one at a time, while the driver has nothing to do there. */
class Line implements Receiver {
  readonly #connection: Connection;
  readonly #driver: Driver;
  /** Takes answers to the driver. */
  readonly #receiver: Receiver;
  readonly #packets = new MessageReader((_kind, buffer, start, end) => this.#packet(buffer, start, end), framing);
  readonly #names = new PreparedNames(maxPrepared);
  readonly #prepared = new Map<string, Prepared>();
  #requested: StatementRun | undefined;
  #abandonOrder: ((error: ConnectionError) => void) | undefined;
  #statement: Prepared | undefined;
  #answer: AnswerReader | undefined;
  /** Tries at the run under way that found no room for a statement here, or a statement that the server had closed. */
  #waits = 0;
  #anew = false;
  /** Parts of a packet that goes on. */
  #parts: Buffer[] = [];
  /** Bytes of the longest packet that the server takes; infinity until a long one asks for it. */
  #maxBytes = Number.POSITIVE_INFINITY;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#driver = driverOf(connection);
    this.#receiver = this.#driver.packetParser;
    this.#driver.packetParser = this;
    reuseMemory(this.#driver.stream);
    open.add(this);
    const { stream } = this.#driver;
    if (stream instanceof EventEmitter) stream.once('close', () => open.delete(this));
    connection.on('error', (error: unknown) => this.#settle(toMysqlError(error)));
  }

  /** Runs a statement, which is prepared first where it was not before. */
  run(requested: StatementRun): void {
    this.#requested = requested;
    this.#waits = 0;
    this.#anew = false;
    const prepared = this.#prepared.get(requested.text);
    if (prepared === undefined) this.#prepare(requested);
    else {
      this.#names.use(requested.text);
      this.#send(requested, prepared);
    }
  }

  /** Runs a statement without rows by the driver, which forgets those of a connection that is closed. */
  order(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#abandonOrder = reject;
      this.#connection.query(text, (error) => {
        this.#abandonOrder = undefined;
        if (error) reject(toMysqlError(error));
        else resolve();
      });
    });
  }

  /** Ends the run under way of a connection that was closed. */
  abandon(error: ConnectionError): void {
    this.#abandonOrder?.(error);
    this.#settle(error);
  }

  /** Takes received bytes: an answer to us, or one to the driver. */
  execute(chunk: Buffer): void {
    if (this.#answer === undefined) {
      // The driver keeps incomplete packets, and the next chunk may come to stand in its place.
      this.#receiver.execute(Buffer.from(chunk));
      return;
    }
    try {
      this.#packets.feed(chunk);
    } catch (cause) {
      this.#connection.destroy();
      this.#settle(new ConnectionError('The database answers what cannot be understood.', { cause }));
    }
  }

  #prepare(query: StatementRun): void {
    const { text } = query;
    this.#connection.prepare(text, (error, statement) => {
      if (this.#requested !== query) return;
      if (error) {
        if (!isFull(error) || !this.#retry(query)) this.#settle(toMysqlError(error));
        return;
      }
      this.#close(this.#names.add(text, text.length));
      const prepared = { id: numberOf(statement), columns: undefined };
      this.#prepared.set(text, prepared);
      this.#send(query, prepared);
    });
  }

  /** Closes statements where the server has room for no more, and prepares again; false where there are none to close. */
  #retry(pending: StatementRun): boolean {
    if (this.#makeRoom()) {
      this.#prepare(pending);
      return true;
    }
    const wait = roomWaitsMs[this.#waits++];
    if (wait === undefined) return false;
    const others = [...open].filter((line) => line.#makeRoom());
    if (others.length === 0 && this.#waits === 1) return false;
    setTimeout(() => this.#requested === pending && this.#prepare(pending), wait);
    return true;
  }

  /** Closes half of the statements, after what is under way; false where there are none. */
  #makeRoom(): boolean {
    const closed = this.#names.evictHalf();
    this.#close(closed);
    return closed.length > 0;
  }

  #close(texts: readonly string[]): void {
    for (const text of texts) {
      this.#prepared.delete(text);
      this.#connection.unprepare(text);
    }
  }

  #send(pending: StatementRun, prepared: Prepared): void {
    const packet = printExecute(prepared.id, pending.parameters);
    if (packet.length > this.#maxBytes) {
      this.#settle(packetTooLong(this.#maxBytes));
    } else if (packet.length > alwaysTakenBytes && !Number.isFinite(this.#maxBytes)) {
      this.#readMaxBytes(pending, prepared);
    } else {
      this.#statement = prepared;
      this.#answer = new AnswerReader(pending.sink, prepared.columns, pending.onRow);
      this.#driver.write(packet);
    }
  }

  /** Asks how long a packet may be, then sends: over a longer one a server closes the connection without a reason. */
  #readMaxBytes(pending: StatementRun, prepared: Prepared): void {
    this.#connection.query<RowDataPacket[]>('SELECT @@max_allowed_packet AS bytes', (error, rows) => {
      if (this.#requested !== pending) return;
      if (error) return this.#settle(toMysqlError(error));
      this.#maxBytes = Number(rows[0]?.bytes);
      this.#send(pending, prepared);
    });
  }

  #packet(buffer: Buffer, start: number, end: number): void {
    const isPart = end - start === maxPacketBytes;
    if (isPart || this.#parts.length > 0) {
      this.#parts.push(Buffer.from(buffer.subarray(start, end)));
      if (isPart) return;
      const whole = Buffer.concat(this.#parts);
      this.#parts = [];
      this.#take(whole, 0, whole.length);
    } else this.#take(buffer, start, end);
  }

  #take(buffer: Buffer, start: number, end: number): void {
    const result = this.#answer;
    if (result === undefined) throw new Error('Received an answer without a request.');
    if (!result.readAnswer(buffer, start, end)) return;
    if (this.#statement !== undefined) this.#statement.columns = result.columns;
    if (isClosed(result.failure) && this.#prepareAnew()) return;
    this.#settle(result.failure);
  }

  /** Prepares a statement again that the server has closed, as a pooler between may have; once in a run. */
  #prepareAnew(): boolean {
    const sent = this.#requested;
    if (sent === undefined || this.#anew) return false;
    this.#anew = true;
    this.#answer = undefined;
    this.#statement = undefined;
    this.#names.delete(sent.text);
    this.#close([sent.text]);
    this.#prepare(sent);
    return true;
  }

  /** Ends the run under way, if there is one. */
  #settle(error: unknown): void {
    const expected = this.#requested;
    this.#requested = undefined;
    this.#answer = undefined;
    this.#statement = undefined;
    expected?.settled(error);
  }
}

/** The driver's own, which its types do not tell of. */
interface Driver {
  packetParser: Receiver;
  readonly stream?: unknown;
  /** Emits an error of the connection where that has ended. */
  write(bytes: Buffer): void;
}

/** Throws if the driver lacks an expected property. */
function driverOf(connection: Connection): Driver {
  const driver = connection as Connection & Partial<Driver>;
  if (driver.packetParser?.execute === undefined || driver.write === undefined) {
    throw new Error('The driver has no parser of packets.');
  }
  return driver as Driver;
}

/** Error of a statement with longer values than the server takes. */
function packetTooLong(maxBytes: number): ServerError {
  return new ServerError(
    new Map([
      ['C', '54000'],
      ['M', `The values of the statement are longer than a packet (max_allowed_packet, ${maxBytes} bytes).`],
    ]),
  );
}

/** True if the server keeps as many prepared statements as it may (`max_prepared_stmt_count`). */
function isFull(error: object): boolean {
  return Reflect.get(error, 'errno') === 1461;
}

/** True if the server does not know the prepared statement. */
function isClosed(failure: unknown): boolean {
  return failure instanceof ServerError && failure.sqlstate === '26000';
}

function numberOf(statement: object): number {
  const number: unknown = Reflect.get(statement, 'id');
  if (typeof number === 'number') return number;
  throw new Error('The driver tells no number of a statement.');
}
