/**
 * The fast path: most requests below `/items`, and those of GraphQL, go from Node's server to their handler without the web
 * framework. Its router, request, body and reply take longer than the work itself, and decide nothing about it.
 *
 * All checks are the same. Token and route are read by the same `CallReader`, bodies by the same `parseBody`. Code that must
 * run before the handler of every request belongs there, not into a hook of the framework.
 */
import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../../errors.ts';
import type { Call } from '../../http/call.ts';
import type { CreateShortcut, Handler } from '../../http/endpoints.ts';
import { toAnswerError } from '../../http/failures.ts';
import type { HttpContext } from '../../http/responses/answer.ts';
import { parseBody } from '../../json/body.ts';
import type { JsonValue } from '../../language/index.ts';
import { logFailure } from '../../operate/log.ts';
import { requestRecord } from '../../operate/request-record.ts';
import { splitTarget } from '../../query/parse/target.ts';
import { createKnownBodyParser } from './known-bodies.ts';

/**
 * True if a request can take the fast path. It is a GET below `/items` without a body, a POST or PATCH there, or a POST
 * to GraphQL. Their bodies have a length of at most `maxBytes`.
 */
function isDirect({ method, url = '', headers }: IncomingMessage, maxBytes: number): boolean {
  if (headers['transfer-encoding'] !== undefined) return false;
  const length = headers['content-length'];
  if (!url.startsWith('/items/')) {
    if (method !== 'POST' || !isGraphql(url)) return false;
  } else if (method === 'GET') return length === undefined;
  else if (method !== 'PATCH' && (method !== 'POST' || namesItem(url))) return false;
  return length !== undefined && length !== '0' && Number(length) <= maxBytes;
}

/** Makes the fast path of a server. */
export const createFastPath: CreateShortcut = ({ readCall, endpoints, responder, log, maxBytes }) => {
  const parseKnownBody = createKnownBodyParser();
  const handlers = new Map<string, ReadonlyMap<string, Handler>>(
    endpoints.map((endpoint) => [endpoint.url, endpoint.handlers]),
  );

  function parse(bytes: Buffer, request: IncomingMessage, call: Call): JsonValue | undefined {
    return call.item === null ? parseKnownBody(bytes, request.headers) : parseBody(bytes, request.headers);
  }

  /** The handler that the router would find. */
  function handlerOf({ url = '', method = '' }: IncomingMessage, { item }: Call): Handler {
    const found =
      item === null
        ? (handlers.get(url) ?? handlers.get(splitTarget(url).path))
        : handlers.get(item.key === null ? '/items/:collection' : '/items/:collection/:key');
    const handler = found?.get(method);
    if (handler === undefined) throw new PlatformError('ROUTE_NOT_FOUND');
    return handler;
  }

  async function respond(httpContext: HttpContext): Promise<void> {
    const { request } = httpContext;
    try {
      const read = readCall(request, true);
      const call = read instanceof Promise ? await read : read;
      if (request[requestRecord] !== undefined) request[requestRecord].call = call;
      const handler = handlerOf(request, call);
      const body = request.method === 'GET' ? undefined : parse(await readBytes(request), request, call);
      await handler(httpContext, call, body);
    } catch (thrown) {
      const error = toAnswerError(thrown);
      logFailure(log, request, error);
      responder.fail(httpContext, error);
    }
  }

  return { takes: (request) => isDirect(request, maxBytes), respond };
};

/** True if an address is one of GraphQL. */
function isGraphql(url: string): boolean {
  return url === '/graphql' || url === '/graphql/system' || /^\/graphql(?:\/system)?\?/.test(url);
}

/** True if a path below `/items` has more segments than the collection. */
function namesItem(url: string): boolean {
  const slash = url.indexOf('/', '/items/'.length);
  const separator = url.indexOf('?');
  return slash !== -1 && (separator === -1 || slash < separator);
}

/** Reads a body to its end; Node sees to it that it has the stated length. Rejects when the client leaves before. */
async function readBytes(request: IncomingMessage): Promise<Buffer> {
  // A body that came together with its head is there by then, and needs no listener. Node marks the request complete
  // only later, so its length has to tell.
  await undefined;
  const isThere = request.readableLength === Number(request.headers['content-length']);
  const whole: unknown = isThere ? request.read() : null;
  return whole instanceof Buffer ? whole : collect(request);
}

function collect(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    request.on('error', reject);
  });
}
