/** The files of a project that is built again, from when the first of them is made until all are in their places. */
import { type Compilation, type Meanwhile, placeProject } from '../compile/compile-project.ts';
import type { GenerateResult } from '../compile/steps.ts';
import { isUntouched, type LeftFile, leftFile } from '../disk-cache/last-run.ts';
import { haveSameText, type OutputFile } from '../output/output-file.ts';
import { type KnownContents, openOutput } from '../output/write-files.ts';
import { bothOf } from '../process/once.ts';
import type { Project } from '../project/project.ts';
import { silent } from '../terminal/progress.ts';

/** Written files. */
interface Rewritten {
  readonly result: GenerateResult;
  /** Resolves when nothing is left of the files that were replaced. */
  readonly cleared: Promise<void>;
}

/** Writes the files of a project in the course of a compilation. */
interface Rewriting {
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

/** Files by their paths below the output folder. */
export type LeftOutput = ReadonlyMap<string, Left>;

interface Left {
  readonly file: OutputFile;
  /** How it was left; digests are for other processes. */
  readonly left: LeftFile;
}

/** Notes files as they are now. */
export function noteOutput(output: string, files: readonly OutputFile[]): LeftOutput {
  return new Map(files.map((file) => [file.path, { file, left: leftFile(output, file.path) }]));
}

/** Makes the look-up of known contents from the state in which this process has left the files. */
export function knownOutput(output: string, left: LeftOutput): KnownContents {
  return (file) => {
    const leftFile = left.get(file.path);
    return leftFile === undefined || !isUntouched(output, leftFile.left) ? null : haveSameText(leftFile.file, file);
  };
}
