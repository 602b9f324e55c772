/** Identifiers of requests, which answers and lines of the log have in common. Source: operations notes, section 3. */
import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Identifiers of one request. */
export interface RequestIds {
  readonly id: string;
  /** Trace of a trusted peer. */
  readonly traceId: string | undefined;
}

/** Bytes of an identifier, which give 16 characters. */
const idBytes = 12;
const pool = Buffer.alloc(idBytes * 256);
let position = pool.length;

/** Makes an identifier that no other request has. Random bytes are drawn for many at once. */
export function newRequestId(): string {
  if (position === pool.length) {
    randomFillSync(pool);
    position = 0;
  }
  const start = position;
  position += idBytes;
  return pool.toString('base64url', start, position);
}

/** Form of an identifier that is kept. */
const keptId = /^[A-Za-z0-9._-]{8,128}$/;

/** Version, trace, parent and flags (W3C Trace Context); zeros alone name neither. */
const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?![0-9a-f])/;

/** Reads the place in a trace that a client names; undefined for another header. */
export function readTraceparent(header: string | readonly string[] | undefined) {
  const [, traceId, spanId, flags] = (typeof header === 'string' && traceparent.exec(header)) || [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

/** Makes the reader of identifiers. Those of peers for which `isTrusted` is true are kept. */
export function createRequestIds(
  isTrusted: ((request: IncomingMessage) => boolean) | null,
): (request: IncomingMessage) => RequestIds {
  if (isTrusted === null) return () => ({ id: newRequestId(), traceId: undefined });
  return function readRequestIds(request) {
    const { 'x-request-id': id, traceparent: trace } = request.headers;
    const isNamed = id !== undefined || trace !== undefined;
    if (!isNamed || !isTrusted(request)) return { id: newRequestId(), traceId: undefined };
    return {
      id: typeof id === 'string' && keptId.test(id) ? id : newRequestId(),
      traceId: readTraceparent(trace)?.traceId,
    };
  };
}
