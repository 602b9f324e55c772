/** Several processes that serve one project on one port, and the one that starts, replaces and stops them. */
import cluster, { type Worker } from 'node:cluster';
import type { AddressInfo, Socket } from 'node:net';
import type { Drift, FullDisk, MetricValues, Readiness as ServerState } from '@tablewright/runtime';
import { CommandError, exitCodes } from '../errors/failures.ts';
import type { ReportedAdministrator } from '../terminal/welcome.ts';
import { KeptCounts } from './kept-counts.ts';
import { type ListenAddress, SharedPort } from './shared-port.ts';

/** Milliseconds in which a process has to answer. */
const timeoutMs = 1_000;

/** Milliseconds before a process that has ended by itself is replaced: one that cannot start must not be started all the time. */
const replaceAfter = 1_000;

export interface WorkerClusterOptions {
  readonly size: number;
  /** Takes later events. */
  readonly report: (text: string) => void;
  /** Address that clients use. */
  readonly listenAddress: () => Promise<ListenAddress>;
  /** Describes why the address cannot be used. */
  readonly describe: (error: unknown) => Promise<unknown>;
  /** Milliseconds in which a process finishes; one that takes longer hangs, and is killed. */
  readonly longestFinish: () => number;
}

/** The code is null where a signal has ended it, as that of a system without memory. */
const endedHint =
  'The lines above may say why. A system without memory ends processes by SIGKILL: serve by fewer, `--workers 1`.';

/** Questions to another process that wait for their answers. */
export class Questions<Answer> {
  readonly #open = new Map<number, (reply: Answer) => void>();
  #requested = 0;

  async ask(send: (question: number) => void, timeoutMs: number): Promise<Answer | null> {
    const question = ++this.#requested;
    const { promise, resolve } = Promise.withResolvers<Answer | null>();
    const timer = setTimeout(() => resolve(null), timeoutMs);
    this.#open.set(question, resolve);
    try {
      send(question);
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#open.delete(question);
    }
  }

  /** Takes an answer; one that comes too late is dropped. */
  respond(question: number, response: Answer): void {
    this.#open.get(question)?.(response);
  }
}

/** The processes that serve. */
export class WorkerCluster {
  readonly #size: number;
  readonly #report: (text: string) => void;
  readonly #describe: (error: unknown) => Promise<unknown>;
  readonly #longestFinish: () => number;
  readonly #port: SharedPort;
  readonly #serving = new Set<Worker>();
  readonly #counts = new KeptCounts();
  readonly #metricsQuestions = new Questions<ProcessMetrics>();
  readonly #readyQuestions = new Questions<ServerState>();
  #stopping = false;
  #starting: Promise<unknown> = Promise.resolve();
  #restarting: Promise<void> | null = null;
  #alive = Promise.withResolvers<void>();
  /** One that serves until another has started in its place, also if it ends by itself. */
  #leaving: Worker | undefined;

  constructor({ size, report, listenAddress, describe, longestFinish }: WorkerClusterOptions) {
    this.#size = size;
    this.#report = report;
    this.#describe = describe;
    this.#longestFinish = longestFinish;
    this.#port = new SharedPort(listenAddress, sendConnection);
  }

  /** Resolves when all of them listen; rejects, and ends them, when one of them cannot. */
  async start(): Promise<readonly Readiness[]> {
    const starting = Promise.allSettled(Array.from({ length: this.#size }, () => this.#startWorker()));
    this.#starting = starting;
    const starts = await starting;
    const failed = starts.find((start) => start.status === 'rejected');
    if (failed === undefined)
      return starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value.readiness] : []));
    await this.stop();
    throw failed.reason;
  }

