/** A thread that prints the descriptions of an API, which are most of its output, while this one prints everything else. */
import { availableParallelism } from 'node:os';
import type { CompileResult, GeneratedFile } from '@tablewright/compiler';
import type { Schema } from '@tablewright/introspect/schema';
import type { RunSources } from '../disk-cache/last-run.ts';
import { startWorker } from '../process/worker-thread.ts';
import { type PackedFiles, unpackFiles } from './packed-files.ts';

/** Inputs of the thread; plain data. */
export interface DescribingSources {
  readonly inputs: RunSources['inputs'];
}

/** Request to the thread: a schema as JSON, which takes half as long as copying the objects. */
export type DescribingQuestion = string;

/** Answers of the thread: files as they are made, and then the diagnostics of the schema. */
export type DescribingAnswer = { readonly packed: PackedFiles } | Pick<CompileResult, 'diagnostics'>;

/** The thread. */
export interface DescribingThread {
  /**
   * Passes on files as they arrive. Resolves, after all of them, to the diagnostics of the schema; rejects when the
   * thread fails.
   */
  describe(schema: Schema, arrived: (files: readonly GeneratedFile[]) => void): Promise<CompileResult['diagnostics']>;
  /** Ends it. */
  close(): Promise<void>;
}

/** Tables from which on a thread saves more time than it takes to start. */
const worthwhile = 300;

/** Memory for new objects, in MB: with more, which is Node's default, it is not faster. */
const maxYoungGenerationSizeMb = 32;

/** True if there is a processor for it, and enough to do. */
export function isWorthDescribing(tables: number): boolean {
  return tables >= worthwhile && availableParallelism() > 1;
}

/** Starts the thread, which gets ready at once and waits for a schema. */
export function startDescribing(workerData: DescribingSources): DescribingThread {
  const name = import.meta.url.endsWith('.ts') ? './describing-worker.ts' : './describing-worker.js';
  const { worker, send } = startWorker<DescribingQuestion>()(new URL(name, import.meta.url), workerData, {
    resourceLimits: { maxYoungGenerationSizeMb },
  });
  const outcome = Promise.withResolvers<CompileResult['diagnostics']>();
  worker.on('error', outcome.reject);
  const ended = Promise.withResolvers<void>();
  worker.on('exit', () => {
    outcome.reject(new Error('The describing thread has ended.'));
    ended.resolve();
  });
  // A caller that gives up before the answer ignores its rejection.
  outcome.promise.catch(() => undefined);
  let answered = false;
  return {
    async describe(schema, arrived) {
      worker.on('message', (message: DescribingAnswer) => {
        if ('packed' in message) arrived(unpackFiles(message.packed));
        else outcome.resolve(message.diagnostics);
      });
      send(JSON.stringify(schema));
      const diagnostics = await outcome.promise;
      answered = true;
      return diagnostics;
    },
    close: async () => void (await (answered ? ended.promise : worker.terminate())),
  };
}
