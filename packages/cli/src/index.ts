/** The command line as a library: for tools that compile without a shell. */

export { generateProject } from './compile-project.ts';
export { CommandError, exitCodes } from './exit-codes.ts';
export type { Phase, Progress, ProgressOptions } from './progress.ts';
export { createProgress } from './progress.ts';
export type { Project } from './project.ts';
export { loadProject } from './project.ts';
export type { Run, Source } from './source.ts';
export type { GenerateResult } from './steps.ts';
export { introspectProject } from './steps.ts';
export type { WriteResult } from './write-files.ts';
export { writeFiles } from './write-files.ts';
