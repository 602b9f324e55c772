/**
 * Messages from the server: cutting the byte stream into messages, and the fields of an error.
 *
 * Source of the default: documentation of the server, "Frontend/Backend Protocol", "Message Formats".
 */

import { Socket } from 'node:net';
import { int32 } from '../json/bytes.ts';

/** First byte of each kind of message that is distinguished here. */
export const kinds = {
  parseComplete: 49,
  closeComplete: 51,
  commandComplete: 67,
  dataRow: 68,
  error: 69,
  copyIn: 71,
  copyBoth: 87,
  ready: 90,
  portalSuspended: 115,
} as const;

/** Receives one message: its body stands in `buffer` from `start` up to `end`, and only during the call. */
type MessageHandler = (kind: number, buffer: Buffer, start: number, end: number) => void;

/** Division of a stream of bytes into messages. */
export interface Framing {
  /** Bytes in front of a message's body, which begin with its kind and tell its length. */
  readonly headSize: number;
  /** Bytes of the whole message that starts at `offset`. Throws where there can be none such. */
  sizeOf(buffer: Buffer, offset: number): number;
}

/** Messages with a kind, and the length of the rest. */
const kindFraming: Framing = { headSize: 5, sizeOf: messageSize };

/** Bytes of a message that was split whose memory is kept for the next: memory for each would keep the collector busy. */
const keptSize = 65_536;

/** Cuts chunks into messages. Messages inside one chunk are not copied; one split over several is put together once. */
export class MessageReader {
  readonly #handle: MessageHandler;
  readonly #framing: Framing;
  /** Memory of the message under way: its head until the length is known, then room for all of it. */
  #partial: Buffer = Buffer.alloc(0);
  /** Bytes that it has to have, as far as that is known. */
  #size = 0;
  #filled = 0;

  /** `framing` is that of the server; default: a kind, and the length of the rest. */
  constructor(handle: MessageHandler, framing = kindFraming) {
    this.#handle = handle;
    this.#framing = framing;
  }

  /** Takes the next bytes of the stream. Throws when they cannot be messages. */
  feed(chunk: Buffer): void {
    const { headSize, sizeOf } = this.#framing;
    let offset = this.#filled > 0 ? this.#resume(chunk) : 0;
    while (offset + headSize <= chunk.length) {
      const end = offset + sizeOf(chunk, offset);
      if (end > chunk.length) break;
      this.#handle(chunk[offset] ?? 0, chunk, offset + headSize, end);
      offset = end;
    }
    if (offset === chunk.length) return;
    this.#expect(chunk.length - offset < headSize ? headSize : sizeOf(chunk, offset));
    this.#fill(chunk, offset);
  }

  /** Completes the message under way if the chunk has its end; returns where the next message starts. */
  #resume(chunk: Buffer): number {
    const { headSize, sizeOf } = this.#framing;
    let offset = 0;
    if (this.#filled < headSize) {
      offset = this.#fill(chunk, 0);
      if (this.#filled < headSize) return offset;
      this.#expect(sizeOf(this.#partial, 0));
    }
    offset = this.#fill(chunk, offset);
    if (this.#filled < this.#size) return offset;
    const message = this.#partial;
    this.#filled = 0;
    if (message.length > keptSize) this.#partial = Buffer.alloc(0);
    this.#handle(message[0] ?? 0, message, headSize, this.#size);
    return offset;
  }

  /** Copies bytes into the message under way until it has all of them; returns where the chunk goes on. */
  #fill(chunk: Buffer, offset: number): number {
    const end = Math.min(chunk.length, offset + this.#size - this.#filled);
    chunk.copy(this.#partial, this.#filled, offset, end);
    this.#filled += end - offset;
    return end;
  }

  /** Makes room for a message of so many bytes. */
  #expect(size: number): void {
    this.#size = size;
    if (this.#partial.length >= size) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#partial.length));
    this.#partial.copy(larger, 0, 0, this.#filled);
    this.#partial = larger;
  }
}

function messageSize(buffer: Buffer, offset: number): number {
  const length = int32(buffer, offset + 1);
  if (length < 4) throw new Error(`A message of the database claims a length of ${length} bytes.`);
  return length + 1;
}

/** Reads the fields of an ErrorResponse by their letters: `C` SQLSTATE, `M` message, `V` severity, `R` routine … */
export function readErrorFields(buffer: Buffer, start: number, end: number): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  let offset = start;
  while (offset < end && buffer[offset] !== 0) {
    const stop = buffer.indexOf(0, offset + 1);
    if (stop < 0 || stop >= end) break;
    fields.set(String.fromCharCode(buffer[offset] ?? 0), buffer.toString('utf8', offset + 1, stop));
    offset = stop + 1;
  }
  return fields;
}

/** Bytes read at once; the most that Node asks the operating system for. */
const readSize = 65_536;

/** Makes a socket that is not connected yet. */
export function createReusingSocket() {
  const buffer = Buffer.allocUnsafeSlow(readSize);
  let reused = false;
  const socket = new Socket({
    onread: {
      buffer,
      callback(size) {
        const chunk = buffer.subarray(0, size);
        socket.emit('data', reused ? chunk : Buffer.from(chunk));
        return true;
      },
    },
  });
  return {
    socket,
    /** From here on a chunk is only valid while its `data` event is handled. Without effect under TLS. */
    reuse(): void {
      reused = true;
    },
  };
}
