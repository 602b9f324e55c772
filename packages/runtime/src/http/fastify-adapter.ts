/** Fastify as this server uses it: with our limits, bodies and errors, without features that slow requests. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { createNetworks, readAddress } from '../environment/networks.ts';
import type { Environment } from '../environment.ts';
import { PlatformError } from '../errors.ts';
import { parseBody, readForm } from '../json/body.ts';
import type { JsonValue } from '../language/index.ts';
import { createAccessLog } from '../operate/access-log.ts';
import { createLogAddress } from '../operate/client-address.ts';
import { logFailure, loggerOptions, logLines, logsInfo, type PrintLines } from '../operate/log.ts';
import {
  beginRequests,
  createRequestIds,
  endRequest,
  type PassRequest,
  type RequestObserver,
  requestRecord,
} from '../operate/request-record.ts';
import type { Call, CallReader } from './call.ts';
import type { Consistency } from './consistency.ts';
import type { CreateShortcut, ServerParts, Shortcut } from './endpoints.ts';
import { answerBrokenRequest, filesInForms, messageOf, toAnswerError } from './failures.ts';
import { createResponder, type Responder, type StreamingResponder, type WriteHead } from './responses/answer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the body is read and before any handler runs. */
    call: Call | null;
    /** The parsed body; undefined for an empty one. */
    json: JsonValue | undefined;
  }
  interface FastifyContextConfig {
    /** True if a body may be a form, which the handler gets as text. */
    takesForms?: boolean;
    /** True if a body may be multipart, which the handler reads. */
    takesParts?: boolean;
  }
}

/** Makes a Fastify server without routes whose failures are the specification's errors. */
export function createFastifyAdapter(
  environment: Environment,
  parts: ServerParts,
  createShortcut?: CreateShortcut,
  httpListener: Listener | null = null,
): FastifyInstance {
  const { readCall, responder } = parts;
  const fail: FrameworkFailure = (request, reply, error) => {
    if (!reply.sent) reply.hijack();
    void tokenError(readCall, request).then((thrown) => failRequest(responder, request, reply, thrown ?? error));
  };
  const server = createFastify(environment, fail, { log: httpListener?.server.log });
  acceptBodies(server, environment.maxPayloadSize);
  server.decorateRequest('call', null);
  server.decorateRequest('json', undefined);
  server.addHook('onRequest', (request, _reply, done) => {
    const { [requestRecord]: record } = request.raw;
    if (record !== undefined) record.route = request.is404 ? '' : (request.routeOptions.url ?? '');
    const enter = (call: Call): void => {
      request.call = call;
      if (record !== undefined) record.call = call;
      dropTypeOfNothing(request);
      done();
    };
    const refuse = (error: unknown): void => done(toAnswerError(error));
    try {
      const call = readCall(request.raw, !request.is404);
      if (call instanceof Promise) call.then(enter, refuse);
      else enter(call);
    } catch (error) {
      refuse(error);
    }
  });
  if (createShortcut !== undefined) {
    passBy(server.server, createShortcut({ ...parts, log: server.log, maxBytes: environment.maxPayloadSize }));
  }
  // Connections are those of the front, which outlives the servers that it passes requests to.
  if (httpListener === null) {
    observeAll(server, environment);
    endConnections(server, responder);
  }
  server.setErrorHandler((error, request, reply) => failRequest(responder, request, reply, error));
  return server;
}

/** Accepts connections, while the server that answers their requests is replaced. */
export interface Listener {
  readonly server: FastifyInstance;
  readonly responder: StreamingResponder;
  readonly connections: ReadonlySet<Socket>;
}

export interface ListenerOptions {
  readonly observers?: readonly RequestObserver[];
  /** Leads reads behind writes, where there are replicas. */
  readonly consistency?: Consistency | null;
  /** Another way to write heads of answers. */
  readonly heads?: Heads | undefined;
  /** Puts something in front of the code that passes requests on. */
  readonly wrap?: (pass: PassRequest, responder: Responder) => PassRequest;
}

/** A class of responses, and the function that writes their heads. */
export interface Heads {
  readonly ServerResponse: typeof ServerResponse;
  readonly writeHead: WriteHead;
}

