/**
 * What a run has left in an output folder: whether somebody has touched a file is told by what the file system says of it,
 * as version control does it, so that a file whose text is known need not be read.
 */
import { hash } from 'node:crypto';
import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { type OutputFile, wholeText } from '../output-file.ts';
import type { KnownContents } from '../write-files.ts';

/** A file by its path below the output folder, and what the file system said of it. */
export type LeftFile = readonly [path: string, mark: string];

/** The same with a digest of its text; null for one in several pieces, which takes as long to digest as to compare. */
export type DigestedFile = readonly [...LeftFile, digest: string | null];

/** Tells of a file as it is now. */
export function leftFile(output: string, path: string): LeftFile {
  return [path, markOf(join(output, path))];
}

/** Tells of files as they are now. */
export function digestedFiles(output: string, files: readonly OutputFile[]): readonly DigestedFile[] {
  return files.map((file) => [...leftFile(output, file.path), digestOfText(file)]);
}

/** Whether nobody has touched a file since. */
export function isUntouched(output: string, [path, mark]: LeftFile | DigestedFile): boolean {
  return markOf(join(output, path)) === mark;
}

/** What is known of files by how they were left. */
export function knownContents(output: string, files: readonly DigestedFile[]): KnownContents {
  const left = new Map(files.map((one) => [one[0], one]));
  return (file) => {
    const one = left.get(file.path);
    if (one === undefined || one[2] === null || !isUntouched(output, one)) return null;
    return digestOfText(file) === one[2];
  };
}

/** Another one whenever a file was replaced or written, whatever it holds now. */
function markOf(path: string): string {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}

/** Taken once of a file; null for one in several pieces. */
function digestOfText(file: OutputFile): string | null {
  const text = wholeText(file);
  if (text === null) return null;
  const digest = digests.get(file) ?? hash('sha256', text, 'base64');
  digests.set(file, digest);
  return digest;
}

const digests = new WeakMap<OutputFile, string>();
