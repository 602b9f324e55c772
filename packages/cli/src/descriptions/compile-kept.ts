import { type CompileOptions, type CompileResult, compile } from '@tablewright/compiler/compile';
import type { Schema } from '@tablewright/introspect/schema';
import { openArchive } from '../archive/project-archive.ts';

/** Compiled result that is not cached yet. */
export interface Kept {
  readonly result: CompileResult;
  /** Archives it. Where nothing can be kept, compiling takes longer the next time. */
  save(): Promise<void>;
}

/** Compiles with the archive in a folder; null for none. */
export async function compileKept(schema: Schema, options: CompileOptions, cache: string | null): Promise<Kept> {
  const archive = cache === null ? null : await openArchive(cache, options.part);
  const result = compile(schema, { ...options, ...(archive && { archive }) });
  return { result, save: async () => archive?.save().catch(() => undefined) };
}
