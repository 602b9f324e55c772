/** Compiles a project in one thread, or in two where that is worth it, and keeps what can be used again. */
import { type CompileMemory, type CompileOptions, type CompileResult, compile } from '@platform/compiler/compile';
import type { Schema } from '@platform/introspect/schema';
import { isArchived, openArchive } from '../archive/project-archive.ts';
import { type DescribingThread, isWorthDescribing, startDescribing } from './describing-thread.ts';

/** How a compiler works; it changes nothing but the time. */
export interface CompilerCircumstances {
  /** How many there are. */
  readonly tables: number;
  /** Of a process that compiles again and again, which remembers in one thread. */
  readonly memory: CompileMemory | null;
  /** The folder of the archive; null for none. */
  readonly cache: string | null;
}

/** A compiler that gets ready before it is needed. */
export interface PreparedCompiler {
  /** Compiles once. */
  compile(schema: Schema): Promise<CompileResult>;
  close(): Promise<void>;
}

/** Collections from which on it is worth looking for what was made before. */
const worthArchiving = 100;

/** Whether there are as many. */
export function isWorthArchiving({ collections }: Schema): boolean {
  return collections.length >= worthArchiving;
}

/**
 * Prepares it for the inputs of a project. Where an archive has most of what will be made, one thread finds it in less time
 * than it takes two to load and look at everything.
 */
export async function prepareCompiler(
  inputs: CompileOptions,
  { tables, memory, cache }: CompilerCircumstances,
): Promise<PreparedCompiler> {
  const isShared = memory === null && isWorthDescribing(tables) && !(cache !== null && (await isArchived(cache)));
  const thread = isShared ? startDescribing({ inputs, cache }) : null;
  return {
    async compile(schema) {
      const archived = isWorthArchiving(schema) ? cache : null;
      if (thread !== null) return compileShared(schema, inputs, archived, thread);
      return compileKept(schema, { ...inputs, ...(memory && { memory }) }, archived);
    },
    close: async () => thread?.close(),
  };
}

/** Compiles with an archive. */
export async function compileKept(
  schema: Schema,
  options: CompileOptions,
  cache: string | null,
): Promise<CompileResult> {
  const archive = cache === null ? null : await openArchive(cache, options.part);
  const result = compile(schema, { ...options, ...(archive && { archive }) });
  // Where nothing can be kept, compiling takes longer the next time.
  await archive?.save().catch(() => undefined);
  return result;
}

async function compileShared(
  schema: Schema,
  inputs: CompileOptions,
  cache: string | null,
  thread: DescribingThread,
): Promise<CompileResult> {
  const described = thread.describe(schema);
  const result = await compileKept(schema, { ...inputs, part: 'others' }, cache);
  return result.describedBy?.(await described) ?? result;
}
