/**
 * Runs a compiled API as a server: opens the database, watches that the two fit, listens, and stops without breaking
 * off requests. Source: API specification, sections 13 and 16.
 */

import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MailFolders } from '../auth/accounts.ts';
import type { FirstAdministrator } from '../auth/first-administrator.ts';
import { refuseContract } from '../contract-error.ts';
import type { Database } from '../database/database.ts';
import { watchHost } from '../database/host-watch.ts';
import { withoutWrites } from '../database/read-only.ts';
import { createSlowLog } from '../database/slow-log.ts';
import { serverOf } from '../dialects/index.ts';
import { type DatabasePlace, openDatabase } from '../dialects/open.ts';
import type { Drift } from '../drift.ts';
import { createDriftWatch } from '../drift-watch.ts';
import { EnvironmentError } from '../environment/error.ts';
import { renewableUrl } from '../environment/renewable-url.ts';
import { type Environment, readEnvironment, readLimits, type Variables } from '../environment.ts';
import { createGenerations, type Generations } from '../generations/generations.ts';
import { createModelWatch, type ModelWatch, type ModelWatchOptions } from '../generations/model-watch.ts';
import { type AnsweredExchange, type KnownCallers, recordRequests } from '../http/exchanges.ts';
import { createListener, type Listener } from '../http/fastify-adapter.ts';
import { createHealth, type Readiness, readinessOf } from '../http/health.ts';
import { createHost, type HostParts } from '../http/host.ts';
import { localUrl } from '../http/local-url.ts';
import { createServer } from '../http/server.ts';
import { type CompiledApi, dialectFacts, familyOf, modelChannel } from '../language/index.ts';
import { refuseNewerTables } from '../migrations/newer-tables.ts';
import { compiledModel, frozenModel } from '../model/model-changes.ts';
import type { Recompiler } from '../model/recompiler.ts';
import { describeCause, type Log } from '../operate/log.ts';
import type { MetricValues } from '../operate/metrics/measured.ts';
import { createFastPath } from '../optimize/fast-path/fast-path.ts';
import { keepPlans } from '../optimize/plan-cache/template.ts';
import { startPaths } from '../pages/page-paths.ts';
import { createPlanner } from '../query/planner.ts';
import { systemPlaceOf } from '../system/place.ts';
import { type FoundProvider, loadProvider } from '../traces/open-telemetry.ts';
import { createDatabaseHosts, type DatabaseHosts } from './database-hosts.ts';
import { createWelcome } from './first-user.ts';
import { collectWhenIdle } from './idle-memory.ts';
import { createInstruments, type GatherMetrics, type Instruments } from './instruments.ts';
import { createLateDatabase } from './late-database.ts';
import { withSecret } from './secret.ts';
import { stopOnSignals } from './signals.ts';
import { warnOfPolicies } from './warn-of-policies.ts';
import { boundYoungGeneration } from './young-generation.ts';

/** How a server is run. Everything has a default. */
export interface ServeOptions {
  /** Environment variables by name; those of the process when absent. */
  readonly variables?: Variables;
  /** The database; DATABASE_URL when absent, and without that an embedded one under `.platform/database`. */
  readonly database?: DatabasePlace;
  /**
   * True if SIGTERM and SIGINT stop the server and end the process: 0 after a clean stop, at once on a second signal.
   * On unless false: switch it off if the process belongs to another application.
   */
  readonly signals?: boolean;
  /** Where mail goes without a mail server, and templates of mails that replace the platform's own. */
  readonly mail?: Partial<MailFolders>;
  /** Folder with templates of pages that replace the platform's own of the same name. None when absent. */
  readonly pages?: string | null;
  /** Folder of the files that are uploaded, unless the environment names others. Default: `.platform/uploads`. */
  readonly uploads?: string;
  /**
   * Compiles roles and rules anew when the platform's own tables differ from the served API. Closed with the server.
   * Default: none, and the rules in the tables cannot be written by requests.
   */
  readonly recompiler?: Recompiler;
  /** Refuses writes to roles, too, so that the server serves exactly the generated API. Default: false. */
  readonly frozen?: boolean;
  /** Answers no GraphQL documents but those that were compiled with the API. Default: any. */
  readonly trustedDocuments?: boolean;
  /**
   * Called with the administrator that was made because there was no user. When absent, the address is printed to the
   * standard output. A generated password comes with it on a terminal, else the path of a file that has it.
   */
  readonly onFirstAdministrator?: (administrator: FirstAdministrator) => void | Promise<void>;
  /**
   * Called with every request and its answer, bodies of at most 16 KB. It costs time; not for production. Default:
   * none.
   */
  readonly onExchange?: (httpContext: AnsweredExchange) => void;
  /**
   * Gathers the metrics of all processes that serve together. The process that watches over them listens on METRICS_PORT
   * then. Default: the metrics are those of this process.
   */
  readonly gatherMetrics?: GatherMetrics;
}

