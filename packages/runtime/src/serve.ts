/**
 * Runs a compiled API as a server: opens the database, watches that the two fit, listens, and stops without breaking off
 * what runs. Source: API specification, sections 13 and 16.
 */
import type { FastifyInstance } from 'fastify';
import type { MailFolders } from './auth/accounts.ts';
import type { FirstAdministrator } from './auth/first-administrator.ts';
import type { CompiledApi } from './contract/index.ts';
import type { Database } from './database/database.ts';
import { type DatabasePlace, openDatabase } from './database/open.ts';
import type { Drift } from './drift.ts';
import { createDriftWatch, type DriftWatch } from './drift-watch.ts';
import { EnvironmentError } from './environment/error.ts';
import { type Environment, readEnvironment, readLimits, type Variables } from './environment.ts';
import { localUrl } from './http/local-url.ts';
import { describeCause } from './http/log.ts';
import { createServer } from './http/server.ts';
import { createPlanner } from './query/planner.ts';
import { createWelcome } from './serve/first-user.ts';
import { createLateDatabase } from './serve/late-database.ts';
import { withSecret } from './serve/secret.ts';
import { stopOnSignals } from './serve/signals.ts';

/** How a server is run. Everything has a default. */
export interface ServeOptions {
  /** Environment variables by name; those of the process when absent. */
  readonly variables?: Variables;
  /** The database; DATABASE_URL when absent, and without that an embedded one under `.platform/database`. */
  readonly database?: DatabasePlace;
  /**
   * Whether SIGTERM and SIGINT stop the server and end the process: 0 after a clean stop, at once on a second signal.
   * On unless false: switch it off where the process belongs to somebody else.
   */
  readonly signals?: boolean;
  /** Where mail goes without a mail server, and templates of mails that replace the platform's own. */
  readonly mail?: Partial<MailFolders>;
  /** Folder with templates of pages that replace the platform's own of the same name. None when absent. */
  readonly pages?: string | null;
  /** Folder of the files that are uploaded, unless the environment names others. Default: `.platform/uploads`. */
  readonly uploads?: string;
  /** Answers no GraphQL documents but those that were compiled with the API. Default: any. */
  readonly trustedDocuments?: boolean;
  /**
   * Told of the administrator that was made because there was no user. When absent, the address and a password that was
   * made are printed to the standard output.
   */
  readonly onFirstAdministrator?: (administrator: FirstAdministrator) => void;
}

/** A server that listens. */
export interface RunningServer {
  /** Where it answers, without a trailing slash: `http://127.0.0.1:8055`. */
  readonly url: string;
  /** How the database differs from what was compiled, as of the latest check. */
  drifts(): readonly Drift[];
  /** Stops listening, finishes running requests within SHUTDOWN_TIMEOUT, and closes the database. Can be called twice. */
  close(): Promise<void>;
}

/** Where the embedded database lives when nothing else is said. */
const embeddedFolder = '.platform/database';

/** Where mail is written when no mail server is configured and nothing else is said. */
const mailFolder = '.platform/mail';

/** Where files lie that are uploaded when nothing else is said. */
const uploadsFolder = '.platform/uploads';

/**
 * Serves a compiled API and resolves as soon as requests are answered.
 *
 * A database that is out of reach does not stop the start: requests answer SERVICE_UNAVAILABLE until it is there, and so
 * do collections that do not fit it. Rejects with `EnvironmentError` for unusable variables, with the error of the
 * database when waiting would not help, and with that of Node when the address cannot be used.
 *
 * ```ts
 * await serve(api);
 * ```
 */
export async function serve(api: CompiledApi, options: ServeOptions = {}): Promise<RunningServer> {
  refuseOthers(api);
  const given = environmentOf(options.variables ?? process.env);
  const place = options.database ?? placeOf(given);
  const environment = await withSecret(api, given, place);
  const onFallback = (reason: Error): void =>
    server.log.warn({ cause: describeCause(reason) }, 'The database does not bear the fast driver. Using plain pg.');
  const late = createLateDatabase(() => openDatabase(place, { ...connectionsOf(environment), onFallback }));
  const { database } = late;
  const watch = createDriftWatch({ database, fingerprint: api.fingerprint });
  const planner = createPlanner(api, { limits: readLimits(environment) });
  const mail = { folder: mailFolder, templates: null, ...options.mail };
  const { trustedDocuments = false, pages = null, uploads = uploadsFolder } = options;
  const server = createServer({ api, database, environment, planner, watch, mail, pages, trustedDocuments, uploads });
  const welcome = createWelcome({ api, database, environment, log: server.log, tell: options.onFirstAdministrator });
  const close = closeOnce(server, watch, database, environment.shutdownTimeout);
  try {
    await late.start(server.log);
    await watch.start(server.log);
    await welcome.greet();
    await server.listen({ host: environment.host, port: environment.port });
  } catch (error) {
    await close();
    throw error;
  }
  void late.opened.then(() => (watch.checked() ? undefined : watch.check()));
  void late.opened.then(() => welcome.greet());
  if (options.signals !== false) stopOnSignals(close);
  return { url: localUrl(environment.host, server.server.address()), drifts: watch.drifts, close };
}

/** Half of a server helps nobody: what the runtime does not speak yet is refused before anything is opened. */
function refuseOthers({ dialect }: CompiledApi): void {
  if (dialect === 'postgres') return;
  const message = `DATABASE_URL cannot be used: the API is compiled for ${dialect}, which can be introspected and compiled but not served yet.`;
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

function connectionsOf({ database }: Environment) {
  return {
    driver: database.driver,
    poolMax: database.poolMax,
    poolTimeoutMs: database.poolTimeout,
    statementTimeoutMs: database.statementTimeout,
  };
}

function closeOnce(server: FastifyInstance, watch: DriftWatch, database: Database, grace: number): () => Promise<void> {
  let closing: Promise<void> | null = null;
  return function close() {
    closing ??= closeAll(server, watch, database, grace);
    return closing;
  };
}

async function closeAll(server: FastifyInstance, watch: DriftWatch, database: Database, grace: number): Promise<void> {
  const end = performance.now() + grace;
  watch.stop();
  // Connections that are not done in time are broken off: the process must end.
  const breakOff = setTimeout(() => server.server.closeAllConnections(), grace);
  await server.close();
  clearTimeout(breakOff);
  await database.close(Math.max(0, end - performance.now()));
}
