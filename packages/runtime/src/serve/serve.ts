/** Runs a compiled API as a server, and stops without breaking off requests. Source: sections 13 and 16. */
import type { Database } from '../database/database.ts';
import { RowSecurityError } from '../database/errors.ts';
import { serverOf } from '../dialects/index.ts';
import { localUrl, readEnvironment } from '../environment.ts';
import { PlatformError, refuseContract } from '../errors.ts';
import type { CompiledApi } from '../language/index.ts';
import { refuseNewerTables } from '../migrations/migrate.ts';
import { describeCause, type Log } from '../operate/log.ts';
import { startPaths } from '../pages/pages.ts';
import { examineRowSecurity } from '../row-security/examine.ts';
import { systemPlaceOf } from '../system/place.ts';
import { closeOnce, logStrayFailures, stopOnSignals } from './close.ts';
import { createWelcome, type Welcome } from './first-user.ts';
import { boundYoungGeneration, collectWhenIdle } from './memory.ts';
import type { RunningServer, ServeOptions } from './options.ts';
import { createParts, type ServeParts } from './parts.ts';
import { readSetting, type ServeSetting } from './setting.ts';
import { startFailure } from './start-failure.ts';

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
  const setting = await readSetting(api, options);
  const parts = await createParts(api, options, setting);
  const close = closeOnce(parts, setting);
  const welcome = welcomeOf(api, options, setting, parts);
  const tablesAreKnown = await start(api, setting, parts, welcome, close);
  watchProcess(parts);
  goOnWithDatabase(api, parts, welcome);
  if (!tablesAreKnown) refuseUnfitLater(api, options, setting, parts, close);
  if (options.signals !== false) stopOnSignals(() => close());
  const greetFirst = (next: CompiledApi) => welcomeOf(next, options, setting, parts).greet();
  return running(api, setting, parts, close, greetFirst);
}

function welcomeOf(
  api: CompiledApi,
  { onFirstAdministrator: report }: ServeOptions,
  { environment, provider }: ServeSetting,
  { database, listener }: ServeParts,
): Welcome {
  const { log } = listener.server;
  if (provider !== null && 'problem' in provider) log.warn({ cause: describeCause(provider.cause) }, provider.problem);
  return createWelcome({ api, database, environment, log, report });
}

/** Starts the parts, and listens. True if the version of the platform's tables is known. Closes all when it fails. */
async function start(
  api: CompiledApi,
  { instruments, location }: ServeSetting,
  { late, watched, database, listener, acceptor, host, model, generations, ready }: ServeParts,
  welcome: Welcome,
  close: RunningServer['close'],
): Promise<boolean> {
  const { server } = listener;
  // Waits for a database do not keep a process running, and until it listens nothing else does.
  const awake = setInterval(() => {}, 2 ** 30);
  try {
    await late.start(server.log);
    const tablesAreKnown = await refuseUnfit(api, database, server.log, !('url' in location));
    await watched.state();
    await generations.start(server.log);
    // Before the first request: rights that were taken away meanwhile must not come back with a start.
    await model.look();
    await welcome.greet();
    await instruments.open({ listener, ready, database, api });
    await acceptor.open();
    host.listening();
    model.start();
    return tablesAreKnown;
  } catch (error) {
    await close();
    throw error;
  } finally {
    clearInterval(awake);
  }
}

function watchProcess({ listener }: ServeParts): void {
  const { server, log } = listener.server;
  server.once('close', logStrayFailures(log));
  server.once('close', collectWhenIdle());
  server.once('close', boundYoungGeneration());
}

/** Does what a database is asked for that was out of reach at the start. */
function goOnWithDatabase(
  api: CompiledApi,
  { late, generations, database, listener }: ServeParts,
  welcome: Welcome,
): void {
  void late.opened.then(() => {
    const { watch } = generations.current();
    return watch.checked() ? undefined : watch.check();
  });
  void late.opened.then(() => welcome.greet());
  void late.opened.then(() => warnOfPolicies(api, database, listener.server.log));
}