/** A server that listens. */
export interface RunningServer {
  /** Where it answers, without a trailing slash: `http://127.0.0.1:8055`. */
  readonly url: string;
  /** Paths of the pages that people begin with; `/` leads to all of them. */
  readonly pages: readonly string[];
  /** Where `/metrics` is read, without that path; null where METRICS_PORT says nothing, or another process listens. */
  readonly metricsUrl: string | null;
  /** Answer of `/server/ready`: `ok`, or the reason why no request should be sent here. With the role `any` reading is enough. */
  ready(role?: string): Promise<Readiness>;
  /** Reads the metrics of this process; none where nothing is counted. */
  metrics(): Promise<readonly MetricValues[]>;
  /** Differences between the database and the compiled API, as of the latest check. */
  drifts(): readonly Drift[];
  /**
   * Has new requests answered by another API of the same database; those under way stay with the one that they began with.
   * Rejects, and leaves the current one, when it cannot be started.
   */
  replace(api: CompiledApi): Promise<void>;
  /**
   * Serves everything for SHUTDOWN_DELAY, stops listening, finishes running requests within SHUTDOWN_TIMEOUT, and closes
   * the database. Can be called twice. Where another process has taken over, `lingerMs` stands for SHUTDOWN_DELAY, and no
   * new connections are accepted in it.
   */
  close(lingerMs?: number): Promise<void>;
}

/** Where the embedded database lives when nothing else is said. */
const embeddedFolder = '.platform/database';

/** Where mail is written when no mail server is configured and nothing else is said. */
const mailFolder = '.platform/mail';

/** Milliseconds that a stopping server has for exporting spans, also where requests took all of its time. */
const leastFlushMs = 2_000;

/** Where files lie that are uploaded when nothing else is said. */
const uploadsFolder = '.platform/uploads';

/**
 * Serves a compiled API and resolves as soon as requests are answered.
 *
 * A database that is out of reach does not stop the start. Requests answer SERVICE_UNAVAILABLE until it is there, and
 * so do collections that do not fit it. Rejects with `EnvironmentError` for unusable variables, and with
 * `ContractError` for files that another version generated. Rejects with the error of the database when waiting would
 * not help, and with that of Node when the address cannot be used.
 * @example await serve(api);
 */
