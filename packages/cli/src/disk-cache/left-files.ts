/**
 * State of the files that a run has left in an output folder. The metadata of the file system tells if a file was
 * touched, as in version control. So a file with a known text need not be read.
 */
import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from '../output/output-file.ts';
import type { KnownContents } from '../output/write-files.ts';

/** A file by its path below the output folder, and its metadata in the file system. */
export type LeftFile = readonly [path: string, stamp: string];

/** Reads the metadata of a file as it is now. */
export function leftFile(output: string, path: string): LeftFile {
  return [path, stampOf(join(output, path))];
}

/** True if a file is untouched since. */
export function isUntouched(output: string, [path, stamp]: LeftFile): boolean {
  return stampOf(join(output, path)) === stamp;
}

/**
 * Makes the look-up of known contents from the state in which files were left, and from the digests of their contents
 * then.
 */
export function knownContents(
  output: string,
  files: readonly LeftFile[],
  digests: ReadonlyMap<string, string>,
): KnownContents {
  const left = new Map(files.map((file) => [file[0], file]));
  return (file) => {
    const found = left.get(file.path);
    const digest = digests.get(file.path);
    if (found === undefined || digest === undefined || !isUntouched(output, found)) return null;
    return digestOf(file) === digest;
  };
}

/** Stamp of a file, which differs whenever it was replaced or written, regardless of its content. */
function stampOf(path: string): string {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}
