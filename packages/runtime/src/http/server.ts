/**
 * HTTP server of a compiled API: Fastify carries connections, routing and bodies. The modules beside this file
 * interpret a request, in the order of the API specification, section 1.5: limit, token, route, body, query.
 */
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Accounts, createAccounts, type MailFolders } from '../auth/accounts.ts';
import type { Identity } from '../auth/identities.ts';
import type { Tags } from '../caching/tags.ts';
import type { Database } from '../database/database.ts';
import { type HostReport, readHostState } from '../database/host-state.ts';
import { serverOf } from '../dialects/index.ts';
import type { DriftGuard, DriftWatch } from '../drift-watch.ts';
import { type Environment, localUrl, requestLimits } from '../environment.ts';
import type { ObserveHook } from '../extensions/hooks.ts';
import { createFileServices, type FileServices } from '../files/services.ts';
import type { CreateByteCache } from '../graphql/byte-cache.ts';
import { type AccessNames, accessNames } from '../language/descriptors/access-names.ts';
import type { CompiledApi } from '../language/index.ts';
import { limitPositions } from '../language/types/geometry.ts';
import { type CreateCache, createEmpty } from '../language/values/bounded-cache.ts';
import { createRequestLimiter, type RequestLimiter } from '../limits/request-limiter.ts';
import { compiledModel, type ModelChanges } from '../model/model-changer.ts';
import { type Audit, createAudit, requestLimitReached } from '../operate/audit.ts';
import type { Broadcast } from '../operate/broadcast.ts';
import { createClientAddress, type FindClientAddress } from '../operate/client-address.ts';
import { describeCause, type Log } from '../operate/log.ts';
import type { ReadPass } from '../query/plan/plan-read.ts';
import type { Planner } from '../query/planner.ts';
import { auditModel, createSystemWrites } from '../resources/system-writes.ts';
import { createRowContexts, type FindRowContext } from '../row-security/contexts.ts';
import { systemPlaceOf } from '../system/place.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import type { CreateWriteSeams } from '../write/write-plan.ts';
import { createWriter, type Writer, type WriterOptions } from '../write/writer.ts';
import {
  type AuthenticatedUser,
  authenticatedUser,
  callersWithoutUser,
  createAuthenticator,
} from './auth/authenticate.ts';
import { createCallReader, createDriftGuard, createSenderOf, limitCalls } from './call.ts';
import { consistencyCookie } from './consistency.ts';
import { createCustomEndpoints } from './custom-routes.ts';
import { type CreateShortcut, endpointsOf, groupEndpoints, pageEndpoints } from './endpoints.ts';
import { type KnownCallers, noteCallers } from './exchanges.ts';
import { createFastifyAdapter, type Listener } from './fastify-adapter.ts';
import { createAssetEndpoints } from './files/asset-routes.ts';
import { createUploadEndpoints } from './files/file-routes.ts';
import { openCalls } from './functions.ts';
import { openGraphql } from './graphql/graphql.ts';
import { createOwnUserHandlers, ItemHandlers } from './items.ts';
import { spreadCalls } from './loop-queue.ts';
import { mountEndpoint } from './mount.ts';
import type { BoundOperation } from './operations/bind.ts';
import { operationEndpoints } from './operations/endpoints.ts';
import { bindOperations } from './operations/index.ts';
import { docsEndpoints } from './pages/docs.ts';
import { createResponder, type StreamingResponder } from './responses/answer.ts';
import { createPublicAnswers, type PublicAnswers } from './responses/public-answers.ts';
import { createReader, type Reader } from './responses/read.ts';

