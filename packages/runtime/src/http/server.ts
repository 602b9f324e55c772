/**
 * The HTTP face of a compiled API: Fastify carries connections, routing and bodies; what a request means is decided in
 * the modules beside this file, in the order of the API specification, section 1.5: token, route, body, query. Reads of
 * items, most of any load, take the short way past the router (`direct.ts`).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { accessNames } from '../auth/access-of.ts';
import { type Accounts, createAccounts, type MailFolders } from '../auth/accounts.ts';
import type { Identity } from '../auth/identities.ts';
import { type CompiledApi, type JsonValue, systemCollection } from '../contract/index.ts';
import type { Database } from '../database/database.ts';
import type { DriftWatch } from '../drift-watch.ts';
import { type Environment, readLimits } from '../environment.ts';
import { PlatformError } from '../errors.ts';
import type { Planner } from '../query/planner.ts';
import { systemSchemaOf } from '../system/schema.ts';
import { createWriter, type WriterOptions } from '../write/writer.ts';
import { type AccountEndpointsOptions, createAccountEndpoints } from './account-endpoints.ts';
import { type Answerer, createAnswerer, type Exchange, mediaTypes } from './answer.ts';
import { createAuthHandlers } from './auth-routes.ts';
import { type Admission, admissionOf, createAuthenticator } from './authenticate.ts';
import { type Call, createCallReader } from './call.ts';
import { createCarrier, failRequest } from './carrier.ts';
import { createClientAddress } from './client-address.ts';
import { preflightHeaders } from './cors.ts';
import { type CustomEndpoint, createCustomEndpoints } from './custom-routes.ts';
import { createGate } from './gate.ts';
import { createItemHandlers, type ItemHandlers, type ItemRequest } from './items.ts';
import { localUrl } from './local-url.ts';
import { describeCause } from './log.ts';
import { createReader } from './read.ts';
import { createSenderOf } from './sender.ts';
import { createServerHandlers, type ServerHandlers } from './server-routes.ts';
import { createOwnUserHandlers, type OwnUserHandlers } from './users.ts';

/** What a server is made of. */
export interface ServerOptions {
  readonly api: CompiledApi;
  readonly database: Database;
  readonly environment: Environment;
  readonly planner: Planner;
  readonly watch: Pick<DriftWatch, 'closed' | 'drifts' | 'checked'>;
  /** Where mail goes without a mail server, and its templates. Default: below the working folder, and the platform's own. */
  readonly mail?: MailFolders;
}

/** Answers one request; what it rejects with becomes the answer. */
type Handler = (exchange: Exchange, call: Call, body: JsonValue | undefined) => Promise<void>;

type Method = 'GET' | 'SEARCH' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface Endpoint {
  readonly url: string;
  /** By method; GET serves HEAD too, and every endpoint answers OPTIONS. */
  readonly handlers: ReadonlyMap<Method, Handler>;
}

