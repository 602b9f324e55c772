/** Compiles a project in one thread, or in two if that is worth it. */
import type { CompileOptions, CompileResult, GeneratedFile, MemoCache } from '@tablewright/compiler/compile';
import type { Schema } from '@tablewright/introspect/schema';
import { type DescribingThread, isWorthDescribing, startDescribing } from './describing-thread.ts';

/** How a compiler works; it changes nothing but the time. */
export interface CompilerCircumstances {
  /** How many there are. */
  readonly tables: number;
  /** Cache of a process that compiles repeatedly; it is used in one thread. */
  readonly memoCache: MemoCache | null;
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

/** Prepares it for the inputs of a project. */
export function prepareCompiler(
  inputs: CompileOptions,
  { tables, memoCache }: CompilerCircumstances,
): PreparedCompiler {
  const thread = memoCache === null && isWorthDescribing(tables) ? startDescribing({ inputs }) : null;
  return {
    async compile(schema, meanwhile = async () => undefined) {
      if (thread !== null) return compileShared(schema, inputs, thread, meanwhile);
      return compileAlone(schema, { ...inputs, ...(memoCache && { memoCache }) }, meanwhile);
    },
    close: async () => thread?.close(),
  };
}

/** The compiler is loaded when the other thread has its schema. */
const loaded = () => import('@tablewright/compiler/compile');

/** Waits for nothing that is done meanwhile. */
async function compileAlone(schema: Schema, inputs: CompileOptions, meanwhile: Meanwhile): Promise<CompileResult> {
  const { compile } = await loaded();
  const described = (file: GeneratedFile): void => void meanwhile([file]).catch(() => undefined);
  return compile(schema, { ...inputs, described });
}

async function compileShared(
  schema: Schema,
  inputs: CompileOptions,
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
    const { compile } = await loaded();
    const result = compile(schema, { ...inputs, part: 'others' });
    if (result.describedBy === undefined) return result;
    arrivals.add(result.files);
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
