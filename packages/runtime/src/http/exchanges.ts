/** Records requests and answers of a server, as examples for documents. Never part of a server in production. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Caller } from '../caller.ts';
import type { CallReader } from './call.ts';

/** A request and its answer, with bodies of at most `maxBytes`. */
export interface AnsweredExchange {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  /** Class of the caller; null if no caller was looked up. */
  readonly accessClass: string | null;
  /** Empty when there was none, null when it is too long. */
  readonly sent: string | null;
  readonly status: number;
  /** As it was before any compression; null when it is too long. */
  readonly answered: string | null;
}

export type KnownCallers = WeakMap<IncomingMessage, Caller>;

/** Bytes up to which a body is recorded. */
const maxBytes = 16_384;

/** Reports every exchange of a server once it is answered. */
export function recordRequests(
  server: Server,
  callers: KnownCallers,
  report: (httpContext: AnsweredExchange) => void,
): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    // Recorded bodies must be readable for people.
    delete request.headers['accept-encoding'];
    const sent = overhear(request, ['push']);
    const answered = overhear(response, ['write', 'end']);
    response.on('finish', () => {
      const { method = '', url = '' } = request;
      const accessClass = callers.get(request)?.accessClass ?? null;
      report({ method, url, accessClass, sent: sent(), status: response.statusCode, answered: answered() });
    });
  });
}

/** Records the caller of each request, if `callers` is given. */
export function noteCallers(readCall: CallReader, callers: KnownCallers | undefined): CallReader {
  if (callers === undefined) return readCall;
  return async function readNotedCall(request, routed) {
    const call = await readCall(request, routed);
    callers.set(request, call.caller);
    return call;
  };
}

/** Records the chunks passed to methods, and returns a function that joins them. */
function overhear(target: object, methods: readonly string[]): () => string | null {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (const name of methods) {
    const method: unknown = Reflect.get(target, name);
    if (typeof method !== 'function') continue;
    Reflect.set(target, name, (...parts: readonly unknown[]): unknown => {
      const [chunk, encoding] = parts;
      const charset = typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8';
      // A copy: the memory of answers is used again.
      const copy =
        typeof chunk === 'string'
          ? Buffer.from(chunk, charset)
          : chunk instanceof Uint8Array
            ? Buffer.from(chunk)
            : null;
      if (copy !== null && bytes <= maxBytes) chunks.push(copy);
      bytes += copy?.length ?? 0;
      return Reflect.apply(method, target, parts);
    });
  }
  return () => (bytes > maxBytes ? null : Buffer.concat(chunks).toString());
}