export interface ServerOptions {
  readonly api: CompiledApi;
  readonly database: Database;
  readonly environment: Environment;
  readonly planner: Planner;
  readonly watch: Pick<DriftWatch, 'closed' | 'drifts' | 'checked' | 'damaged' | 'refresh'>;
  /** Answers no GraphQL documents but those that were compiled with the API. Default: any. */
  readonly trustedDocuments?: boolean;
  /** Folders of mail without a mail server, and of its templates. Default: below the working folder, and the platform's own. */
  readonly mail?: MailFolders;
  /** Parts that outlive one version of the API. Default: the server listens for itself, and everything ends with it. */
  readonly host?: ServerProcess;
  /** Tags of answers that shared caches may keep. Default: none may be kept. */
  readonly tags?: Tags | null;
  /** Has shared caches drop all answers. Default: there are none. */
  readonly purgeAll?: () => void;
  /** Handles writes to roles and rules. Default: rules are refused, because the API is compiled from them. */
  readonly model?: ModelChanges;
  /** Folder with templates of pages that replace the platform's own of the same name. None when absent. */
  readonly pages?: string | null;
  /** Folder of files unless the environment names another place. Default: below the working folder. */
  readonly uploads?: string;
  /** Records the caller of each request. Default: not recorded. */
  readonly callers?: KnownCallers;
  /** Answers some requests in the place of the web framework. Default: it answers all. */
  readonly createShortcut?: CreateShortcut;
  /** Makes room for ways past the steps of writes. Default: they go step by step. */
  readonly createWriteSeams?: CreateWriteSeams;
  /** Complete planned reads of GraphQL. Default: none. */
  readonly passes?: readonly ReadPass[];
  readonly createCache?: CreateCache;
  /** Makes the caches of GraphQL documents. Default: nothing is kept. */
  readonly createDocumentCache?: CreateByteCache;
  /** Observes parts of the server. Default: each stays as it is. */
  readonly observers?: Partial<PartObservers>;
}

export interface PartObservers {
  readonly observeHook: ObserveHook;
  /** Observes sign-ins. */
  accounts(accounts: Accounts<AuthenticatedUser>): Accounts<AuthenticatedUser>;
}

/** Shared by several versions of an API in one process. */
export interface ServerProcess extends Listener {
  readonly limiter: RequestLimiter | null;
  readonly audit: Audit;
  /** Accounts of every version that is not closed: events about accounts and mail in one concern them all. */
  readonly accounts: Set<Accounts<AuthenticatedUser>>;
  /** Tells other processes of changes; null where there is no way to them. */
  readonly broadcast: Broadcast | null;
  /** Address of the port that clients use. */
  address(): AddressInfo | string | null;
  /** True if the process was told to stop. */
  readonly draining: () => boolean;
  /** Reads the state that the database server reports of itself. */
  readonly hostState: () => Promise<HostReport>;
  /** Does something once the front listens. */
  readonly afterListening: (task: () => Promise<void>) => void;
}

/** Makes a server that is ready to listen, or to be injected requests without listening. */
export function createServer(options: ServerOptions): FastifyInstance {
  const findServer = (): FastifyInstance => server;
  const base = openBase(options, findServer);
  const users = openUsers(options, base, { findServer, findWriter: () => writer });
  const writer: Writer = openWriter(options, base, users, () => files?.loose.wake());
  const files: FileServices | null = openFiles(options, base, writer);
  const services: Services = { ...base, ...users, writer, files };
  const faces = openFaces(options, services, findServer);
  const server = openFastify(options, services, faces);
  watchServer(server, options, services, faces.graphql);
  return server;
}

/** Parts that need no others, but the server's log once something is to be told. */
interface Base {
  readonly responder: StreamingResponder;
  readonly driftGuard: DriftGuard;
  readonly reader: Reader;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly clientAddress: FindClientAddress;
  readonly audit: Audit;
  readonly limiter: RequestLimiter | null;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
  readonly names: AccessNames;
  readonly rowContext: FindRowContext;
  readonly createCache: CreateCache;
  readonly limits: WriteLimits;
}

/** Accounts, and those who tell the accounts of every version of the API. */
type Users = ReturnType<typeof openUsers>;

/** Everything that endpoints are made of. */
interface Services extends Base, Users {
  readonly writer: Writer;
  readonly files: FileServices | null;
}

/** Endpoints, and the parts that they share. */
type Faces = ReturnType<typeof openFaces>;

function openBase(options: ServerOptions, findServer: () => FastifyInstance): Base {
  const { api, database, environment, watch, host, createCache = createEmpty } = options;
  const responder = host?.responder ?? createResponder(environment);
  const driftGuard = createDriftGuard(watch);
  const log: Base['log'] = {
    info: (details, message) => findServer().log.info(details, message),
    warn: (details, message) => findServer().log.warn(details, message),
    error: (details, message) => findServer().log.error(details, message),
  };
  const clientAddress = createClientAddress(environment.auth.trustedProxies);
  const audit = host?.audit ?? createAudit(environment, () => findServer().log);
  return {
    ...{ responder, driftGuard, log, clientAddress, audit, createCache },
    reader: createReader({ database, driftGuard, responder, publicAnswers: answersOf(options, responder) }),
    limiter:
      host === undefined
        ? createRequestLimiter(environment.requestLimits, clientAddress, log, requestLimitReached(audit))
        : host.limiter,
    senderOf: createSenderOf(clientAddress),
    names: accessNames(api),
    rowContext: createRowContexts(api),
    limits: writeLimits(environment),
  };
}

