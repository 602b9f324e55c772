/** Several processes that serve one project on one port, and the one that starts, replaces and stops them. */
import cluster, { type Worker } from 'node:cluster';
import type { Drift } from '@tablewright/runtime';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';
import type { ReportedAdministrator } from '../terminal/reported-administrator.ts';

/** Message of a process that listens. */
export interface Readiness {
  readonly url: string;
  /** Paths of the pages that people begin with. */
  readonly pages: readonly string[];
  /** Made by its start, because there was no user; null when there was one, or when another process has made it. */
  readonly administrator: ReportedAdministrator | null;
  readonly drifts: readonly Drift[];
}

/** Message of a process that cannot serve, for a reason that is no bug. */
export interface Failure {
  readonly exitCode: number;
  readonly failure: string;
  readonly hint: string | null;
}

/** The processes that serve. */
export interface WorkerCluster {
  /** Resolves when all of them listen; rejects, and ends them, when one of them cannot. */
  start(): Promise<readonly Readiness[]>;
  /** Replaces them one after the other, each by one that listens already. Never rejects; does nothing while it runs. */
  restart(): Promise<void>;
  /** Lets them finish their requests; resolves when all have ended. */
  stop(): Promise<void>;
  /** Ends them at once. */
  kill(): void;
}

/** Message that tells a process to finish. */
export const finish = 'finish';

/** Milliseconds before a process that has ended by itself is replaced: one that cannot start must not be started all the time. */
const replaceAfter = 1_000;

/** Makes a cluster of this size. Later events are reported to `report`. */
export function createWorkerCluster(size: number, report: (text: string) => void): WorkerCluster {
  const serving = new Set<Worker>();
  let stopping = false;
  let restarting: Promise<void> | null = null;

  /** Starts one; resolves when it listens. */
  function startWorker(): Promise<{ readonly worker: Worker; readonly readiness: Readiness }> {
    const worker = cluster.fork();
    return new Promise((resolve, reject) => {
      worker.on('message', (readiness: Readiness | Failure) => {
        if ('failure' in readiness) {
          return reject(new CommandError(readiness.exitCode, readiness.failure, readiness.hint));
        }
        serving.add(worker);
        resolve({ worker, readiness });
      });
      worker.on('exit', (code, signal) => {
        // A worker that was dismissed is no longer in the list.
        if (serving.delete(worker) && !stopping) replace(signal ?? `code ${code}`);
        reject(new CommandError(code === 0 ? exitCodes.start : code, 'A process ended before it listened.'));
      });
    });
  }

  function replace(reason: string): void {
    report(`  a process has ended (${reason}); another one takes its place`);
    setTimeout(() => {
      if (stopping) return;
      startWorker().then(
        ({ worker }) => (stopping ? void stopWorker(worker) : undefined),
        (error: Error) => replace(`it cannot start: ${error.message}`),
      );
    }, replaceAfter);
  }

  function stopWorker(worker: Worker): Promise<void> {
    serving.delete(worker);
    return new Promise((resolve) => {
      worker.once('exit', () => resolve());
      if (!worker.isConnected()) return;
      worker.send(finish);
      // At once: a connection that is handed to a process after this message would be lost with it.
      worker.disconnect();
    });
  }

  async function replaceAll(): Promise<void> {
    for (const worker of [...serving]) {
      if (stopping) return;
      await startWorker();
      await stopWorker(worker);
    }
  }

  return {
    async start() {
      const starts = await Promise.allSettled(Array.from({ length: size }, startWorker));
      const failed = starts.find((start) => start.status === 'rejected');
      if (failed === undefined)
        return starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value.readiness] : []));
      stopping = true;
      await Promise.all([...serving].map(stopWorker));
      throw failed.reason;
    },
    restart() {
      restarting ??= replaceAll()
        .then(
          () => report('  every process was replaced'),
          (error: Error) => report(`  a process cannot start; those that serve go on: ${error.message}`),
        )
        .finally(() => {
          restarting = null;
        });
      return restarting;
    },
    async stop() {
      stopping = true;
      const others = Object.values(cluster.workers ?? {}).flatMap((worker) => (worker === undefined ? [] : [worker]));
      await Promise.all(others.map(stopWorker));
    },
    kill() {
      stopping = true;
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
    },
  };
}