export async function serve(api: CompiledApi, options: ServeOptions = {}): Promise<RunningServer> {
  refuseContract(api.contract);
  const variables = options.variables ?? process.env;
  const initial = environmentOf(variables);
  const location = options.database ?? placeOf(initial);
  refuseOthers(api, location);
  const address = 'url' in location ? renewableUrl(variables, location.url) : undefined;
  const environment = await withSecret(api, initial, location);
  const hosts = await createDatabaseHosts(environment, location, address, () => httpListener.server.log);
  const renewable = address && { renewable: address, ...hosts?.connections };
  const onFallback = (reason: Error): void =>
    httpListener.server.log.warn(
      { cause: describeCause(reason) },
      'The database does not bear the fast driver. Using plain pg.',
    );
  const provider = await loadProvider(environment.operate.tracesModule);
  const instruments = await instrumentsOf(environment, options, provider);
  const connections = { ...connectionsOf(environment), ...renewable, onFallback, poolObserver: instruments.pool };
  const late = createLateDatabase(async () => {
    await hosts?.find();
    const opened = await openDatabase(location, connections);
    const slow = createSlowLog(environment, opened, () => httpListener.server.log);
    return instruments.database(opened, api.dialect, { slow });
  });
  const { askHost, listen } = serverOf(api.dialect);
  const { poolTimeout: timeoutMs, readOnly } = environment.database;
  const watched = hosts?.watch(late.database) ?? watchHost(late.database, askHost, timeoutMs);
  const database = readOnly ? withoutWrites(late.database) : watched.database;
  const httpListener = createListener(environment, () => generations.current().server, instruments.listener);
  const { log } = httpListener.server;
  if (provider !== null && 'problem' in provider) log.warn({ cause: describeCause(provider.cause) }, provider.problem);
  const host = createHost(httpListener, environment, watched);
  const model = createModel(api, database, log, options, {
    current: () => generations.current().api,
    swap: (next) => generations.replace(next),
    ...('url' in location &&
      listen !== undefined && {
        listen: (heard) => listen({ url: location.url, ...renewable, channel: modelChannel, heard }),
      }),
  });
  const mail = { folder: mailFolder, templates: null, ...options.mail };
  const { trustedDocuments = false, pages = null, uploads = uploadsFolder, onExchange } = options;
  const callers: KnownCallers | null = onExchange === undefined ? null : new WeakMap();
  if (callers !== null && onExchange !== undefined) recordRequests(httpListener.server.server, callers, onExchange);
  const made = createGenerations(api, (compiled, existing) => {
    const observers = instruments.serves(compiled);
    const caches = environment.optimizations.has('plan-cache') ? keepPlans(observers.createCache) : {};
    const watch = existing ?? createDriftWatch({ database, ...watchedOf(compiled) });
    const planner = createPlanner(compiled, { limits: readLimits(environment), ...caches });
    const set = {
      database,
      environment,
      planner,
      watch,
      mail,
      pages,
      trustedDocuments,
      uploads,
      host,
      observers,
      ...caches,
      ...(environment.optimizations.has('fast-path') && { createShortcut: createFastPath }),
      model: model.changes,
      ...(callers && { callers }),
    };
    return { api: compiled, watch, server: createServer({ api: compiled, ...set }) };
  });
  const generations = instruments.generations(made);
  const health = createHealth({
    database,
    hostState: host.hostState,
    watch: generations.watch,
    timeoutMs,
    readOnly,
  });
  const ready: RunningServer['ready'] = async (role) => readinessOf(await health(), role, host.draining());
  const welcome = createWelcome({ api, database, environment, log, report: options.onFirstAdministrator });
  const { shutdownDelay: delay, shutdownTimeout: grace } = environment;
  const running = { listener: httpListener, host, model, generations, instruments, database, hosts, delay, grace };
  const close = closeOnce(running);
  let tablesAreKnown = false;
  // Waits for a database do not keep a process running, and until it listens nothing else does.
  const awake = setInterval(() => {}, 2 ** 30);
  try {
    await late.start(log);
    tablesAreKnown = await refuseNewerTables(api, database, log);
    await watched.state();
    await generations.start(log);
    // Before the first request: rights that were taken away meanwhile must not come back with a start.
    await model.look();
    await welcome.greet();
    await instruments.open({ listener: httpListener, ready, database, api });
    await httpListener.server.listen({ host: environment.host, port: environment.port });
  } catch (error) {
    await close();
    throw error;
  } finally {
    clearInterval(awake);
  }
  host.listening();
  model.start();
  const stopCollecting = collectWhenIdle();
  httpListener.server.server.once('close', stopCollecting);
  httpListener.server.server.once('close', boundYoungGeneration());
  void late.opened.then(() => {
    const { watch } = generations.current();
    return watch.checked() ? undefined : watch.check();
  });
  void late.opened.then(() => welcome.greet());
  void late.opened.then(() => warnOfPolicies(api, database, log));
  if (!tablesAreKnown) {
    void late.opened
      .then(() => refuseNewerTables(api, database, log))
      .catch(async (error: unknown) => {
        log.fatal({ cause: describeCause(error) }, 'The tables of the platform are newer than this version.');
        await close();
        // 1, as for a start that finds them so.
        if (options.signals !== false) process.exit(1);
      });
  }
  if (options.signals !== false) stopOnSignals(() => close());
  return {
    url: localUrl(environment.host, httpListener.server.server.address()),
    pages: startPaths({
      docs: environment.docs,
      graphiql: environment.graphql.graphiql,
      accounts: systemPlaceOf(api) !== null,
    }),
    metricsUrl: instruments.url(),
    ready,
    metrics: instruments.read,
    drifts: generations.watch.drifts,
    replace: generations.replace,
    close,
  };
}

/** Handles writes to the collections that the API is compiled from. */
function createModel(
  api: CompiledApi,
  database: Database,
  log: Log,
  { recompiler, frozen = false }: ServeOptions,
  served: Pick<ModelWatchOptions, 'current' | 'swap' | 'listen'>,
): ModelWatch {
  const location = systemPlaceOf(api);
  if (location !== null && recompiler !== undefined && !frozen) {
    return createModelWatch({ database, place: location, recompiler, log, ...served });
  }
  return {
    changes: frozen ? frozenModel : compiledModel,
    async look() {},
    start() {},
    stop: async () => recompiler?.close(),
  };
}

