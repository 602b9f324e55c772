/** Several processes that serve one project on one port, and the one that starts, replaces and stops them. */
import cluster, { type Worker } from 'node:cluster';
import type { Readiness as ServerState } from '@tablewright/runtime';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';
import {
  type LeaderMessage,
  type ProcessMetrics,
  Questions,
  type Readiness,
  type WorkerMessage,
} from './worker-messages.ts';

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
  /** Metrics of each of them; the last entry counts those that gave none in time. */
  metrics(): Promise<readonly ProcessMetrics[]>;
  /** `ok` if one of them should get requests, else the reason of one of them. */
  ready(role: string | undefined): Promise<ServerState>;
}

/** Milliseconds in which a process has to answer. */
const timeoutMs = 1_000;

/** Milliseconds before a process that has ended by itself is replaced: one that cannot start must not be started all the time. */
const replaceAfter = 1_000;

/** Makes a cluster of this size. Later events are reported to `report`. */
export function createWorkerCluster(size: number, report: (text: string) => void): WorkerCluster {
  const serving = new Set<Worker>();
  const metricsQuestions = new Questions<ProcessMetrics>();
  const readyQuestions = new Questions<ServerState>();
  let stopping = false;
  let restarting: Promise<void> | null = null;

  /** Starts one; resolves when it listens. */
  function startWorker(): Promise<{ readonly worker: Worker; readonly readiness: Readiness }> {
    const worker = cluster.fork();
    return new Promise((resolve, reject) => {
      worker.on('message', (message: WorkerMessage) => {
        switch (message.kind) {
          case 'failure':
            return reject(new CommandError(message.exitCode, message.failure, message.hint));
          case 'listening':
            serving.add(worker);
            return resolve({ worker, readiness: message });
          case 'metrics':
            return metricsQuestions.respond(message.question, message.answer);
          case 'ready':
            return readyQuestions.respond(message.question, message.answer);
          case 'gather':
            void metrics().then((reply) => send(worker, { kind: 'gather', question: message.question, answer: reply }));
        }
      });
      worker.on('exit', (code, signal) => {
        // A worker that was dismissed is no longer in the list.
        if (serving.delete(worker) && !stopping) replace(signal ?? `code ${code}`);
        reject(new CommandError(code === 0 ? exitCodes.start : code, 'A process ended before it listened.'));
      });
    });
  }

  async function metrics(): Promise<readonly ProcessMetrics[]> {
    const requested = [...serving].map((worker) =>
      metricsQuestions.ask((question) => send(worker, { kind: 'metrics', question }), timeoutMs),
    );
    const answers = await Promise.all(requested);
    const silent = answers.filter((response) => response === null).length;
    return [...answers.filter((replies) => replies !== null), [silentWorkers(silent)]];
  }

  function replace(reason: string): void {
    report(`  a process has ended (${reason}); another one takes its place`);
    setTimeout(() => {
      if (stopping) return;
      startWorker().then(
        ({ worker }) => (stopping ? void stopWorker(worker, false) : undefined),
        (error: Error) => replace(`it cannot start: ${error.message}`),
      );
    }, replaceAfter);
  }

  function stopWorker(worker: Worker, isReplaced: boolean): Promise<void> {
    serving.delete(worker);
    return new Promise((resolve) => {
      worker.once('exit', () => resolve());
      if (worker.isDead()) resolve();
      // The process itself says when it takes no more connections: `disconnect` would end idle ones, too.
      send(worker, { kind: 'finish', isReplaced });
    });
  }

  async function replaceAll(): Promise<void> {
    for (const worker of [...serving]) {
      if (stopping) return;
      await startWorker();
      await stopWorker(worker, true);
    }
  }

  return {
    async start() {
      const starts = await Promise.allSettled(Array.from({ length: size }, startWorker));
      const failed = starts.find((start) => start.status === 'rejected');
      if (failed === undefined)
        return starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value.readiness] : []));
      stopping = true;
      await Promise.all([...serving].map((worker) => stopWorker(worker, false)));
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
      await Promise.all(others.map((worker) => stopWorker(worker, false)));
    },
    kill() {
      stopping = true;
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
    },
    metrics,
    async ready(role) {
      if (stopping) return 'draining';
      const request = [...serving].map((worker) =>
        readyQuestions.ask((question) => send(worker, { kind: 'ready', question, role }), timeoutMs),
      );
      const answers = (await Promise.all(request)).filter((settled) => settled !== null);
      return answers.includes('ok') ? 'ok' : (answers[0] ?? 'starting');
    },
  };
}

function send(worker: Worker, message: LeaderMessage): void {
  if (worker.isConnected()) worker.send(message);
}

function silentWorkers(count: number): ProcessMetrics[number] {
  const help = 'Processes that did not answer within a second.';
  const values = [{ labels: {}, value: count }];
  return { name: 'tablewright_workers_silent', help, type: 'gauge', aggregator: 'sum', values };
}
