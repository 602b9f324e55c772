/**
 * The HTTP face of a compiled API: Fastify carries connections, routing and bodies; what a request means is decided in
 * the modules beside this file, in the order of the API specification, section 1.5: token, route, body, query.
 */
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Caller } from '../caller.ts';
import type { CompiledApi, JsonValue } from '../contract/index.ts';
import type { Database } from '../database/database.ts';
import type { DriftWatch } from '../drift-watch.ts';
import type { Environment } from '../environment.ts';
import { PlatformError } from '../errors.ts';
import { type Answerer, createAnswerer, type Exchange } from './answer.ts';
import { createAuthenticator, ignoresToken } from './authenticate.ts';
import { parseBody } from './body.ts';
import { answerBrokenRequest, toAnswerError } from './failures.ts';
import { createGate } from './gate.ts';
import { createItemHandlers, type ItemHandlers, type ReadPlanner } from './items.ts';
import { logFailure, loggerOptions } from './log.ts';
import { preflightHeaders } from './cors.ts';
import { createReader } from './read.ts';
import { createServerHandlers, type ServerHandlers } from './server-routes.ts';
import { type ItemPath, readItemPath, splitTarget } from './target.ts';
import { findToken } from './token.ts';

/** What a server is made of. */
export interface ServerOptions {
  readonly api: CompiledApi;
  readonly database: Database;
  readonly environment: Environment;
  readonly planner: ReadPlanner;
  readonly watch: Pick<DriftWatch, 'closed' | 'drifts' | 'checked'>;
}

/** What the first stages found out about a request. */
export interface Call {
  readonly caller: Caller;
  /** Raw query string, without the question mark. */
  readonly query: string;
  /** Null on every path that is not below `/items`. */
  readonly item: ItemPath | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler runs. */
    call: Call | null;
  }
}

/** Answers one request; what it rejects with becomes the answer. */
type Handler = (exchange: Exchange, call: Call, body: JsonValue | undefined) => Promise<void>;

interface Endpoint {
  readonly url: string;
  /** By method; GET serves HEAD too, and every endpoint answers OPTIONS. */
  readonly handlers: ReadonlyMap<'GET' | 'SEARCH', Handler>;
}

/** Makes a server that is ready to listen, or to be injected requests without listening. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { api, database, environment, planner, watch } = options;
  const answerer = createAnswerer(environment);
  const reader = createReader({ database, gate: createGate(api, watch), answerer });
  const endpoints = listEndpoints(
    createItemHandlers(api, planner, reader),
    createServerHandlers({ api, database, watch, answerer, patience: environment.database.poolTimeout }),
  );
  const server = createCarrier(environment, answerer);
  acceptBodies(server);
  acceptCalls(server, options, endpoints);
  answerFailures(server, answerer);
  for (const endpoint of endpoints) addEndpoint(server, answerer, environment, endpoint);
  return server;
}

function listEndpoints(items: ItemHandlers, own: ServerHandlers): readonly Endpoint[] {
  return [
    { url: '/server/ping', handlers: new Map([['GET', own.ping]]) },
    { url: '/server/info', handlers: new Map([['GET', own.info]]) },
    { url: '/server/health', handlers: new Map([['GET', own.health]]) },
    { url: '/server/specs/oas', handlers: new Map([['GET', own.document]]) },
    {
      url: '/items/:collection',
      handlers: new Map<'GET' | 'SEARCH', Handler>([
        ['GET', (exchange, call) => items.list({ ...itemOf(call), exchange })],
        ['SEARCH', (exchange, call, body) => items.search({ ...itemOf(call), exchange }, body)],
      ]),
    },
    {
      url: '/items/:collection/:key',
      handlers: new Map([['GET', (exchange, call) => items.read({ ...itemOf(call), exchange }, itemOf(call).key ?? '')]]),
    },
  ];
}

function itemOf({ caller, query, item }: Call) {
  if (item === null) throw new PlatformError('ROUTE_NOT_FOUND');
  return { caller, query, collection: item.collection, key: item.key };
}

/** Fastify with the limits of section 16 and without everything that would cost on every request. */
function createCarrier(environment: Environment, answerer: Answerer): FastifyInstance {
  const { requestTimeout, database } = environment;
  const server = fastify({
    logger: loggerOptions(environment),
    disableRequestLogging: true,
    exposeHeadRoutes: false,
    // A connection kept alive may still bring requests while the server stops; they are answered, then it is closed.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    bodyLimit: environment.maxPayloadSize,
    requestTimeout,
    // Idle sockets, also of clients that never read their answer. No statement may run longer than this.
    connectionTimeout: Math.max(requestTimeout, database.statementTimeout + database.poolTimeout + 10_000),
    http: { connectionsCheckingInterval: Math.min(30_000, Math.max(500, Math.floor(requestTimeout / 4))) },
    routerOptions: { maxParamLength: 65_536, querystringParser: () => noQuery },
    frameworkErrors: (error, request, reply) => failRequest(answerer, request, reply, error),
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket),
  });
  server.server.headersTimeout = Math.min(60_000, requestTimeout);
  return server;
}