function openUsers(
  options: ServerOptions,
  { names, rowContext, driftGuard, log, audit }: Base,
  { findServer, findWriter }: { findServer: () => FastifyInstance; findWriter: () => Writer },
) {
  const { api, database, environment, host, observers } = options;
  // Caller on whose behalf users of providers are created: these are not signed in yet.
  const { administrator } = callersWithoutUser(names, rowContext);
  const unobserved = createAccounts({
    ...{ api, database, environment, driftGuard, log, audit },
    mail: options.mail ?? { folder: '.platform/mail', templates: null },
    publicUrl: () =>
      environment.publicUrl ?? localUrl(environment.host, host?.address() ?? findServer().server.address()),
    createUser: (user, sender) =>
      findWriter().create({ caller: administrator, collection: 'platform_users', query: 'fields=id', sender }, user),
    describe: (identity: Identity): AuthenticatedUser => authenticatedUser(names, rowContext, identity),
    forgotten: (user) => host?.broadcast?.publish('users', user),
  });
  const accounts = unobserved === null ? null : (observers?.accounts?.(unobserved) ?? unobserved);
  const all = host?.accounts ?? new Set<Accounts<AuthenticatedUser>>();
  if (accounts !== null) all.add(accounts);
  return {
    accounts,
    all,
    forget(): void {
      for (const { identities } of all) identities.forgetAll();
      host?.broadcast?.publish('users');
    },
    mailed(): void {
      for (const { outbox } of all) outbox.wake();
    },
  };
}

function openWriter(
  { api, database, planner, model = compiledModel, createWriteSeams, observers }: ServerOptions,
  { audit, driftGuard, createCache, limits, log }: Base,
  { accounts, forget: accountsChanged, mailed }: Users,
  contentsLeft: () => void,
): Writer {
  const observeHook = observers?.observeHook;
  return createWriter({
    ...{ api, database, driftGuard, planner, createCache },
    ...(createWriteSeams && { createSeams: createWriteSeams }),
    reportError: (event, thrown) =>
      log.error({ event, cause: describeCause(thrown, true) }, 'A hook failed after the commit.'),
    reportRefused: (added) => log.warn(added, 'A hook adds a field that the caller may not write, which is refused.'),
    passwordPattern: async () => (await accounts?.settings())?.passwordPolicy ?? null,
    system: createSystemWrites({
      ...{ api, model, accountsChanged, mailed, contentsLeft, audit },
      ...(accounts && { mayMail: accounts.attempts.mention }),
    }),
    ...limits,
    ...(observeHook && { observeHook }),
  });
}

function openFiles(
  { api, database, environment, planner, uploads = '.platform/uploads' }: ServerOptions,
  { driftGuard, log }: Base,
  writer: Writer,
): FileServices | null {
  return createFileServices({
    ...{ api, place: systemPlaceOf(api), database, planner, writer, driftGuard, log },
    environment: environment.files,
    folder: uploads,
  });
}

/** Opens all endpoints, in the order in which they are mounted. */
function openFaces(options: ServerOptions, services: Services, findServer: () => FastifyInstance) {
  const { api, database, environment, planner } = options;
  const { responder, senderOf, writer, accounts, files, log } = services;
  const items = new ItemHandlers({ ...services, api, planner });
  const users = systemPlaceOf(api) === null ? null : createOwnUserHandlers({ api, items, responder });
  const custom = groupEndpoints(createCustomEndpoints({ api, writer, responder, senderOf }));
  const bound = openOperations(options, services);
  const settings = accounts?.settings ?? null;
  const pages = pageEndpoints({ responder, environment, settings, templates: options.pages ?? null });
  const { maxPayloadSize: fieldSize, files: fileSetting } = environment;
  const withUploads =
    files === null
      ? null
      : createUploadEndpoints({ ...files, api, environment: fileSetting, fieldSize, responder, senderOf });
  const { functions, ...calls } = openCalls({ ...services, api, planner });
  const graphql = openGraphql({
    ...{ ...services, api, database, environment, bound, functions },
    passes: options.passes ?? [],
    ...(options.createDocumentCache && { createDocumentCache: options.createDocumentCache }),
    trusted: options.trustedDocuments ?? false,
    log: () => findServer().log,
  });
  const listed = endpointsOf(api, items, users);
  const endpoints = [
    ...(withUploads?.(listed) ?? listed),
    ...(files === null ? [] : createAssetEndpoints({ ...files, environment: fileSetting, responder, log })),
    ...graphql.endpoints,
    ...operationEndpoints(bound, { responder, senderOf, items }),
    ...pages,
    ...(environment.docs ? docsEndpoints(responder) : []),
    ...calls.endpoints,
    ...custom,
  ];
  return { endpoints, graphql, isHidden: calls.isHidden };
}