/** Makes a server that listens and has everything answered by the one that `current` gives at that moment. */
export function createListener(
  environment: Environment,
  current: () => FastifyInstance,
  { observers = [], consistency = null, wrap = (pass) => pass, heads }: ListenerOptions = {},
): Listener {
  const responder = createResponder(environment, consistency, heads?.writeHead);
  const observe = (pass: PassRequest): PassRequest =>
    observeRequests(environment, observers, wrap(pass, responder), consistency !== null);
  const server = createFastify(environment, (request, reply, error) => failRequest(responder, request, reply, error), {
    observe,
    heads,
  });
  server.server.removeAllListeners('request');
  server.server.on(
    'request',
    observe((request, response) => void current().server.emit('request', request, response)),
  );
  const connections = endConnections(server, responder);
  return { server, responder, connections };
}

/** Milliseconds for which a stopping server waits for the first bytes of a connection: its request may be on its way. */
const unusedMs = 500;

/**
 * Sees to it that a server that stops comes to the end of its connections, and gives those that are open. Browsers keep
 * some in reserve on which nothing was ever sent. Node counts these as busy, so they are ended here.
 */
function endConnections(fastifyServer: FastifyInstance, responder: Responder): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  fastifyServer.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // Node keeps an address that was asked for: the line of a request whose client has left names it, too.
    void socket.remoteAddress;
    socket.once('close', () => {
      sockets.delete(socket);
      const unanswered = messageOf(socket);
      if (unanswered !== null) endRequest(unanswered);
    });
  });
  const dropUnused = (): void => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
  fastifyServer.addHook('preClose', (done) => {
    responder.hangUp();
    setTimeout(dropUnused, unusedMs);
    done();
  });
  return sockets;
}

export function failRequest(responder: Responder, request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
  const error = toAnswerError(thrown);
  logFailure(request.log, request.raw, error);
  // Fastify asks for this when the rest of a body is still on its way.
  const closing = reply.getHeader('connection') === 'close';
  if (!reply.sent) reply.hijack();
  const httpContext = { request: request.raw, response: reply.raw };
  responder.fail(httpContext, error, closing ? ['Connection', 'close'] : []);
}

/** Bodies are read and answers written without the framework, whose compilers of schemas would be loaded by every start. */
function noSchemas(): never {
  throw new Error('Routes have no schemas.');
}

type FrameworkFailure = (request: FastifyRequest, reply: FastifyReply, error: Error) => void;

interface FastifySetting extends Pick<ListenerOptions, 'heads'> {
  /** One that is there already; a logger of its own is made when it is absent. */
  readonly log?: FastifyBaseLogger | undefined;
  readonly observe?: Parameters<typeof answerBrokenRequest>[2];
}

function createFastify(
  environment: Environment,
  fail: FrameworkFailure,
  { log, observe, heads }: FastifySetting,
): FastifyInstance {
  const { requestTimeout, database } = environment;
  const server = fastify({
    ...(log === undefined ? { logger: loggerOptions(environment) } : { loggerInstance: log }),
    logController: new LogController({ disableRequestLogging: true }),
    // A logger per request would be made for every request and used by hardly any.
    childLoggerFactory: (logger) => logger,
    exposeHeadRoutes: false,
    // A connection kept alive may still bring requests while the server stops; they are answered, then it is closed.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    bodyLimit: environment.maxPayloadSize,
    requestTimeout,
    // Ends sockets on which nothing moves, also those of clients that never read; no statement may run this long.
    connectionTimeout: Math.max(requestTimeout, database.statementTimeout + database.poolTimeout + 10_000),
    http: {
      // Node would refuse these with an answer that is not ours; `readCall` does it instead.
      requireHostHeader: false,
      ...(heads && { ServerResponse: heads.ServerResponse }),
      connectionsCheckingInterval: Math.min(30_000, Math.max(500, Math.floor(requestTimeout / 4))),
    },
    routerOptions: { maxParamLength: 65_536, querystringParser: () => noQuery },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    frameworkErrors: (error, request, reply) => fail(request, reply, error),
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, observe),
  });
  server.server.headersTimeout = Math.min(60_000, requestTimeout);
  server.server.on('timeout', endIdle);
  // Unknown expectations may be ignored (RFC 9110, section 10.1.1); Node's refusal would have no body of ours.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response));
  return server;
}

