import { type CompileOptions, type CompileResult, compile } from '@tablewright/compiler/compile';
import type { Schema } from '@tablewright/introspect/schema';
import { openCache } from '../disk-cache/project-cache.ts';

/** Compiled result that is not cached yet. */
export interface Kept {
  readonly result: CompileResult;
  /** Archives it. Where nothing can be kept, compiling takes longer the next time. */
  save(): Promise<void>;
}

/** Compiles with the disk cache in a folder; null for none. */
export async function compileKept(schema: Schema, options: CompileOptions, cache: string | null): Promise<Kept> {
  const diskCache = cache === null ? null : await openCache(cache, options.part);
  const result = compile(schema, { ...options, ...(diskCache && { diskCache }) });
  return { result, save: async () => diskCache?.save().catch(() => undefined) };
}
