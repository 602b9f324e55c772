/**
 * What a run has left in an output folder: whether somebody has touched a file is told by what the file system says of it,
 * as version control does it, so that a file whose text is known need not be read.
 */
import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from '../output-file.ts';
import type { KnownContents } from '../write-files.ts';

/** A file by its path below the output folder, and what the file system said of it. */
export type LeftFile = readonly [path: string, mark: string];

/** Tells of a file as it is now. */
export function leftFile(output: string, path: string): LeftFile {
  return [path, markOf(join(output, path))];
}

/** Whether nobody has touched a file since. */
export function isUntouched(output: string, [path, mark]: LeftFile): boolean {
  return markOf(join(output, path)) === mark;
}

/** What is known of files by how they were left, and by the digests of what they held then. */
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

/** Another one whenever a file was replaced or written, whatever it holds now. */
function markOf(path: string): string {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}