/** Statements for one server do not run on another, so a mismatch is refused before anything is opened. */
function refuseOthers({ dialect }: CompiledApi, location: DatabasePlace): void {
  if (dialectFacts[dialect].family === familyOf('url' in location ? location.url : '')) return;
  const reason = `the API was compiled for another kind of database, which is ${dialect}`;
  const message = `DATABASE_URL does not fit: ${reason}. Run \`platform generate\` with this DATABASE_URL.`;
  throw new EnvironmentError([{ variable: 'DATABASE_URL', message }]);
}

function environmentOf(variables: Variables): Environment {
  const reading = readEnvironment(variables);
  if (!reading.ok) throw new EnvironmentError(reading.problems);
  return reading.environment;
}

function placeOf({ database }: Environment): DatabasePlace {
  return database.url === null ? { embedded: embeddedFolder } : { url: database.url };
}

/** Instruments that the environment asks for, and those of a provider of spans. */
async function instrumentsOf(
  environment: Environment,
  { gatherMetrics }: ServeOptions,
  provider: FoundProvider,
): Promise<Instruments> {
  const instruments = createInstruments(environment, gatherMetrics ?? null);
  if (provider === null || 'problem' in provider) return instruments;
  const { traceInstruments } = await import('./traced-instruments.ts');
  return traceInstruments(instruments, provider);
}

function connectionsOf({ database, streams, optimizations }: Environment) {
  return {
    driver: optimizations.has('fast-driver') ? database.driver : ('pg' as const),
    optimizations,
    poolMax: database.poolMax,
    poolTimeoutMs: database.poolTimeout,
    statementTimeoutMs: database.statementTimeout,
    publicStatementTimeoutMs: database.publicStatementTimeout,
    ...(database.streamMax !== null && { streamMax: database.streamMax }),
    ...(streams.clientMax !== null && { streamClientMax: streams.clientMax }),
  };
}

/** Options of the drift watch of an API: its fingerprint and the platform's own tables. */
function watchedOf({ fingerprint, dialect, collections }: CompiledApi) {
  const tables = collections.filter(({ system }) => system === true).map(({ table }) => table);
  return { fingerprint, dialect, ownTables: new Set(tables) };
}

/** Parts of a server that closing it ends. */
interface Running {
  readonly listener: Listener;
  readonly host: HostParts;
  readonly model: ModelWatch;
  readonly generations: Generations;
  readonly instruments: Instruments;
  readonly database: Database;
  readonly hosts: DatabaseHosts | null;
  /** Milliseconds for which all requests are served, and then only those under way. */
  readonly delay: number;
  readonly grace: number;
}

function closeOnce(running: Running): RunningServer['close'] {
  let closing: Promise<void> | null = null;
  return function close(lingerMs) {
    closing ??= closeAll(running, lingerMs);
    return closing;
  };
}

/** The `close` of HTTP servers would also end idle connections at once. */
function stopAccepting(server: Server): void {
  Server.prototype.close.call(server);
}

/** Cuts the connections that are not done in time, because the process must end. By then idle ones are closed. */
function breakOffRequests({ server, log }: Listener['server']): void {
  server.getConnections((_, requests) => {
    log.warn({ requests }, 'Requests were cut, because they took longer than SHUTDOWN_TIMEOUT.');
    server.closeAllConnections();
  });
}

async function closeAll(running: Running, lingerMs: number | undefined): Promise<void> {
  const { listener: httpListener, host, model, generations, instruments, database, delay, grace } = running;
  host.drain();
  const pause = lingerMs ?? delay;
  if (pause > 0 && httpListener.server.server.listening) {
    if (lingerMs !== undefined) stopAccepting(httpListener.server.server);
    // A client that sends on a connection while it is closed would lose its request: it learns of the end before.
    httpListener.responder.hangUp();
    await sleep(pause);
  }
  const end = performance.now() + grace;
  generations.current().watch.stop();
  const breakOff = setTimeout(breakOffRequests, grace, httpListener.server);
  await httpListener.server.close();
  clearTimeout(breakOff);
  instruments.close();
  // After the last request, which may be about to compile the rows that it has written.
  await model.stop();
  await generations.close();
  host.limiter?.close();
  await database.close(Math.max(0, end - performance.now()));
  running.hosts?.close();
  await instruments.flush(Math.max(leastFlushMs, end - performance.now()));
}
