/**
 * Files that this process has left in an output folder: it still has the texts, so it does not read untouched files.
 */
import { isUntouched, type LeftFile, leftFile } from '../disk-cache/left-files.ts';
import { haveSameText, type OutputFile } from '../output/output-file.ts';
import type { KnownContents } from '../output/write-files.ts';

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
