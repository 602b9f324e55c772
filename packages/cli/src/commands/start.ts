import cluster from 'node:cluster';
import { existsSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { join, relative } from 'node:path';
import { isatty } from 'node:tty';
import type { Diagnostic } from '@tablewright/introspect';
import type { FullDisk, PassedConnections, RunningServer, ServeOptions } from '@tablewright/runtime';
import { onStopSignals, stopSignals } from '@tablewright/runtime/tools';
import { CommandError, exitCodes, knownFailure } from '../errors/failures.ts';
import { configName } from '../modules/import-config.ts';
import { readManifest, warnOfEdited } from '../output/manifest.ts';
import { type ServiceManager, serviceManager } from '../process/service-manager.ts';
import {
  type LeaderMessage,
  type ProcessMetrics,
  Questions,
  WorkerCluster,
  type WorkerMessage,
} from '../process/worker-cluster.ts';
import { databaseUrl, hasDatabase, loadSettings, type Settings } from '../project/settings.ts';
import { digestSources } from '../project/source-digests.ts';
import type { Source } from '../sources/source.ts';
import { ownVariable } from '../terminal/own-variable.ts';
import { createProgress, type Progress, processProgress } from '../terminal/progress.ts';
import { adminToken } from '../terminal/welcome.ts';
import { type StartOptions, workerCount } from './options.ts';
import {
  checkContract,
  importApi,
  printListening,
  reportDrift,
  reportWarnings,
  serveOne,
  sharedSettings,
  watchServers,
} from './serve-api.ts';

/** `platform start`: serves the generated API. Resolves once it listens; signals end the process. */
export async function start(options: StartOptions): Promise<void> {
  const progress = processProgress(options);
  // The compiler is as much code as the server, so it is loaded only when needed.
  const compileFirst = options.generate === true || options.sample === true;
  const compilation = compileFirst ? await (await import('./compile-first.ts')).prepare(options, progress) : null;
  const project = compilation?.project ?? (await loadSettings(options.project));
  const workers = workersOf(options, project);
  if (options.recordExamples === true) checkRecording(workers);
  if (cluster.isWorker) return startWorker(project, options);
  const source = await (compilation === null ? beginEmbedded(project, progress) : compilation.compile());
  try {
    if (workers !== null) await startCluster(project, workers, progress);
    else await serveProject(project, source, options, progress);
    if (!compileFirst) reportWarnings(await warningsOf(project, source), progress);
  } catch (error) {
    // A connection that was handed on but not taken stays open, and would keep the process from ending.
    if (source?.embedded) await source.close().catch(() => undefined);
    throw error;
  }
}

/** The embedded database where the project has migrations: it is made of them first, or may lack some; else null. */
async function beginEmbedded(project: Settings, progress: Progress): Promise<Source | null> {
  if (databaseUrl(project) !== null || !hasMigrations(project)) return null;
  const isNew = !hasDatabase(project);
  const loading = loadMigrations(project);
  // One that is there is served also where files are missing that only compiling needs.
  const modules = await (isNew ? loading : loading.catch(() => null));
  if (modules === null) return null;
  const [{ connect }, loaded, { migrationDiagnostics }] = modules;
  const source = await connect(loaded, progress);
  // Before it is handed on: it has one connection.
  if (!isNew) reportWarnings(await orNone(migrationDiagnostics(source, loaded)), progress);
  return source;
}

/** Warnings about generated code that was edited or is older than its sources, and about migrations that the database lacks. */
async function warningsOf(project: Settings, source: Source | null): Promise<readonly Diagnostic[]> {
  const edited = warnOfEdited(project.output, relative(project.folder, project.output));
  const needsSource = source === null && databaseUrl(project) !== null && hasMigrations(project);
  const found = [edited, warnOfChanged(project), ...(needsSource ? [warnOfLacking(project)] : [])];
  return (await Promise.all(found.map(orNone))).flat();
}

/** Compares what the files were compiled from with what the sources say now, if they are there: a deployment may lack them. */
async function warnOfChanged(project: Settings): Promise<readonly Diagnostic[]> {
  const { folder, output, permissionsFile } = project;
  const [digests, manifest] = await Promise.all([digestSources(project), readManifest(output)]);
  const isChanged = (source: keyof typeof digests): boolean => {
    const compiled = manifest?.sources[source];
    return compiled !== undefined && digests[source] !== undefined && compiled !== digests[source];
  };
  const configuration = configName(folder);
  const changed = [
    ...(configuration !== undefined && isChanged('configuration') ? [configuration] : []),
    ...(existsSync(permissionsFile) && isChanged('permissions') ? [relative(folder, permissionsFile)] : []),
  ];
  return changed.map((fileName) => ({
    code: 'changed-source',
    severity: 'warning',
    place: fileName,
    message: 'The file says something else than what was compiled, so its changes are not served.',
    hint: 'Run `platform generate`, and start again.',
  }));
}

async function warnOfLacking(project: Settings): Promise<readonly Diagnostic[]> {
  const [{ connect }, loaded, { migrationDiagnostics }] = await loadMigrations(project);
  const source = await connect(loaded, silent);
  return migrationDiagnostics(source, loaded).finally(source.close);
}

/** Warnings are for people to read, so no start ends because one cannot be made. */
function orNone(warnings: Promise<readonly Diagnostic[]>): Promise<readonly Diagnostic[]> {
  return warnings.catch(() => []);
}

function hasMigrations({ folder }: Settings): boolean {
  return existsSync(join(folder, 'migrations'));
}

/** Code that asks a database is loaded only when needed. */
function loadMigrations({ folder, stateFolder }: Settings) {
  return Promise.all([
    import('../sources/connect.ts'),
    import('../project/project.ts').then(({ loadProject }) => loadProject(folder, stateFolder)),
    import('../sources/project-migrations.ts'),
  ]);
}

/** Refuses recording in production, as it stores people's data, and with workers, as only one process can write. */
function checkRecording(workers: number | null): void {
  if (workers !== null) {
    throw new CommandError(exitCodes.usage, '--record-examples and --workers exclude each other.');
  }
  if (ownVariable('NODE_ENV') === 'production') {
    throw new CommandError(exitCodes.usage, '--record-examples is for development: NODE_ENV says production.');
  }
}

async function serveProject(
  project: Settings,
  source: Source | null,
  options: StartOptions,
  progress: Progress,
): Promise<void> {
  const { server, api, token, administrator } = await serveOne(project, source, options, progress);
  // Not before: a signal ends a process that still starts, as long as nothing hears it.
  const manager = serviceManager(progress.print, stopSignals);
  reportDrift(server.drifts(), progress);
  const metrics = server.metricsUrl;
  progress.event('listening', { url: server.url, ...(metrics !== null && { metrics }) });
  if (metrics !== null) progress.print(`  metrics at ${metrics}/metrics`);
  manager.ready(server.url);
  printListening(project, { url: server.url, pages: server.pages, token, api, administrator }, progress);
}

/** Number of processes that are asked for; null: this one serves itself. Throws where there cannot be that many. */
function workersOf({ workers }: StartOptions, project: Settings): number | null {
  if (workers === undefined) return null;
  const count = workerCount(workers);
  if (databaseUrl(project) !== null) return count;
  throw new CommandError(
    exitCodes.usage,
    'The embedded database belongs to one process.',
    'Set DATABASE_URL, or start without --workers.',
  );
}

/** Starts the processes, and watches over them until this one gets the signal to stop. */
async function startCluster(project: Settings, size: number, progress: Progress): Promise<void> {
  await checkContract(project);
  const token = await adminToken(project.stateFolder);
  const report = (text: string): void => {
    progress.event('workers', { message: text.trim() });
    progress.print(text);
  };
  const workers = new WorkerCluster({ size, report, ...sharedSettings });
  const manager = serviceManager(progress.print, leaderSignals, workers);
  obeySignals(workers, manager);
  const metrics = await watchServers(workers);
  // An open listener would keep this process from ending after a failed start.
  const ready = await progress
    .phase('listen', () => workers.start())
    .catch((error: unknown) => {
      metrics?.close();
      throw error;
    });
  const [first] = ready;
  if (first === undefined) return;
  manager.ready(first.url);
  const administrator = ready.find((readiness) => readiness.administrator !== null)?.administrator ?? null;
  if (administrator !== null) progress.event('administrator', { ...administrator });
  reportDrift(first.drifts, progress);
  progress.event('listening', { url: first.url, workers: size, ...(metrics !== null && { metrics: metrics.url }) });
  if (metrics !== null) progress.print(`  metrics at ${metrics.url}/metrics`);
  const api = await importApi(project);
  printListening(project, { url: first.url, pages: first.pages, token, api, administrator }, progress);
}

/** Signals that stop all processes. */
const leaderSignals = ['SIGTERM', 'SIGINT'] as const;

/** Signals to stop as one process has them. SIGHUP does so with the terminal, and else replaces one process after the other. */
function obeySignals(workers: WorkerCluster, manager: ServiceManager): void {
  const end = (code: number) => (): void => process.exit(code);
  const kill = (): void => {
    workers.kill();
    process.exit(1);
  };
  const stop = onStopSignals(() => void workers.stop().then(end(0), end(1)), kill, leaderSignals);
  process.on('SIGHUP', () => {
    if (isTerminalClosed()) return stop();
    manager.reloading();
    void workers.restart().then(manager.reloaded);
  });
}

/** True if this process began to print to a terminal that is no more. */
function isTerminalClosed(): boolean {
  return [process.stdout, process.stderr].some(({ isTTY, fd }) => isTTY && !isatty(fd));
}

/** One of the processes. A terminal signals all of them at once, so it waits for the message of the first one. */
async function startWorker(project: Settings, options: StartOptions): Promise<void> {
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
  const collected = new Questions<readonly ProcessMetrics[]>();
  const gatherMetrics = async (): Promise<readonly ProcessMetrics[]> =>
    (await collected.ask((question) => send({ kind: 'gather', question }), gatherMs)) ?? [];
  const passed = createPassed();
  let onRoom = (_full: FullDisk | null): void => undefined;
  const room: ServeOptions['room'] = {
    send: (full) => send({ kind: 'room', full }),
    listen: (listener) => {
      onRoom = listener;
    },
  };
  let started: RunningServer | null = null;
  const end = (lingerMs?: number): void => {
    // Nothing is under way in a process that still starts.
    if (started === null) process.exit(0);
    const server = started;
    const sendCounts = async (): Promise<void> =>
      send({ kind: 'metrics', question: 0, answer: await server.metrics() }, () => process.exit(0));
    server
      .close(lingerMs)
      .then(sendCounts)
      .catch(() => process.exit(1));
  };
  process.on('SIGTERM', () => end());
  process.on('message', (message: LeaderMessage, socket: Socket | undefined) => {
    switch (message.kind) {
      case 'connection':
        return passed.receive(socket);
      case 'opened':
        return passed.opened(message.address);
      case 'closed':
        return passed.closed();
      case 'finish':
        return message.isReplaced ? end(lingerMs) : end();
      case 'room':
        return onRoom(message.full);
      case 'gather':
        return collected.respond(message.question, message.answer);
      case 'metrics':
        return void started?.metrics().then((response) => send({ ...message, answer: response }));
      case 'ready':
        return void started?.ready(message.role).then((result) => send({ ...message, answer: result }));
    }
  });
  const serving = serveOne(
    project,
    null,
    { ...options, signals: false, gatherMetrics, room, connections: passed.connections },
    silent,
  );
  const served = await serving.catch(fail);
  if (served === null) return;
  const { server, administrator } = served;
  started = server;
  const { url, pages } = server;
  send({ kind: 'listening', url, pages, administrator, drifts: server.drifts() });
}

/** Connections of one of the processes, which the first one accepts for it. */
function createPassed() {
  const opened = Promise.withResolvers<AddressInfo>();
  const closed = Promise.withResolvers<void>();
  let takeSocket = (socket: Socket): void => void socket.destroy();
  const connections: PassedConnections = {
    open(accept) {
      takeSocket = accept;
      send({ kind: 'open' });
      return opened.promise;
    },
    close() {
      send({ kind: 'close' });
      return closed.promise;
    },
  };
  return {
    connections,
    opened: opened.resolve,
    closed: closed.resolve,
    /** Takes a connection; none if its client has left meanwhile. */
    receive(socket: Socket | undefined): void {
      send({ kind: 'taken' });
      if (socket !== undefined) takeSocket(socket);
    },
  };
}

/** Milliseconds for which a process that is replaced serves its connections: clients in use leave it meanwhile. */
const lingerMs = 500;

/** Milliseconds after which the first process has gathered the metrics of all. */
const gatherMs = 2_000;

/** Tells the first process; `sent` is called when it has the message, or is gone. */
function send(message: WorkerMessage, sent: () => void = () => undefined): void {
  const { worker } = cluster;
  if (worker?.isConnected()) worker.send(message, sent);
  else sent();
}

/** Leaves a failure to the first process, which tells that of all once. A bug is told where it happened. */
function fail(thrown: unknown): null {
  const error = knownFailure(thrown);
  const { worker } = cluster;
  if (error instanceof CommandError) {
    process.exitCode = error.exitCode;
    send({ kind: 'failure', exitCode: error.exitCode, failure: error.message, hint: error.hint });
  }
  // The channel to the first process would keep this one from ending.
  worker?.disconnect();
  if (error instanceof CommandError) return null;
  throw error;
}

const silent = createProgress({ json: false, notes: false, terminal: false, write() {}, writeEvent() {} });
