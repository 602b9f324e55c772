/** `platform start --workers N`: several processes on one port; this one only watches over them. */
import cluster from 'node:cluster';
import type { RunningServer } from '@tablewright/runtime';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';
import { knownFailure } from '../errors/known-failure.ts';
import { type ServiceManager, serviceManager } from '../process/service-manager.ts';
import {
  createWorkerCluster,
  type LeaderMessage,
  type ProcessMetrics,
  Questions,
  type WorkerCluster,
  type WorkerMessage,
} from '../process/worker-cluster.ts';
import { databaseUrl, type Settings } from '../project/settings.ts';
import { adminToken } from '../terminal/administrator.ts';
import { createProgress, type Progress } from '../terminal/progress.ts';
import { printWelcome } from '../terminal/welcome.ts';
import { type StartOptions, workerCount } from './options.ts';
import { checkContract, importApi, reportDrift, serveOne, watchServers } from './serve-api.ts';

/** How many processes are asked for; null: this one serves itself. Throws where there cannot be that many. */
export function workersOf({ workers }: StartOptions, project: Settings): number | null {
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
export async function startCluster(project: Settings, size: number, progress: Progress): Promise<void> {
  await checkContract(project);
  const token = await adminToken(project.stateFolder);
  const workers = createWorkerCluster(size, (text) => {
    progress.event('workers', { message: text.trim() });
    progress.print(text);
  });
  const manager = serviceManager(progress.print);
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
  printWelcome(
    { url: first.url, pages: first.pages, token, api, stateFolder: project.stateFolder, administrator },
    progress,
  );
}

/** Signals to stop as one process has them; SIGHUP replaces the processes one after the other. */
function obeySignals(workers: WorkerCluster, manager: ServiceManager): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) {
      workers.kill();
      process.exit(1);
    }
    stopping = true;
    workers.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => {
    manager.reloading();
    void workers.restart().then(() => manager.ready());
  });
}

/** One of the processes. A terminal signals all of them at once, so it waits for the message of the first one. */
export async function startWorker(project: Settings, options: StartOptions): Promise<void> {
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
  const collected = new Questions<readonly ProcessMetrics[]>();
  const gatherMetrics = async (): Promise<readonly ProcessMetrics[]> =>
    (await collected.ask((question) => send({ kind: 'gather', question }), gatherMs)) ?? [];
  let started: RunningServer | null = null;
  const end = (lingerMs?: number): void => {
    // Nothing is under way in a process that still starts.
    if (started === null) process.exit(0);
    started.close(lingerMs).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', () => end());
  process.on('message', (message: LeaderMessage) => {
    switch (message.kind) {
      case 'finish':
        return message.isReplaced ? end(lingerMs) : end();
      case 'gather':
        return collected.respond(message.question, message.answer);
      case 'metrics':
        return void started?.metrics().then((response) => send({ ...message, answer: response }));
      case 'ready':
        return void started?.ready(message.role).then((result) => send({ ...message, answer: result }));
    }
  });
  const serving = serveOne(project, null, { ...options, signals: false, gatherMetrics }, silent);
  const served = await serving.catch(fail);
  if (served === null) return;
  const { server, administrator } = served;
  started = server;
  const { url, pages } = server;
  send({ kind: 'listening', url, pages, administrator, drifts: server.drifts() });
}

/** Milliseconds for which a process that is replaced serves its connections: clients in use leave it meanwhile. */
const lingerMs = 500;

/** Milliseconds after which the first process has gathered the metrics of all. */
const gatherMs = 2_000;

function send(message: WorkerMessage): void {
  const { worker } = cluster;
  if (worker?.isConnected()) worker.send(message);
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
