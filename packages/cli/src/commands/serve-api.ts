/** Serving of the generated API in one process: the part that `start`, its workers and `dev` share. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Diagnostic } from '@tablewright/introspect';
import type {
  CompiledApi,
  DatabasePlace,
  Drift,
  FirstAdministrator,
  RunningServer,
  ServeOptions,
} from '@tablewright/runtime';
import { serve, serveMetrics } from '@tablewright/runtime';
import type { Variables } from '@tablewright/runtime/tools';
import {
  EnvironmentError,
  keptSecret,
  readEnvironment,
  refuseContract,
  startFailure,
} from '@tablewright/runtime/tools';
import { CommandError, exitCodes, ownCodeError } from '../errors/failures.ts';
import { importGenerated } from '../modules/generated-modules.ts';
import { readManifest } from '../output/manifest.ts';
import { addressesOf } from '../process/shared-port.ts';
import type { WorkerCluster, WorkerClusterOptions } from '../process/worker-cluster.ts';
import { idleVariables } from '../project/environment-file.ts';
import { databaseUrl, embeddedFolder, type Settings } from '../project/settings.ts';
import type { Source } from '../sources/source.ts';
import { ownVariable } from '../terminal/own-variable.ts';
import type { Progress } from '../terminal/progress.ts';
import {
  type AdminToken,
  adminToken,
  printWelcome,
  type ReportedAdministrator,
  reportAdministrator,
  type Welcome,
} from '../terminal/welcome.ts';
import type { StartOptions } from './options.ts';

interface DevelopmentOptions {
  readonly development?: boolean;
  /** An API that is loaded already. Default: the generated files are loaded. */
  readonly loaded?: CompiledApi;
}

export async function serveOne(
  project: Settings,
  source: Source | null,
  {
    sample,
    trustedDocuments = false,
    frozen = false,
    signals = true,
    recordExamples = false,
    recompiler,
    gatherMetrics,
    room,
    connections,
    development = false,
    loaded,
  }: StartOptions &
    Pick<ServeOptions, 'signals' | 'recompiler' | 'gatherMetrics' | 'room' | 'connections'> &
    DevelopmentOptions,
  progress: Progress,
) {
  const token = await adminToken(project.stateFolder);
  const api = loaded ?? (await progress.phase('load', () => importApi(project)));
  let administrator: ReportedAdministrator | null = null;
  let isListening = false;
  const onFirstAdministrator = async (made: FirstAdministrator): Promise<void> => {
    administrator = await reportAdministrator(made, project.stateFolder, progress, isListening);
  };
  // The sample is there to be tried out.
  const tried = sample === true ? { GRAPHIQL: 'true', DOCS: 'true' } : {};
  const explaining = sample === true || development ? { EXPLAIN: 'true' } : {};
  const variables = { ...tried, ...explaining, ...(await variablesOf(project, token)) };
  const server = await progress.phase('listen', async () =>
    listen(api, project, source, {
      variables,
      trustedDocuments,
      onFirstAdministrator,
      frozen,
      signals,
      ...(gatherMetrics !== undefined && { gatherMetrics }),
      ...(room !== undefined && { room }),
      ...(connections !== undefined && { connections }),
      ...(!frozen && (recompiler === undefined ? await recompilerOf(project, api) : { recompiler })),
      ...(recordExamples && { onExchange: await (await import('../examples/record.ts')).createRecorder(project) }),
    }),
  );
  isListening = true;
  return { server, api, token, administrator };
}

/** Compiles administrators' changes of the model while the server runs, where the platform's tables are installed. */
async function recompilerOf(settings: Settings, api: CompiledApi): Promise<Pick<ServeOptions, 'recompiler'>> {
  const needed = settings.config.permissionSource === 'tables';
  const possible = existsSync(settings.schemaFile) && api.collections.some(({ system }) => system === true);
  if (!needed && !possible) return {};
  const [{ createRecompiler }, { loadProject }] = await Promise.all([
    import('../recompile/recompiler.ts'),
    import('../project/project.ts'),
  ]);
  const project = await loadProject(settings.folder, settings.stateFolder);
  return { recompiler: await createRecompiler(project, api) };
}

/** Variables of the process, with the secrets in the state folder if the project's database lies there, too. */
async function variablesOf(project: Settings, token: AdminToken): Promise<Variables> {
  const needsSecret = databaseUrl(project) === null && ownVariable('SECRET') === null;
  const kept = needsSecret ? { SECRET: await secretOf(project) } : {};
  const made = token.source === 'file' ? { ADMIN_TOKEN: token.value } : {};
  return { ...process.env, ...made, ...kept };
}

async function secretOf({ stateFolder }: Settings): Promise<string> {
  try {
    return await keptSecret(stateFolder);
  } catch (error) {
    throw await startError(error, null);
  }
}

