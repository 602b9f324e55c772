/** The log: JSON lines on the standard output, never a token, a query string or a value of a request. */

import { fstatSync, writeSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { FastifyServerOptions } from 'fastify';
import type { Environment } from '../environment.ts';
import { fixedMessage, isClientGone, PlatformError } from '../errors.ts';
import { pathOf, requestRecord } from './request-record.ts';

/** The part of a logger this server uses. */
export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** True if lines of the level `info` are written. */
export function logsInfo({ logLevel }: Pick<Environment, 'logLevel'>): boolean {
  return logLevel === 'info' || logLevel === 'debug' || logLevel === 'trace';
}

/** Settings of the framework's logger. */
export function loggerOptions(environment: Environment): NonNullable<FastifyServerOptions['logger']> {
  if (environment.logLevel === 'silent') return false;
  // The framework's own lines may describe a request: by its method and path, the rest can hold secrets.
  return { level: environment.logLevel, base: null, serializers: { req: describeRequest }, stream: logLines };
}

/**
 * Writes the line of a failed answer: faults of the service loudly, those of the client for debugging only. A client that
 * has left gets none, and its request has a line of its own. Texts of
 * errors may name what a client sent, so only the fixed text of their code is written. The request's record gets the
 * code.
 */
export function logFailure(log: Log, request: IncomingMessage, error: PlatformError): void {
  const { [requestRecord]: record } = request;
  if (record !== undefined) record.errors = [...(record.errors ?? []), error.code];
  if (error.status < 500 || isClientGone(error)) {
    log.debug({ ...describeFailed(request), code: error.code }, fixedMessage(error.code));
    return;
  }
  const bug = error.code === 'INTERNAL_SERVER_ERROR';
  const details = { ...describeFailed(request), code: error.code, cause: describeCause(error.cause ?? error, bug) };
  if (bug) log.error(details, fixedMessage(error.code));
  else log.warn(details, fixedMessage(error.code));
}

/** Describes a thrown value by its message, code and cause; with the stack, which only bugs need. */
export function describeCause(thrown: unknown, withStack = false, depth = 0): object {
  if (!(thrown instanceof Error)) return { message: textOf(thrown) };
  const code = 'code' in thrown ? thrown.code : 'sqlstate' in thrown ? thrown.sqlstate : undefined;
  const details = {
    message: safeMessage(thrown),
    ...(code === undefined ? {} : { code: textOf(code) }),
    ...(withStack ? { stack: stackOf(thrown) } : {}),
  };
  return thrown.cause === undefined || depth === 4
    ? details
    : { ...details, cause: describeCause(thrown.cause, withStack, depth + 1) };
}

/** The text of a thrown value: some objects have none, and throw where it is looked for. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return `A value without a text (${typeof thrown}).`;
  }
}

/** SQLSTATE classes of errors about values, whose texts quote them; PL/pgSQL and unknown errors may do so as well. */
const quotesValues = /^(?:2[23]|38|44|P0|HY|45)/;

/** The text of an error without values of a request. */
function safeMessage(error: Error): string {
  if (error instanceof PlatformError) return fixedMessage(error.code);
  const isOfValue = 'sqlstate' in error && quotesValues.test(String(error.sqlstate));
  return isOfValue ? 'The database refused a value.' : error.message;
}

/** The stack, which begins with the text of the error. */
function stackOf(error: Error): string | undefined {
  return error.stack?.replace(error.message, () => safeMessage(error));
}

function describeFailed(request: IncomingMessage) {
  const { [requestRecord]: record } = request;
  return { ...describeRequest(request), ...(record !== undefined && { requestId: record.id }) };
}

function describeRequest({ method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>) {
  return { method, path: pathOf(url) };
}

const standardOutput = 1;
const standardError = 2;
/** So many bytes reach a pipe in one piece, where other processes write to it. */
const chunkBytes = process.send === undefined ? 65_536 : 4_096;
/** Milliseconds that a line waits at most for others. */
const delayMs = 10;
/** Milliseconds until a full pipe is tried again. */
const pauseMs = 5;
/** Bytes that wait at most for a slow reader: up to the first, lines of requests are taken, and all others up to the second. */
const maxRequestBytes = 4 * 1024 ** 2;
const maxBytes = 16 * 1024 ** 2;
/** Milliseconds that a process which ends waits for the reader. */
const endMs = 2_000;

/** Prints lines that have waited: each is added with its end. */
export type PrintLines = (add: (line: string) => void) => void;

/** Output of the lines of a process. */
class LogLines {
  /** Printers of lines that wait. */
  readonly #gathered = new Set<PrintLines>();
  /** Lines that were printed. */
  #text = '';
  /** Their bytes when they are written. */
  #chunk = Buffer.allocUnsafe(chunkBytes);
  #length = 0;
  /** Bytes that the reader had no room for. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  #isFirst = true;

  /** Writes a line with its end, if the reader has room for it now. */
  write(line: string): void {
    this.#print();
    if (this.#waitingBytes >= maxBytes) this.#dropped++;
    else this.#add(line);
    this.#flush();
  }

  /** Has lines of requests printed after a moment and before every other line, or at once. */
  gather(print: PrintLines, isFull = false): void {
    if (this.#isFirst) this.#begin();
    this.#gathered.add(print);
    if (isFull) this.#print();
    this.#timer ??= this.#later(delayMs);
  }

  #print(): void {
    for (const print of this.#gathered) {
      this.#gathered.delete(print);
      print(this.#addOfRequest);
    }
  }

  readonly #addOfRequest = (line: string): void => {
    if (this.#waitingBytes >= maxRequestBytes) this.#dropped++;
    else this.#add(line);
  };

  #add(line: string): void {
    if (this.#isFirst) this.#begin();
    if (this.#text.length + line.length > chunkBytes) this.#flush();
    this.#text += line;
  }

  /** Makes bytes of the gathered lines: of all together, which costs less than one by one, unless they have no room then. */
  #encode(): void {
    const text = this.#text;
    this.#text = '';
    if (Buffer.byteLength(text) <= chunkBytes) this.#length = this.#chunk.write(text);
    else for (const line of text.split(/(?<=\n)/)) this.#wait(Buffer.from(line));
  }

  #begin(): void {
    this.#isFirst = false;
    const output = fstatSync(standardOutput);
    // A write to a full pipe fails then, and does not wait: Node has it so from the first use of the stream on.
    if (output.isFIFO() || output.isSocket()) void process.stdout;
    process.once('exit', () => this.#end());
  }

  #later(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, ms).unref();
  }

  /** Writes what was taken, as far as the reader has room. */
  #flush(): void {
    this.#print();
    this.#encode();
    if (this.#waiting.length === 0) {
      if (this.#length === 0) return;
      const written = this.#send(this.#chunk.subarray(0, this.#length));
      if (written < this.#length) this.#wait(Buffer.from(this.#chunk.subarray(written, this.#length)));
    } else {
      if (this.#length > 0) this.#wait(Buffer.from(this.#chunk.subarray(0, this.#length)));
      this.#sendWaiting();
    }
    this.#length = 0;
    if (this.#waiting.length === 0 && this.#dropped > 0) this.#tellDropped();
    if (this.#waiting.length > 0) this.#timer ??= this.#later(pauseMs);
  }

  #wait(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #sendWaiting(): void {
    for (let [bytes] = this.#waiting; bytes !== undefined; [bytes] = this.#waiting) {
      const written = this.#send(bytes);
      this.#waitingBytes -= written;
      if (written === bytes.length) this.#waiting.shift();
      else {
        this.#waiting[0] = bytes.subarray(written);
        return;
      }
    }
  }

  /** Writes bytes, and gives how many were taken. Those that cannot be written at all, as on a full disk, count as dropped. */
  #send(bytes: Buffer): number {
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(standardOutput, bytes, written);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return written;
      this.#dropped += linesIn(bytes.subarray(written));
    }
    return bytes.length;
  }

  #tellDropped(): void {
    const lines = this.#dropped;
    this.#dropped = 0;
    const bytes = Buffer.from(
      `{"level":40,"time":${Date.now()},"event":"lines-dropped","lines":${lines},` +
        '"msg":"Lines of the log were dropped, because it is read too slowly."}\n',
    );
    const written = this.#send(bytes);
    if (this.#dropped > 0) this.#dropped = lines;
    else if (written < bytes.length) this.#wait(bytes.subarray(written));
  }

  /** Waits for the reader for a moment, and tells elsewhere what it has not taken. */
  #end(): void {
    const end = performance.now() + endMs;
    this.#flush();
    while (this.#waiting.length > 0 && performance.now() < end) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
      this.#flush();
    }
    const lost = this.#waiting.reduce((sum, bytes) => sum + linesIn(bytes), this.#dropped);
    if (lost === 0) return;
    try {
      writeSync(standardError, `${lost} lines of the log are lost, because they were not read.\n`);
    } catch {
      // The standard error may be closed as well.
    }
  }
}

function linesIn(bytes: Buffer): number {
  return bytes.reduce((sum, byte) => (byte === 0x0a ? sum + 1 : sum), 0);
}

/**
 * Lines of the log on the standard output. Those of requests are gathered for a moment: for a busy server a write costs
 * more than all else about a line. All others are written at once, after those that came before.
 *
 * A reader that is slow delays no request. Lines wait for it, and those for which there is no room are counted and
 * told.
 */
export const logLines = new LogLines();
