/** A thread that prints the descriptions of an API, which are most of its output, while this one prints everything else. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { CompileOptions, CompileResult } from '@platform/compiler';
import type { Schema } from '@platform/introspect/schema';
import { type PackedFiles, unpackFiles } from './packed-files.ts';

/** What the thread is given; plain data. */
export interface DescribingSources {
  readonly inputs: Omit<CompileOptions, 'memory' | 'archive' | 'part'>;
  /** The folder of the archive; null where none is to be used. */
  readonly cache: string | null;
}

/** What it is asked: a schema as JSON, which takes half as long as copying the objects. */
export type DescribingQuestion = string;

/** What it answers. */
export interface DescribingAnswer extends Pick<CompileResult, 'diagnostics'> {
  readonly packed: PackedFiles;
}

/** The descriptions of a schema, or what is wrong with it. */
export type Described = Pick<CompileResult, 'files' | 'diagnostics'>;

/** The thread. */
export interface DescribingThread {
  /** Rejects when the thread fails. */
  describe(schema: Schema): Promise<Described>;
  /** Ends it; not before it has kept what it has answered. */
  close(): Promise<void>;
}

/** Tables from which on a thread saves more time than it takes to start. */
const worthwhile = 300;

/** Of new objects: with more, which is what Node would take, it is not faster. */
const maxYoungGenerationSizeMb = 32;

/** Whether there is a processor for it, and enough to do. */
export function isWorthDescribing(tables: number): boolean {
  return tables >= worthwhile && availableParallelism() > 1;
}

/** Starts the thread, which gets ready at once and waits for a schema. */
export function startDescribing(workerData: DescribingSources): DescribingThread {
  const name = import.meta.url.endsWith('.ts') ? './describing-worker.ts' : './describing-worker.js';
  const worker = new Worker(new URL(name, import.meta.url), {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb },
  });
  const answer = Promise.withResolvers<DescribingAnswer>();
  worker.on('message', answer.resolve);
  worker.on('error', answer.reject);
  const ended = Promise.withResolvers<void>();
  worker.on('exit', () => {
    answer.reject(new Error('The describing thread has ended.'));
    ended.resolve();
  });
  // Whoever gives up before an answer is there does not want to hear of it.
  answer.promise.catch(() => undefined);
  let answered = false;
  return {
    async describe(schema) {
      const question: DescribingQuestion = JSON.stringify(schema);
      worker.postMessage(question);
      const { packed, diagnostics } = await answer.promise;
      answered = true;
      return { files: unpackFiles(packed), diagnostics };
    },
    close: async () => void (await (answered ? ended.promise : worker.terminate())),
  };
}
