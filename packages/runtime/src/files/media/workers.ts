/** Processes that read and draw media. A task that takes too long ends with its process; the threads of the server stay free. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PlatformError } from '../../errors.ts';
import type { JsonValue } from '../../language/index.ts';
import { WorkQueue } from '../../limits/work-queue.ts';
import type { Transformation } from '../transform/transformation.ts';

/** Facts that a file tells of itself. */
export interface MediaFacts {
  readonly width: number | null;
  readonly height: number | null;
  /** In whole seconds; null for files without a duration. */
  readonly duration: number | null;
  /** Null when there is nothing to tell. */
  readonly metadata: JsonValue;
}

/** An image that is made of another. */
export interface Drawing {
  readonly bytes: Uint8Array;
  readonly format: 'jpeg' | 'png' | 'webp' | 'avif';
  readonly transformation: Transformation;
  readonly maxPixels: number;
  readonly timeoutMs: number;
}

/** Work of a process: facts of an audio or video file or of an image, by its path, or an image to make. */
export type Task =
  | { readonly kind: 'media' | 'image'; readonly path: string }
  | { readonly kind: 'draw'; readonly drawing: Drawing };

/** Result of a task: the facts, the bytes of an image, a library that is not there, or why there is no result. */
export type TaskResult =
  | { readonly facts: MediaFacts }
  | { readonly bytes: Uint8Array }
  | { readonly missing: string }
  | { readonly failure: string };

/** Message of a process: that it begins with a task, or the result. */
export type WorkerMessage = 'loaded' | TaskResult;

/** A few processes of one kind, which are started when they are needed. */
export interface MediaWorkers {
  /**
   * Runs a task of a client when a process is free; null for none. Rejects with SERVICE_UNAVAILABLE when that takes too long.
   */
  run(client: string, prepare: () => Promise<Task | null>): Promise<TaskResult | null>;
}

interface MediaWorkersOptions {
  /** Processes, and tasks that may wait for one. */
  readonly atOnce: number;
  readonly waiting: number;
  /** Time that a task may take, in milliseconds. */
  readonly longestMs: number;
}

/** Milliseconds to load the libraries: a file must not lose its facts because the machine is busy. */
const longestStartMs = 30_000;
/** Time that a task may wait for a process, and a process for a task, in milliseconds. */
const longestWaitMs = 20_000;
const longestIdleMs = 30_000;

/** Makes them; no process is started before the first task. */
export function createMediaWorkers({ atOnce, waiting, longestMs }: MediaWorkersOptions): MediaWorkers {
  const queue = new WorkQueue({ atOnce, waiting, longestWaitMs });
  const idle: { readonly worker: ChildProcess; readonly timer: NodeJS.Timeout }[] = [];

  function freeWorker(): ChildProcess {
    for (let found = idle.pop(); found !== undefined; found = idle.pop()) {
      clearTimeout(found.timer);
      if (found.worker.connected) return found.worker;
    }
    return startWorker();
  }

  /** Keeps a process for the next task, without keeping the server from ending. */
  function giveBack(worker: ChildProcess): void {
    const timer = setTimeout(() => {
      idle.splice(
        idle.findIndex((entry) => entry.worker === worker),
        1,
      );
      worker.kill('SIGKILL');
    }, longestIdleMs).unref();
    idle.push({ worker, timer });
  }

  async function runPrepared(prepare: () => Promise<Task | null>): Promise<TaskResult | null> {
    const task = await prepare();
    if (task === null) return null;
    const result = await runOn(freeWorker(), task);
    // Its process may have ended for another reason than the task: for want of memory, for example.
    return result ?? (await runOn(startWorker(), task)) ?? { failure: 'The process has ended.' };
  }

  /** Runs a task on a process; undefined where the process has ended before the task. */
  async function runOn(worker: ChildProcess, task: Task): Promise<TaskResult | undefined> {
    try {
      const result = await ask(worker, task, longestMs);
      if (result !== undefined) giveBack(worker);
      return result;
    } catch (error) {
      worker.kill('SIGKILL');
      if (error instanceof PlatformError) throw error;
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  }

  return { run: (client, prepare) => queue.acquire(() => runPrepared(prepare), client) };
}

/** Variables of the environment that a process needs; none of them is a secret. */
const variables = ['PATH', 'LD_LIBRARY_PATH', 'NODE_COMPILE_CACHE', 'SystemRoot', 'TMPDIR'] as const;

/** Starts a process. Throws SERVICE_UNAVAILABLE where the system gives none. */
function startWorker(): ChildProcess {
  const name = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
  const env = Object.fromEntries(variables.flatMap((key) => (process.env[key] ? [[key, process.env[key]]] : [])));
  try {
    const worker = fork(fileURLToPath(new URL(name, import.meta.url)), {
      env,
      // A debugger of the server has its port.
      execArgv: [...process.execArgv.filter((flag) => !flag.startsWith('--inspect')), '--max-old-space-size=256'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    worker.unref();
    worker.channel?.unref();
    // Reported to the task that runs; between two of them nothing is lost with the process.
    worker.on('error', () => undefined);
    return worker;
  } catch (error) {
    throw new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: error });
  }
}

/** Has a process do a task. Resolves to undefined when it ends meanwhile; rejects when the task takes too long. */
async function ask(worker: ChildProcess, task: Task, longestMs: number): Promise<TaskResult | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<TaskResult | undefined>();
  const unavailable = (cause: Error): void =>
    reject(new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause }));
  const ended = (): void => resolve(undefined);
  let timer = setTimeout(() => unavailable(new Error('No process was there in time.')), longestStartMs);
  const onMessage = (message: WorkerMessage): void => {
    clearTimeout(timer);
    if (message === 'loaded') timer = setTimeout(() => reject(new Error('It takes too long.')), longestMs);
    else resolve(message);
  };
  worker.on('message', onMessage).on('error', unavailable).on('exit', ended);
  try {
    worker.send(task, (error) => error && ended());
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.off('message', onMessage).off('error', unavailable).off('exit', ended);
  }
}