function refuseUnfitLater(
  api: CompiledApi,
  { signals }: ServeOptions,
  { location }: ServeSetting,
  { late, database, listener }: ServeParts,
  close: RunningServer['close'],
): void {
  const { log } = listener.server;
  void late.opened
    .then(() => refuseUnfit(api, database, log, !('url' in location)))
    .catch(async (error: unknown) => {
      log.fatal({ cause: describeCause(error) }, 'The database does not fit this version.');
      await close();
      // 1, as for a start that finds them so.
      if (signals !== false) process.exit(1);
    });
}

function running(
  api: CompiledApi,
  { environment, instruments }: ServeSetting,
  { acceptor, generations, model, ready }: ServeParts,
  close: RunningServer['close'],
  greet: (api: CompiledApi) => Promise<void>,
): RunningServer {
  const { docs, graphql, host } = environment;
  return {
    url: localUrl(host, acceptor.address()),
    pages: startPaths({ docs, graphiql: graphql.graphiql, accounts: systemPlaceOf(api) !== null }),
    metricsUrl: instruments.url(),
    ready,
    metrics: instruments.read,
    drifts: generations.watch.drifts,
    async replace(next) {
      const { api: previous } = generations.current();
      model.adopt(next);
      await generations.replace(next);
      // The platform's own tables were installed meanwhile.
      if (systemPlaceOf(previous) !== null || systemPlaceOf(next) === null) return;
      await greet(next);
      model.start();
    },
    close,
  };
}

/**
 * Serves a compiled API as the purpose of this process: a start that fails is one sentence and an exit code.
 * @example await serveProcess(api);
 */
export async function serveProcess(api: CompiledApi): Promise<void> {
  try {
    await serve(api);
  } catch (error) {
    const failure = await startFailure(error, databaseUrl());
    if (failure === null) throw error;
    process.stderr.write(`${failure.message}\n${failure.hint === null ? '' : `  ${failure.hint}\n`}`);
    process.exit(failure.exitCode);
  }
}

/** URL of the environment; null where the database is embedded, or the environment is what is wrong. */
function databaseUrl(): string | null {
  const reading = readEnvironment(process.env);
  return reading.ok ? reading.environment.database.url : null;
}

/** Rejects where it does not fit. Resolves to whether that is known: false while the database does not answer. */
async function refuseUnfit(
  api: CompiledApi,
  database: Pick<Database, 'query'>,
  log: Pick<Log, 'warn'>,
  isEmbedded: boolean,
): Promise<boolean> {
  const isKnown = await refuseNewerTables(api, database, log);
  if (api.rowSecurity === undefined) return isKnown;
  const findings = await examineRowSecurity(api, database, isEmbedded).catch((error: unknown) => {
    if (error instanceof PlatformError && error.code === 'SERVICE_UNAVAILABLE') return null;
    throw error;
  });
  const refused = findings?.filter((finding) => finding.refused) ?? [];
  if (refused.length > 0) throw new RowSecurityError(refused);
  for (const { code, message, advice } of findings ?? []) log.warn({ code, advice }, message);
  return isKnown && findings !== null;
}

/** Looks at the tables of the API; one line of the log for each that hides rows. */
async function warnOfPolicies(
  { dialect, fingerprint, rowSecurity }: Pick<CompiledApi, 'dialect' | 'fingerprint' | 'rowSecurity'>,
  database: Pick<Database, 'query'>,
  log: Pick<Log, 'warn'>,
): Promise<void> {
  const secured = fingerprint.objects.filter(({ rowSecurity }) => rowSecurity);
  if (secured.length === 0 || rowSecurity !== undefined) return;
  const tables =
    (await serverOf(dialect)
      .readTableSecurity?.(database, secured)
      .catch(() => [])) ?? [];
  for (const { table, role, policies } of tables.filter(({ isBound }) => isBound)) {
    const message =
      policies.length === 0
        ? `The database role sees no rows of ${table}: no policy for reading is for it. Lists of it are empty.`
        : `The database role sees only rows of ${table} that its policies let through.`;
    log.warn({ table, role, policies }, `${message} Set \`database.rowSecurity\` to pass callers on.`);
  }
}
