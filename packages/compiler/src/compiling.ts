/** The compiler alone, without comparisons and explanations: half of the modules of this package. */

export { createMemoCache, type MemoCache } from './cache/memo-cache.ts';
export { isSame } from './cache/same.ts';
export { type CompileOptions, type CompileResult, type CompileSummary, compile } from './compile/compile.ts';
export * from './files.ts';
