/** The first stages of every request: the request limit, authentication, and the existence of the route. */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../caller.ts';
import type { DriftGuard, DriftWatch } from '../drift-watch.ts';
import { invalidQuery, PlatformError } from '../errors.ts';
import type { RequestLimiter } from '../limits/request-limiter.ts';
import type { FindClientAddress } from '../operate/client-address.ts';
import { type ItemPath, readItemPath, readPathTexts, splitTarget } from '../query/parse/target.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import { type Authenticate, findToken, ignoresToken } from './auth/authenticate.ts';

/** Results of the first stages of a request. */
export interface Call {
  readonly caller: Caller;
  /** Raw query string, without the question mark. */
  readonly query: string;
  /** Null on every path that is not below `/items`. */
  readonly item: ItemPath | null;
}

/**
 * Reads a request's call, at once if no user has to be looked up. `routed` is true if the router found a route. Throws
 * or rejects with the error of the token first, also on unknown paths, then ROUTE_NOT_FOUND; INVALID_QUERY before both
 * for a request of HTTP/1.1 without a host, and for one with two.
 */
export type CallReader = (request: IncomingMessage, routed: boolean) => Call | Promise<Call>;

/** Makes the reader of a server whose endpoints are known. */
export function createCallReader(
  authenticate: Authenticate,
  endpoints: readonly { readonly url: string }[],
  isHidden: (caller: Caller, path: string) => boolean = () => false,
): CallReader {
  const paths = new Set(endpoints.map(({ url }) => url).filter((url) => !url.includes(':')));
  const patterns = endpoints.map(({ url }) => url).filter((url) => url.includes(':') && !url.startsWith('/items/'));
  const exists = (path: string): boolean =>
    paths.has(path) || patterns.some((pattern) => readPathTexts(pattern, path) !== null);
  return function readCall(request, routed) {
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      throw new PlatformError('INVALID_QUERY', 'The request names no host.');
    }
    if (namesTwoHosts(request)) throw new PlatformError('INVALID_QUERY', 'The request names two hosts.');
    const { path, query } = splitTarget(request.url ?? '');
    const token = ignoresToken(request.method ?? '', path) ? null : findToken(request, query);
    const caller = authenticate(token, request, path);
    return caller instanceof Promise
      ? caller.then((found) => routedCall(found, path, query, routed))
      : routedCall(caller, path, query, routed);
  };

  function routedCall(caller: Caller, path: string, query: string, routed: boolean): Call {
    const item = readItemPath(path);
    // The router decodes, so it matches more spellings of a path than the one that exists.
    if (!routed || (item === null && (!exists(path) || isHidden(caller, path)))) {
      throw new PlatformError('ROUTE_NOT_FOUND');
    }
    return { caller, query, item };
  }
}

/** Node keeps the first `Host` alone, and a proxy may believe the second (RFC 9112, section 3.2). */
function namesTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name !== undefined && name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}

/** Puts the limits of requests in front of a reader; the same reader where there are none. */
export function limitCalls(readCall: CallReader, limiter: Pick<RequestLimiter, 'admit'> | null): CallReader {
  if (limiter === null) return readCall;
  return function readLimitedCall(request, routed) {
    const admitted = limiter.admit(request);
    return admitted === undefined ? readCall(request, routed) : admitted.then(() => readCall(request, routed));
  };
}

/** Makes the gate of a server, which statements pass by the tables that they know of. While nothing has drifted it costs one comparison. */
export function createDriftGuard(watch: Pick<DriftWatch, 'closed'>): DriftGuard {
  return function passGate({ tables }) {
    const closed = watch.closed();
    if (closed.size === 0) return;
    const table = tables?.find((table) => closed.has(table));
    if (table === undefined) return;
    const cause = new Error(`The table ${table} no longer fits what was compiled.`);
    throw new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause });
  };
}

/** Makes the reader of senders: the address of the client, and its descriptive headers; null for missing ones. */
export function createSenderOf(clientAddress: FindClientAddress): (request: IncomingMessage) => RequestOrigin {
  return (request) => ({
    ip: clientAddress(request)?.text ?? null,
    userAgent: request.headers['user-agent'] ?? null,
    origin: request.headers.origin ?? null,
  });
}

/**
 * The texts of parameters by their names; other parameters mean nothing. Throws INVALID_QUERY for one that stands twice
 * or in brackets. The choice of one of several values would be a guess, and a proxy may guess another one.
 */
export function plainParameters(query: string, names: readonly string[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  if (query === '') return texts;
  for (const [name, text] of new URLSearchParams(query)) {
    const [plain = ''] = name.split('[', 1);
    if (!names.includes(plain)) continue;
    if (plain !== name || texts.has(plain)) throw invalidQuery(`"${plain}" takes one value.`);
    texts.set(plain, text);
  }
  return texts;
}
