/** The body of an answer on its way: kept until the client takes it, and cut when that takes too long. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Transform, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { giveBack } from '../../json/byte-writer.ts';
import type { ClientBytes } from '../../limits/unsent.ts';
import type { RequestRecord } from '../../operate/request-record.ts';

interface OutgoingOptions {
  readonly response: ServerResponse;
  /** Target of the bytes: the response, or the stream that compresses them. */
  readonly out: Writable;
  readonly unsent: ClientBytes;
  /** Time that the client may take none of them, in milliseconds. */
  readonly stallMs: number;
  /** Counts the bytes that the client has taken. */
  readonly record?: RequestRecord | undefined;
}

/** Bytes that are handed on at once. A client that takes as many in `stallMs` is not cut. */
const sliceBytes = 65_536;

/** Bytes of one answer that are gathered while its client is slow, so that their source is free sooner. */
const maxBuffered = 512 * 1024;

/** Bytes of one answer that are gathered where there is no room. */
const minBuffered = 131_072;

/** Ends an answer that lacks its rest. By HTTP/1.0 a connection that ends has given all, unless it is reset. */
export function breakOff(response: ServerResponse): void {
  if (response.req.httpVersionMinor === 0 && response.socket !== null) reset(response.socket);
  response.destroy();
}

/** Ends a connection by a reset, unless its end is under way: Node cannot do both. */
export function reset(socket: Socket): void {
  if (!socket.writableEnded) socket.resetAndDestroy();
}

/** A body that is written in chunks, each of which was taken from a `ByteWriter`. */
export class Outgoing {
  readonly #options: OutgoingOptions;
  readonly #chunks: Buffer[] = [];
  /** Runs while something waits for the client. */
  #timer: NodeJS.Timeout | undefined;
  #position = 0;
  #counted = 0;
  #writing = false;
  #ended = false;
  #closed = false;
  #goOn: (() => void) | undefined;

  constructor(options: OutgoingOptions) {
    this.#options = options;
    const { response } = options;
    response.once('close', () => this.#close());
    if (response.destroyed) this.#close();
  }

  /** Takes a chunk. Undefined if more may come at once; else resolves when it may, or when the client has gone. */
  push(chunk: Buffer): Promise<void> | undefined {
    this.#take(chunk);
    if (this.#closed || this.#mayGather()) return undefined;
    return new Promise((resolve) => {
      this.#goOn = resolve;
    });
  }

  /** Takes the last chunk. It is sent, and the answer with it ended, in the background. */
  end(chunk: Buffer): void {
    this.#ended = true;
    this.#take(chunk);
    if (!this.#writing) this.#write();
  }

  #mayGather(): boolean {
    const { unsent } = this.#options;
    if (this.#counted < minBuffered) return true;
    return this.#counted < maxBuffered && unsent.hasRoom();
  }

  #take(chunk: Buffer): void {
    if (this.#closed || chunk.length === 0) return;
    this.#options.unsent.add(chunk.length);
    this.#counted += chunk.length;
    this.#chunks.push(chunk);
    if (!this.#writing) this.#write();
  }

  #write(): void {
    const { out, response, stallMs } = this.#options;
    const [chunk] = this.#chunks;
    if (chunk === undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      if (this.#ended && !out.destroyed && !out.writableEnded) out.end();
      return;
    }
    this.#writing = true;
    if (this.#timer === undefined) this.#timer = setTimeout(breakOff, stallMs, response).unref();
    else this.#timer.refresh();
    const slice = chunk.subarray(this.#position, this.#position + sliceBytes);
    out.write(slice, (error) => {
      this.#writing = false;
      if (error == null && !this.#closed) this.#sent(chunk, slice.length);
    });
  }

  #sent(chunk: Buffer, bytes: number): void {
    this.#position += bytes;
    this.#counted -= bytes;
    this.#options.unsent.add(-bytes);
    if (this.#options.record !== undefined) this.#options.record.bytes += bytes;
    if (this.#position === chunk.length) {
      this.#chunks.shift();
      this.#position = 0;
      giveBack(chunk);
    }
    if (this.#mayGather()) this.#wake();
    this.#write();
  }

  #wake(): void {
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
  }

  /** Drops unsent chunks. The chunk being written may still be in use, so its memory is not returned. */
  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#options.unsent.add(-this.#counted);
    this.#counted = 0;
    this.#chunks.length = 0;
    this.#wake();
  }
}

/** A content coding this server makes. */
export type Encoding = 'br' | 'gzip';

/** Bytes below which compressing costs more than it saves. */
export const smallestCompressed = 1024;

/** Cheap settings: answers are made once and read once. */
const gzipOptions = { level: 4 };
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const gzipBytes = promisify(gzip);
const brotliBytes = promisify(brotliCompress);

/** Picks the coding the client likes best, Brotli among equals; null: the answer is sent as it is. */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding | null {
  if (acceptEncoding === undefined) return null;
  const weights = readWeights(acceptEncoding);
  const brotli = weights.get('br') ?? weights.get('*') ?? 0;
  const zip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  if (brotli === 0 && zip === 0) return null;
  return brotli >= zip ? 'br' : 'gzip';
}

/** Compresses a whole body off the main thread. */
export function compress(encoding: Encoding, body: Buffer): Promise<Buffer> {
  return encoding === 'br' ? brotliBytes(body, brotliOptions) : gzipBytes(body, gzipOptions);
}

/** Makes the stream through which a body of unknown length is sent. */
export function createCompressor(encoding: Encoding): Transform {
  return encoding === 'br' ? createBrotliCompress(brotliOptions) : createGzip(gzipOptions);
}

export function readWeights(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of acceptEncoding.split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    weights.set(coding, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  return weights;
}
