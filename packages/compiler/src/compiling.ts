/** What compiles, without what compares and explains: half of the modules of this package. */
export { type CompileOptions, type CompilePart, type CompileResult, type CompileSummary, compile } from './compile.ts';
export { plannedFile } from './emit/emit-files.ts';
export { type GeneratedFile, longFile } from './emit/generated-file.ts';
export { type Archive, type Archived, type ArchivedQuestion, partOfMaker } from './memory/archive.ts';
export { type CompileMemory, createCompileMemory } from './memory/compile-memory.ts';
export { printJson } from './print/json.ts';
export { joinPieces, type Piece } from './print/pieces.ts';