function openOperations(options: ServerOptions, services: Services): readonly BoundOperation[] {
  const { api, database, environment, planner, watch, host, model = compiledModel } = options;
  const { poolTimeout } = environment.database;
  return bindOperations({
    ...{ ...services, api, database, environment, planner, watch },
    forget() {
      services.forget();
      options.purgeAll?.();
    },
    system: systemPlaceOf(api),
    draining: host?.draining ?? (() => false),
    hostState: host?.hostState ?? (() => readHostState(database, serverOf(api.dialect).askHost, poolTimeout)),
    changeModel: auditModel(model.changeModel, services.audit),
  });
}

/** Makes the server that reads the calls of the endpoints. */
function openFastify(options: ServerOptions, services: Services, { endpoints, isHidden }: Faces): FastifyInstance {
  const { environment, callers, createShortcut, host } = options;
  const { names, rowContext, clientAddress, audit, accounts, limiter, responder } = services;
  const authenticate = createAuthenticator({
    ...{ names, rowContext, clientAddress, audit },
    adminToken: environment.adminToken,
    identities: accounts?.identities ?? null,
  });
  const readLimited = limitCalls(createCallReader(authenticate, endpoints, isHidden), limiter);
  const readCall = noteCallers(spreadCalls(readLimited, names.public, environment.database.poolTimeout), callers);
  const server = createFastifyAdapter(environment, { readCall, endpoints, responder }, createShortcut, host);
  for (const endpoint of endpoints) mountEndpoint(server, responder, environment, endpoint);
  return server;
}

/** Begins what a server does beside requests once it listens, and ends it when it is closed. */
function watchServer(
  server: FastifyInstance,
  { environment, host }: ServerOptions,
  { limiter, accounts, all, writer, files }: Services,
  graphql: Faces['graphql'],
): void {
  // Errors of preparing a document are reported to the client that requests it.
  const warm = (): Promise<void> => {
    files?.loose.wake();
    return graphql.warm().catch((error: unknown) => {
      server.log.warn(
        { event: 'graphql-documents', cause: describeCause(error, true) },
        'Documents cannot be prepared.',
      );
    });
  };
  server.addHook('onReady', async () => limiter?.opened);
  if (host === undefined) {
    server.addHook('onListen', warm);
    server.addHook('onClose', async () => limiter?.close());
  } else {
    host.afterListening(warm);
  }
  server.addHook('onClose', async () => {
    if (accounts !== null) all.delete(accounts);
  });
  server.addHook('onClose', () =>
    Promise.race([
      Promise.all([writer.settled(), accounts?.maintenance.settled(), accounts?.outbox.close(), files?.loose.close()]),
      sleep(environment.shutdownTimeout, undefined, { ref: false }),
    ]),
  );
}

/** Answers that shared caches may keep; null where there are none. */
function answersOf(
  { api, environment, tags = null }: ServerOptions,
  responder: StreamingResponder,
): PublicAnswers | null {
  const { caching } = api;
  if (caching === undefined || tags === null) return null;
  return createPublicAnswers({
    ...{ tags, caching, tagHeader: environment.cache.tagHeader, hasPolicies: api.rowSecurity !== undefined },
    ...{ hasPrimary: responder.hasPrimary, cookies: [environment.auth.cookie.name, consistencyCookie] },
  });
}

type WriteLimits = Pick<WriterOptions, 'limits' | 'fieldLimits' | 'maxItems' | 'answerTtlMs' | 'timeoutMs'>;

/** Sets the limits of values, and returns those of a write's address and body. */
function writeLimits(environment: Environment): WriteLimits {
  const { idempotencyTtl: answerTtlMs, database } = environment;
  limitPositions(environment.geoMaxPositions);
  return {
    ...requestLimits(environment),
    answerTtlMs,
    // A hook holds a connection like a statement does, so it may take as long.
    timeoutMs: database.statementTimeout,
  };
}