/** The query string stays text until the planner reads it. */
const noQuery = Object.freeze({});

/** Every body is read as bytes and judged by `parseBody`; none of the framework's own parsers stays. */
function acceptBodies(server: FastifyInstance): void {
  server.addHttpMethod('SEARCH', { hasBody: true });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      done(null, parseBody(Buffer.from(bytes), request.headers));
    } catch (error) {
      done(toAnswerError(error));
    }
  });
}

/** Judges the token and then the route, before any body is read. */
function acceptCalls(server: FastifyInstance, options: ServerOptions, endpoints: readonly Endpoint[]): void {
  const authenticate = createAuthenticator(options.api, options.environment.adminToken);
  const paths = new Set(endpoints.map(({ url }) => url).filter((url) => !url.includes(':')));
  server.decorateRequest('call', null);
  server.addHook('onRequest', (request, _reply, done) => {
    const { path, query } = splitTarget(request.raw.url ?? '/');
    try {
      const token = ignoresToken(request.method, path) ? null : findToken(request.raw, query);
      const item = readItemPath(path);
      const caller = authenticate(token);
      // The router decodes and so matches more spellings of a path than the one that exists.
      if (request.is404 || (item === null && !paths.has(path))) throw new PlatformError('ROUTE_NOT_FOUND');
      request.call = { caller, query, item };
      dropTypeOfNothing(request);
      done();
    } catch (error) {
      done(toAnswerError(error));
    }
  });
}

/** An empty body is legal with any content type, also with a malformed one, which the framework would refuse. */
function dropTypeOfNothing(request: FastifyRequest): void {
  const { headers } = request.raw;
  const empty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
  if (empty && headers['content-type'] !== undefined) delete headers['content-type'];
}

function answerFailures(server: FastifyInstance, answerer: Answerer): void {
  server.setErrorHandler((error, request, reply) => failRequest(answerer, request, reply, error));
  server.setNotFoundHandler((request, reply) => {
    failRequest(answerer, request, reply, new PlatformError('ROUTE_NOT_FOUND'));
  });
}

function addEndpoint(server: FastifyInstance, answerer: Answerer, environment: Environment, endpoint: Endpoint): void {
  const { url, handlers } = endpoint;
  for (const [method, handler] of handlers) {
    server.route({
      method: method === 'GET' ? ['GET', 'HEAD'] : [method],
      url,
      handler(request, reply) {
        reply.hijack();
        runHandler(handler, answerer, request, reply);
      },
    });
  }
  const allow = [...handlers.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  server.route({ method: 'OPTIONS', url, handler: optionsHandler(answerer, environment, [...allow, 'OPTIONS']) });
}

function runHandler(handler: Handler, answerer: Answerer, request: FastifyRequest, reply: FastifyReply): void {
  const { call } = request;
  if (call === null) throw new Error('A handler ran before its request was judged.');
  // Fastify's `body` is untyped; only `parseBody` ever sets it.
  const body: JsonValue | undefined = Object(request).body;
  handler({ request: request.raw, response: reply.raw }, call, body).catch((error: unknown) => {
    failRequest(answerer, request, reply, error);
  });
}

function optionsHandler(answerer: Answerer, environment: Environment, allow: readonly string[]) {
  return function answerOptions(request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    const exchange = { request: request.raw, response: reply.raw };
    const headers = ['Allow', allow.join(', '), ...preflightHeaders(environment.cors, request.raw)];
    answerer.send(exchange, { status: 200, type: 'text/plain; charset=utf-8', body: Buffer.alloc(0), headers });
  };
}

function failRequest(answerer: Answerer, request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
  const error = toAnswerError(thrown);
  logFailure(request.log, request.raw, error);
  const rest = reply.getHeader('connection') === 'close' ? { connection: 'close' } : {};
  reply.hijack();
  const exchange = { request: request.raw, response: reply.raw };
  answerer.fail(exchange, error, rest);
}
