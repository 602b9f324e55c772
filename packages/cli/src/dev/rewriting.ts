/** The files of a project that is built again, from when the first of them is made until all are in their places. */

import { type Compilation, placeProject } from '../compile/compile-project.ts';
import type { Meanwhile } from '../compile/run-compiler.ts';
import type { GenerateResult } from '../compile/steps.ts';
import { openOutput } from '../output/write-files.ts';
import { bothOf } from '../process/both-of.ts';
import type { Project } from '../project/project.ts';
import { silent } from '../terminal/progress.ts';
import { knownOutput, type LeftOutput } from './left-output.ts';

/** Written files. */
export interface Rewritten {
  readonly result: GenerateResult;
  /** Resolves when nothing is left of the files that were replaced. */
  readonly cleared: Promise<void>;
}

/** Writes the files of a project in the course of a compilation. */
export interface Rewriting {
  /** Begins with files that are made already. */
  readonly begin: Meanwhile;
  /** Writes the changes; rejects, and leaves nothing, if that is impossible. */
  finish(compilation: Compilation): Promise<Rewritten>;
  /** Leaves nothing of unfinished work. */
  close(): Promise<void>;
}

/**
 * Writes changed files, and does not read files that were untouched since they were written. The removal of replaced
 * files is not awaited, as it takes the system as long as the writing.
 */
export function startRewriting(project: Project, left: LeftOutput): Rewriting {
  const output = openOutput(project.output, { holds: knownOutput(project.output, left) });
  return {
    begin: output.stage,
    async finish(compilation) {
      try {
        const { result, clear } = await placeProject(project, compilation, silent, output.finish);
        // A file that cannot be removed takes space and does no other harm.
        const cleared = bothOf(output.close(), clear()).then(
          () => undefined,
          () => undefined,
        );
        return { result, cleared };
      } catch (error) {
        await output.close();
        throw error;
      }
    },
    close: output.close,
  };
}
