/** Compiles a project in one thread, or in two if that is worth it, and caches reusable results. */
import type { CompileOptions, CompileResult, GeneratedFile, MemoCache } from '@tablewright/compiler/compile';
import type { Schema } from '@tablewright/introspect/schema';
import { isCached } from '../disk-cache/project-cache.ts';
import { type DescribingThread, isWorthDescribing, startDescribing } from './describing-thread.ts';

/** How a compiler works; it changes nothing but the time. */
export interface CompilerCircumstances {
  /** How many there are. */
  readonly tables: number;
  /** Cache of a process that compiles repeatedly; it is used in one thread. */
  readonly memoCache: MemoCache | null;
  /** The folder of the disk cache; null for none. */
  readonly cache: string | null;
}

/**
 * Work on files while others are still being made. A compiler that uses one thread does not await it, so the work has
 * to report its result itself.
 */
export type Meanwhile = (files: readonly GeneratedFile[]) => Promise<void>;

/** A compiler that gets ready before it is needed. */
export interface PreparedCompiler {
  /** Compiles once. */
  compile(schema: Schema, meanwhile?: Meanwhile): Promise<CompileResult>;
  close(): Promise<void>;
}

/** Number of collections from which on the cache is worth reading. */
const worthArchiving = 100;

/** True if a schema has that many collections. */
export function isWorthCaching({ collections }: Schema): boolean {
  return collections.length >= worthArchiving;
}

/**
 * Prepares it for the inputs of a project. If the cache has most of the results, one thread finds them in less time
 * than two need to load and look at everything.
 */
export async function prepareCompiler(
  inputs: CompileOptions,
  { tables, memoCache, cache }: CompilerCircumstances,
): Promise<PreparedCompiler> {
  const isShared = memoCache === null && isWorthDescribing(tables) && !(cache !== null && (await isCached(cache)));
  const thread = isShared ? startDescribing({ inputs, cache }) : null;
  return {
    async compile(schema, meanwhile = async () => undefined) {
      const cached = isWorthCaching(schema) ? cache : null;
      if (thread !== null) return compileShared(schema, inputs, cached, thread, meanwhile);
      return compileAlone(schema, { ...inputs, ...(memoCache && { memoCache }) }, cached, meanwhile);
    },
    close: async () => thread?.close(),
  };
}

/** The compiler is loaded when the other thread has its schema. */
const loaded = () => import('./compile-kept.ts');

/** Waits for nothing that is done meanwhile. */
async function compileAlone(
  schema: Schema,
  inputs: CompileOptions,
  cache: string | null,
  meanwhile: Meanwhile,
): Promise<CompileResult> {
  const { compileKept } = await loaded();
  const described = (file: GeneratedFile): void => void meanwhile([file]).catch(() => undefined);
  const { result, save } = await compileKept(schema, { ...inputs, described }, cache);
  await save();
  return result;
}

async function compileShared(
  schema: Schema,
  inputs: CompileOptions,
  cache: string | null,
  thread: DescribingThread,
  meanwhile: Meanwhile,
): Promise<CompileResult> {
  const descriptions: GeneratedFile[] = [];
  const arrivals = createArrivals(meanwhile);
  const described = thread.describe(schema, (files) => {
    descriptions.push(...files);
    arrivals.add(files);
  });
  // The rejection is awaited later; it may come before.
  described.catch(() => undefined);
  try {
    const { compileKept } = await loaded();
    const { result, save } = await compileKept(schema, { ...inputs, part: 'others' }, cache);
    if (result.describedBy === undefined) return result;
    arrivals.add(result.files);
    await save();
    const diagnostics = await described;
    await arrivals.done();
    return diagnostics.length > 0 ? { ...result, files: [], diagnostics } : result.describedBy(descriptions);
  } finally {
    await arrivals.close();
  }
}

/** Files that arrive while others are made; after the end nothing is done with them. */
function createArrivals(meanwhile: Meanwhile) {
  const works: Promise<void>[] = [];
  let closed = false;
  return {
    add(files: readonly GeneratedFile[]): void {
      if (closed) return;
      const work = meanwhile(files);
      // The rejection is awaited with all others; it may come before.
      work.catch(() => undefined);
      works.push(work);
    },
    /** Rejects with the first failure. */
    done: async (): Promise<void> => void (await Promise.all(works)),
    async close(): Promise<void> {
      closed = true;
      await Promise.allSettled(works);
    },
  };
}