/** Loads the generated API. Rejects with advice if there is none. */
export async function importApi(project: Settings): Promise<CompiledApi> {
  if (!existsSync(join(project.output, 'server.js'))) {
    throw new CommandError(exitCodes.start, 'Nothing is generated yet.', 'Run `platform generate` first.');
  }
  await checkContract(project);
  try {
    return (await importGenerated(project.output)).api;
  } catch (error) {
    const described = ownCodeError(error, project, exitCodes.start);
    if (!isMissingFile(error) || described instanceof CommandError) throw described;
    throw new CommandError(
      exitCodes.start,
      `The generated code cannot be loaded: ${error.message}`,
      'Run `platform generate` again.',
    );
  }
}

/** Before anything is loaded, which could fail in any way where it was made for another runtime. */
export async function checkContract({ folder, output }: Settings): Promise<void> {
  const manifest = await readManifest(output);
  try {
    if (manifest !== null) refuseContract(manifest.contract, relative(folder, output));
  } catch (error) {
    throw await startError(error, null);
  }
}

function isMissingFile(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}

async function listen(
  api: CompiledApi,
  project: Settings,
  source: Source | null,
  options: Pick<
    ServeOptions,
    | 'variables'
    | 'trustedDocuments'
    | 'onFirstAdministrator'
    | 'frozen'
    | 'recompiler'
    | 'signals'
    | 'onExchange'
    | 'gatherMetrics'
    | 'room'
    | 'connections'
  >,
): Promise<RunningServer> {
  try {
    return await serve(api, { ...options, database: placeOf(project, source), ...foldersOf(project) });
  } catch (error) {
    throw await startError(error, databaseUrl(project));
  }
}

/** Mails that no server takes lie beside the rest of the state; a project's own templates lie with those of its code. */
function foldersOf({
  folder,
  stateFolder,
  config,
}: Settings): Required<Pick<ServeOptions, 'mail' | 'pages' | 'uploads'>> {
  const templates = (kind: 'mail' | 'pages'): string | null => {
    const path = config.templates === undefined ? null : join(folder, config.templates, kind);
    return path !== null && existsSync(path) ? path : null;
  };
  return {
    mail: { folder: join(stateFolder, 'mail'), templates: templates('mail') },
    pages: templates('pages'),
    uploads: join(stateFolder, 'uploads'),
  };
}

function placeOf(project: Settings, source: Source | null): DatabasePlace {
  const url = databaseUrl(project);
  return url === null ? { embedded: source?.embedded ?? embeddedFolder(project) } : { url };
}

async function startError(error: unknown, url: string | null): Promise<unknown> {
  const failure = await startFailure(error, url);
  return failure === null ? error : new CommandError(failure.exitCode, failure.message, failure.hint);
}

/** Milliseconds that a process has to end beside those for its requests. */
const endMs = 10_000;

/** Settings of all processes: the address for their clients, and the time to finish. */
export const sharedSettings: Pick<WorkerClusterOptions, 'listenAddress' | 'describe' | 'longestFinish'> = {
  async listenAddress() {
    const reading = readEnvironment(process.env);
    if (!reading.ok) throw new EnvironmentError(reading.problems);
    const { host, port } = reading.environment;
    return { hosts: await addressesOf(host), port };
  },
  describe: (error) => startError(error, null),
  longestFinish() {
    const reading = readEnvironment(process.env);
    if (!reading.ok) return endMs;
    const { shutdownDelay, shutdownTimeout } = reading.environment;
    // Requests have the time once, hooks and mails behind them once more. A timer for longer would fire at once.
    return Math.min(shutdownDelay + 2 * shutdownTimeout + endMs, 2 ** 31 - 1);
  },
};

/** Listens for the metrics of other processes, where they are asked for; gives the listener. */
export async function watchServers(workers: WorkerCluster): ReturnType<typeof serveMetrics> {
  try {
    const gather = (): ReturnType<WorkerCluster['metrics']> => workers.metrics();
    return await serveMetrics(process.env, { gather, ready: (role) => workers.ready(role) });
  } catch (error) {
    throw await startError(error, null);
  }
}

/** Drifts are reported at once; their collections answer SERVICE_UNAVAILABLE until they fit again. */
export function reportDrift(drifts: readonly Drift[], progress: Progress): void {
  for (const drift of drifts) {
    progress.event('drift', { ...drift });
    progress.print(`  ${drift.severity}: ${drift.message}`);
  }
}

/** Prints what people need of a server that listens, after variables without effect. */
export function printListening(
  project: Settings,
  served: Omit<Welcome, 'stateFolder' | 'database'>,
  progress: Progress,
): void {
  const facts = { code: 'variable-without-effect', severity: 'warning', place: 'environment' } as const;
  const hint = 'Set both, or neither.';
  reportWarnings(
    idleVariables(process.env).map((message) => ({ ...facts, message, hint })),
    progress,
  );
  printWelcome({ ...served, stateFolder: project.stateFolder, database: databaseUrl(project) }, progress);
}

/** Warnings stop no start; each has the command to run. */
export function reportWarnings(warnings: readonly Diagnostic[], progress: Progress): void {
  for (const warning of warnings) {
    progress.event('diagnostic', { ...warning });
    progress.print(`  warning: ${warning.place}: ${warning.message} ${warning.hint ?? ''}`.trimEnd());
  }
}