/** Ends a connection on which nothing moves, unless a whole request waits for its answer: its work goes on in any case. */
function endIdle(socket: Socket): void {
  const response = messageOf(socket);
  // Writing the head begins the time anew.
  if (response === null || !response.req.complete || response.headersSent) socket.destroy();
}

/** Begins every request of a server before those listeners that it has. */
function observeAll({ server }: FastifyInstance, environment: Environment): void {
  const listeners = server.listeners('request');
  server.removeAllListeners('request');
  const begin = observeRequests(environment, [], (request, response) => {
    for (const listener of listeners) listener.call(server, request, response);
  });
  server.on('request', begin);
}

/** Puts a shortcut in front of the listeners that a server has: they get the requests that it does not take. */
function passBy(server: Server, shortcut: Shortcut): void {
  const others = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (shortcut.takes(request)) void shortcut.respond({ request, response });
    else for (const other of others) other.call(server, request, response);
  });
}

/** The query string stays text until the planner reads it. */
const noQuery = Object.freeze({});

/** Every body is read as bytes and checked by `parseBody`; none of the framework's own parsers stays. */
function acceptBodies(server: FastifyInstance, maxBytes: number): void {
  server.addHttpMethod('SEARCH', { hasBody: true });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      const form = request.routeOptions.config.takesForms === true ? readForm(bytes, request.headers) : null;
      request.json = form ?? parseBody(bytes, request.headers);
    } catch (error) {
      const refusal = toAnswerError(error);
      const isFile = refusal.code === 'UNSUPPORTED_MEDIA_TYPE' && request.routeOptions.config.takesParts === true;
      done(isFile ? new PlatformError(refusal.code, filesInForms) : refusal);
      return;
    }
    done(null);
  });
  server.addContentTypeParser('multipart/form-data', (request, payload, done) => {
    // Files are written down as they come, by the handler that accepts them.
    if (request.routeOptions.config.takesParts === true) done(null);
    else refuseParts(payload, maxBytes, done);
  });
}

/** The body is not wanted unless empty. It is read to its end: a client that still sends may read no answer. */
function refuseParts(payload: Readable, maxBytes: number, done: (error: Error | null) => void): void {
  let bytes = 0;
  payload.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) return;
    payload.removeAllListeners('data').removeAllListeners('end').resume();
    done(new PlatformError('UNSUPPORTED_MEDIA_TYPE'));
  });
  payload.once('end', () => done(bytes > 0 ? new PlatformError('UNSUPPORTED_MEDIA_TYPE') : null));
  payload.once('error', done);
}

/** An empty body is legal with any content type, also with a malformed one, which the framework would refuse. */
function dropTypeOfNothing(request: FastifyRequest): void {
  const { headers } = request.raw;
  const empty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
  if (empty && headers['content-type'] !== undefined) delete headers['content-type'];
}

/** Error of the token of a request that the router refused; a bad token comes before a bad path. */
async function tokenError(readCall: CallReader, request: FastifyRequest): Promise<unknown> {
  try {
    await readCall(request.raw, false);
    return null;
  } catch (error) {
    return error;
  }
}

/** Makes the listener that begins every request and passes it on. `isFollowed` makes each known to what runs for it. */
function observeRequests(
  environment: Environment,
  others: readonly RequestObserver[],
  pass: PassRequest,
  isFollowed = false,
): PassRequest {
  const { accessLog, slowQuery: slowMs } = environment.operate;
  const addressOf = createLogAddress(environment);
  const gather = (print: PrintLines, isFull: boolean): void => logLines.gather(print, isFull);
  const observers =
    accessLog === 'off' || !logsInfo(environment)
      ? others
      : [...others, createAccessLog({ accessLog, slowMs, gather, addressOf })];
  const readIds = createRequestIds(peerTest(environment.auth.trustedProxies));
  // Lines of the audit and of slow statements name the request that they belong to.
  return beginRequests(readIds, observers, isFollowed || environment.logLevel !== 'silent', pass);
}

/** Tells if a request comes from one of these proxies; null where there is none. */
function peerTest(proxies: readonly string[]): ((request: IncomingMessage) => boolean) | null {
  if (proxies.length === 0) return null;
  const trusted = createNetworks(proxies);
  return function isTrusted({ socket }) {
    const peer = readAddress(socket.remoteAddress ?? '');
    return peer !== null && trusted.has(peer);
  };
}
