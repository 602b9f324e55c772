/** The compiler alone, without comparisons and explanations: half of the modules of this package. */
export { type CompileOptions, type CompilePart, type CompileResult, type CompileSummary, compile } from './compile.ts';
export * from './files.ts';
export { type CompileMemory, createCompileMemory } from './memory/compile-memory.ts';
export { isSame } from './memory/same.ts';