/** Makes a server that is ready to listen, or to be injected requests without listening. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { api, database, environment, planner, watch } = options;
  const answerer = createAnswerer(environment);
  const gate = createGate(api, watch);
  const reader = createReader({ database, gate, answerer });
  const complain = (event: string, thrown: unknown): void =>
    server.log.error({ event, cause: describeCause(thrown, true) }, 'A hook failed after the commit.');
  const clientAddress = createClientAddress(environment.auth.trustedProxies);
  const senderOf = createSenderOf(clientAddress);
  const names = accessNames(api);
  const describe = (identity: Identity): Admission => admissionOf(names, identity);
  const accounts = createAccounts({
    api,
    database,
    environment,
    planner,
    mail: options.mail ?? { folder: '.platform/mail', templates: null },
    publicUrl: () => environment.publicUrl ?? localUrl(environment.host, server.server.address()),
    log: {
      info: (details, message) => server.log.info(details, message),
      warn: (details, message) => server.log.warn(details, message),
    },
    describe,
  });
  const accountsChanged = (): void => accounts?.identities.forgetAll();
  const limits = writeLimits(environment);
  const passwordPattern = async () => (await accounts?.settings())?.passwordPolicy ?? null;
  const hearing = { complain, accountsChanged, passwordPattern };
  const writer = createWriter({ api, database, gate, planner, ...hearing, ...limits });
  const items = createItemHandlers({ api, planner, reader, writer, answerer, senderOf });
  const { adminToken } = environment;
  const authenticate = createAuthenticator({
    names,
    adminToken,
    identities: accounts?.identities ?? null,
    clientAddress,
  });
  const patience = environment.database.poolTimeout;
  const schema = systemSchemaOf(api);
  const users = schema === null ? null : createOwnUserHandlers({ api, schema, items, database, answerer });
  const own = createServerHandlers({ api, database, watch, answerer, patience });
  const custom = groupEndpoints(createCustomEndpoints({ api, writer, answerer, senderOf }));
  const setting = { api, database, answerer, environment, clientAddress, senderOf };
  const auth = accounts === null ? [] : authEndpoints(accounts, setting);
  const endpoints = [...listEndpoints(api, items, own, users), ...auth, ...custom];
  const readCall = createCallReader(authenticate, endpoints);
  const server = createCarrier(environment, answerer, readCall, (exchange, call) => readItems(items, exchange, call));
  for (const endpoint of endpoints) addEndpoint(server, answerer, environment, endpoint);
  server.addHook('onClose', () =>
    Promise.race([
      Promise.all([writer.settled(), accounts?.upkeep.settled(), accounts?.outbox.close()]),
      sleep(environment.shutdownTimeout, undefined, { ref: false }),
    ]),
  );
  return server;
}

function listEndpoints(
  api: CompiledApi,
  items: ItemHandlers,
  own: ServerHandlers,
  users: OwnUserHandlers | null,
): readonly Endpoint[] {
  const ownPaths = api.collections.flatMap(({ system, name }) => (system && systemCollection(name)?.path) || []);
  return [
    { url: '/server/ping', handlers: new Map([['GET', own.ping]]) },
    { url: '/server/info', handlers: new Map([['GET', own.info]]) },
    { url: '/server/health', handlers: new Map([['GET', own.health]]) },
    { url: '/server/specs/oas', handlers: new Map([['GET', own.document]]) },
    ...itemEndpoints('/items/:collection', items),
    ...ownPaths.flatMap((path) => itemEndpoints(path, items)),
    ...(users === null ? [] : ownUserEndpoints(users)),
  ];
}

function ownUserEndpoints(users: OwnUserHandlers): readonly Endpoint[] {
  return [
    {
      url: '/users/me',
      handlers: new Map<Method, Handler>([
        ['GET', (exchange, call) => users.read(itemRequest(exchange, call))],
        ['PATCH', (exchange, call, body) => users.update(itemRequest(exchange, call), body)],
      ]),
    },
    {
      url: '/users/me/track/page',
      handlers: new Map<Method, Handler>([
        ['PATCH', (exchange, { caller }, body) => users.trackPage(exchange, caller, body)],
      ]),
    },
  ];
}

/** What can be asked of a collection below its path. */
function itemEndpoints(path: string, items: ItemHandlers): readonly Endpoint[] {
  return [
    {
      url: path,
      handlers: new Map<Method, Handler>([
        ['GET', (exchange, call) => readItems(items, exchange, call)],
        ['SEARCH', (exchange, call, body) => items.search(itemRequest(exchange, call), body)],
        ['POST', (exchange, call, body) => items.create(itemRequest(exchange, call), body)],
        ['PATCH', (exchange, call, body) => items.update(itemRequest(exchange, call), body)],
        ['DELETE', (exchange, call, body) => items.delete(itemRequest(exchange, call), body)],
      ]),
    },
    {
      url: `${path}/:key`,
      handlers: new Map<Method, Handler>([
        ['GET', (exchange, call) => readItems(items, exchange, call)],
        ['PATCH', (exchange, call, body) => items.updateOne(itemRequest(exchange, call), keyOf(call), body)],
        ['DELETE', (exchange, call) => items.deleteOne(itemRequest(exchange, call), keyOf(call))],
      ]),
    },
  ];
}

