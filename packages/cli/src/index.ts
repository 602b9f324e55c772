/** The command line as a library: for tools that compile without a shell. */

export { generateProject } from './compile/compile-project.ts';
export type { GenerateResult } from './compile/steps.ts';
export { introspectProject } from './compile/steps.ts';
export { CommandError, exitCodes } from './errors/failures.ts';
export type { WriteResult } from './output/write-files.ts';
export { writeFiles } from './output/write-files.ts';
export type { Project } from './project/project.ts';
export { loadProject } from './project/project.ts';
export type { Run, Source } from './sources/source.ts';
export type { Phase, Progress, ProgressOptions } from './terminal/progress.ts';
export { createProgress } from './terminal/progress.ts';