  /** Replaces them one after the other, each by one that listens already. Never rejects; does nothing while it runs. */
  restart(): Promise<void> {
    this.#restarting ??= this.#starting
      .then(() => this.#replaceAll())
      .then(
        () => (this.#stopping ? undefined : this.#report('  every process was replaced')),
        (error: Error) => this.#report(`  a process cannot start; those that serve go on: ${error.message}`),
      )
      .finally(() => {
        this.#restarting = null;
      });
    return this.#restarting;
  }

  /** Lets them finish their requests; resolves when all have ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#alive.resolve();
    const others = Object.values(cluster.workers ?? {}).flatMap((worker) => (worker === undefined ? [] : [worker]));
    await Promise.all(others.map((worker) => this.#stopWorker(worker, false)));
    await this.#port.close();
  }

  /** Ends them at once. */
  kill(): void {
    this.#stopping = true;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  }

  /** `ok` if one of them should get requests, else the reason of one of them. */
  async ready(role: string | undefined): Promise<ServerState> {
    if (this.#stopping) return 'draining';
    const request = [...this.#serving].map((worker) =>
      this.#readyQuestions.ask((question) => send(worker, { kind: 'ready', question, role }), timeoutMs),
    );
    const answers = (await Promise.all(request)).filter((settled) => settled !== null);
    return answers.includes('ok') ? 'ok' : (answers[0] ?? 'starting');
  }

  /** Resolves when one of them answers, or has started meanwhile; at once while they stop, for which they have a limit. */
  async untilAlive(): Promise<void> {
    if (this.#stopping) return;
    this.#alive = Promise.withResolvers<void>();
    for (const worker of this.#serving) send(worker, { kind: 'ready', question: 0, role: undefined });
    await this.#alive.promise;
  }

  /** Metrics of each of them, with the counts of those that have ended; the last entry counts those that gave none in time. */
  async metrics(): Promise<readonly ProcessMetrics[]> {
    const requested = [...this.#serving].map(async (worker) => {
      const metrics = await this.#metricsQuestions.ask(
        (question) => send(worker, { kind: 'metrics', question }),
        timeoutMs,
      );
      return { id: worker.id, metrics };
    });
    const replies = await Promise.all(requested);
    const answered = replies.flatMap(({ id, metrics }) => (metrics === null ? [] : [{ id, metrics }]));
    return [
      ...answered.map(({ metrics }) => metrics),
      ...this.#counts.ofOthers(new Set(answered.map(({ id }) => id))),
      [silentWorkers(replies.length - answered.length)],
    ];
  }

  /** Starts one; resolves when it listens. */
  async #startWorker(): Promise<{ readonly worker: Worker; readonly readiness: Readiness }> {
    const worker = cluster.fork();
    return new Promise((resolve, reject) => {
      // The system starts none, for lack of descriptors for example.
      worker.on('error', reject);
      worker.on('message', (message: WorkerMessage) => {
        switch (message.kind) {
          case 'failure':
            return reject(new CommandError(message.exitCode, message.failure, message.hint));
          case 'open':
            return void this.#port.add(worker).then(
              (address) => send(worker, { kind: 'opened', address }),
              async (error: unknown) => {
                reject(await this.#describe(error));
                worker.process.kill();
              },
            );
          case 'taken':
            return this.#port.taken(worker);
          case 'close':
            return void this.#closePort(worker).then(() => send(worker, { kind: 'closed' }));
          case 'listening':
            this.#serving.add(worker);
            this.#alive.resolve();
            return resolve({ worker, readiness: message });
          case 'metrics':
            this.#counts.record(worker.id, message.answer);
            return this.#metricsQuestions.respond(message.question, message.answer);
          case 'ready':
            this.#alive.resolve();
            return this.#readyQuestions.respond(message.question, message.answer);
          case 'room':
            for (const other of this.#serving) if (other !== worker) send(other, message);
            return;
          case 'gather':
            void this.metrics().then((reply) =>
              send(worker, { kind: 'gather', question: message.question, answer: reply }),
            );
        }
      });
      worker.on('disconnect', () => {
        this.#port.drop(worker);
        this.#counts.end(worker.id);
      });
      worker.on('exit', (code, signal) => {
        const reason = signal ?? `code ${code}`;
        // A worker that was dismissed is no longer in the list.
        if (this.#serving.delete(worker) && !this.#stopping) this.#ended(worker, reason);
        reject(new CommandError(code || exitCodes.start, `A process ended before it listened (${reason}).`, endedHint));
      });
    });
  }

  /** All stop together when no connection waits any more; one that ends alone leaves the port to the others. */
  #closePort(worker: Worker): Promise<void> {
    return this.#stopping ? this.#port.close() : this.#port.remove(worker);
  }

  #ended(worker: Worker, reason: string): void {
    this.#report(`  a process has ended (${reason}); another one takes its place`);
    if (worker !== this.#leaving) this.#replaceSoon();
  }

  #replaceSoon(): void {
    setTimeout(() => {
      if (this.#stopping) return;
      this.#startWorker().then(
        ({ worker }) => (this.#stopping ? void this.#stopWorker(worker, false) : undefined),
        (error: Error) => {
          this.#report(`  a process has ended (it cannot start: ${error.message}); another one takes its place`);
          this.#replaceSoon();
        },
      );
    }, replaceAfter);
  }

  #stopWorker(worker: Worker, isReplaced: boolean): Promise<void> {
    this.#serving.delete(worker);
    return new Promise((resolve) => {
      const timer = setTimeout(() => worker.process.kill('SIGKILL'), this.#longestFinish());
      const end = (): void => {
        clearTimeout(timer);
        resolve();
      };
      worker.once('exit', end);
      if (worker.isDead()) end();
      // The process itself says when it takes no more connections: `disconnect` would end idle ones, too.
      send(worker, { kind: 'finish', isReplaced });
    });
  }

  async #replaceAll(): Promise<void> {
    for (const worker of [...this.#serving]) {
      if (this.#stopping) return;
      this.#leaving = worker;
      try {
        await this.#startWorker();
      } catch (error) {
        if (!this.#serving.has(worker)) this.#replaceSoon();
        throw error;
      } finally {
        this.#leaving = undefined;
      }
      if (this.#serving.has(worker)) await this.#stopWorker(worker, true);
    }
  }
}

function send(worker: Worker, message: LeaderMessage): void {
  // One that is about to end reads nothing more; that it has ended is heard elsewhere.
  if (worker.isConnected()) worker.send(message, () => undefined);
}

/** Ends one that does not arrive, because the process has just ended. */
function sendConnection(worker: Worker, socket: Socket): void {
  worker.send({ kind: 'connection' } satisfies LeaderMessage, socket, (error) => {
    if (error !== null) socket.destroy();
  });
}

function silentWorkers(count: number): ProcessMetrics[number] {
  const help = 'Processes that did not answer within a second.';
  const values = [{ labels: {}, value: count }];
  return { name: 'tablewright_workers_silent', help, type: 'gauge', aggregator: 'sum', values };
}

interface Readiness {
  readonly kind: 'listening';
  readonly url: string;
  /** Paths of the pages that people begin with. */
  readonly pages: readonly string[];
  /** Made by its start, because there was no user; null when there was one, or when another process has made it. */
  readonly administrator: ReportedAdministrator | null;
  readonly drifts: readonly Drift[];
}

/** A process cannot serve, for a reason that is no bug. */
interface Failure {
  readonly kind: 'failure';
  readonly exitCode: number;
  readonly failure: string;
  readonly hint: string | null;
}

export type ProcessMetrics = readonly MetricValues[];

export type WorkerMessage =
  | Readiness
  | Failure
  /** Asks for connections from now on, and for none any more. */
  | { readonly kind: 'open' | 'close' }
  /** A connection has arrived. */
  | { readonly kind: 'taken' }
  /** One that ends gives its last counts to question 0, which is never asked. */
  | { readonly kind: 'metrics'; readonly question: number; readonly answer: ProcessMetrics }
  /** Question 0 is that for a sign of life. */
  | { readonly kind: 'ready'; readonly question: number; readonly answer: ServerState }
  | Room
  /** Asks for the metrics of all processes. */
  | { readonly kind: 'gather'; readonly question: number };

/** Tells all others that the disk of the database is full; null: that it has room again. */
interface Room {
  readonly kind: 'room';
  readonly full: FullDisk | null;
}

export type LeaderMessage =
  | Room
  /** Tells a process to finish; another one serves in its place, or none does. */
  | { readonly kind: 'finish'; readonly isReplaced: boolean }
  /** Comes with a connection. */
  | { readonly kind: 'connection' }
  | { readonly kind: 'opened'; readonly address: AddressInfo }
  /** No connection comes any more. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'metrics'; readonly question: number }
  | { readonly kind: 'ready'; readonly question: number; readonly role: string | undefined }
  | { readonly kind: 'gather'; readonly question: number; readonly answer: readonly ProcessMetrics[] };