function authEndpoints(
  accounts: Accounts<Admission>,
  setting: Omit<AccountEndpointsOptions, 'accounts'>,
): readonly Endpoint[] {
  const own = createAuthHandlers({ signIn: accounts.signIn, ...setting });
  const login: Endpoint = { url: '/auth/login', handlers: new Map([['POST', own.login]]) };
  return [
    { url: '/auth', handlers: new Map([['GET', own.providers]]) },
    ...(setting.environment.auth.disableDefault ? [] : [login]),
    { url: '/auth/refresh', handlers: new Map([['POST', own.refresh]]) },
    { url: '/auth/logout', handlers: new Map([['POST', own.logout]]) },
    ...createAccountEndpoints({ accounts, ...setting }).map(
      ({ url, post }): Endpoint => ({
        url,
        handlers: new Map([['POST', post]]),
      }),
    ),
  ];
}

/** The routes of the project by their addresses. */
function groupEndpoints(custom: readonly CustomEndpoint[]): readonly Endpoint[] {
  return [...Map.groupBy(custom, ({ url }) => url)].map(([url, same]) => ({
    url,
    handlers: new Map<Method, Handler>(same.map(({ method, handler }) => [method, handler])),
  }));
}

/** Answers GET below `/items`: one item where the path has a key, else the list. */
function readItems(items: ItemHandlers, exchange: Exchange, call: Call): Promise<void> {
  const key = call.item?.key ?? null;
  const request = itemRequest(exchange, call);
  return key === null ? items.list(request) : items.read(request, key);
}

function itemRequest(exchange: Exchange, { caller, query, item }: Call): ItemRequest {
  if (item === null) throw new PlatformError('ROUTE_NOT_FOUND');
  return { exchange, caller, collection: item.collection, query };
}

function keyOf({ item }: Call): string {
  return item?.key ?? '';
}

/** The limits of what a write reads in its address and body. */
function writeLimits(
  environment: Environment,
): Pick<WriterOptions, 'limits' | 'fieldLimits' | 'mostItems' | 'answerTtlMs' | 'patience'> {
  const { maxBatchMutation: mostItems, idempotencyTtl: answerTtlMs, database, auth } = environment;
  return {
    limits: readLimits(environment),
    fieldLimits: { passwordMinLength: auth.passwordMinLength },
    mostItems,
    answerTtlMs,
    // A hook holds a connection like a statement does, so it may take as long.
    patience: database.statementTimeout,
  };
}

function addEndpoint(server: FastifyInstance, answerer: Answerer, environment: Environment, endpoint: Endpoint): void {
  const { url, handlers } = endpoint;
  for (const [method, handler] of handlers) {
    server.route({
      method: method === 'GET' ? ['GET', 'HEAD'] : [method],
      url,
      handler(request, reply) {
        reply.hijack();
        void runHandler(handler, answerer, request, reply);
      },
    });
  }
  const allow = [...handlers.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  server.route({ method: 'OPTIONS', url, handler: optionsHandler(answerer, environment, [...allow, 'OPTIONS']) });
}

async function runHandler(
  handler: Handler,
  answerer: Answerer,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  try {
    if (request.call === null) throw new Error('A handler ran before its request was judged.');
    await handler({ request: request.raw, response: reply.raw }, request.call, request.json);
  } catch (error) {
    failRequest(answerer, request, reply, error);
  }
}

function optionsHandler(answerer: Answerer, environment: Environment, allow: readonly string[]) {
  return function answerOptions(request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    const exchange = { request: request.raw, response: reply.raw };
    const headers = ['Allow', allow.join(', '), ...preflightHeaders(environment.cors, request.raw)];
    answerer.send(exchange, { status: 200, type: mediaTypes.text, body: Buffer.alloc(0), headers });
  };
}
