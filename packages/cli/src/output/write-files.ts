/**
 * Writes generated files: all or none, only what changed, and removes those of the last run that are gone.
 *
 * Everything is staged in a folder beside the output first, so a full disk or a missing permission shows before the
 * output is touched. Only files that the last `manifest.json` lists are removed: a file of the user's own stays. A file
 * that differs from its digest in the manifest was edited, and is neither overwritten nor removed.
 */
import { existsSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, sep } from 'node:path';
import { readManifest, refuseEdited } from './manifest.ts';
import {
  chunksOf,
  eachOf,
  holdsText,
  type OutputFile,
  readText,
  sizeOf,
  wholeText,
  withLineFeeds,
} from './output-file.ts';
import { bothOf, stageFiles, type Target } from './staged-files.ts';

export type { OutputFile } from './output-file.ts';

/** Numbers of files that were written, left as they were, and removed. */
export interface WriteResult {
  /** Paths of the written files, below the output folder. */
  readonly paths: readonly string[];
  readonly written: number;
  readonly unchanged: number;
  readonly removed: number;
}

/** One file that differs between the output folder and what it should hold; texts are null where there is none. */
export interface FileDifference {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Changes that `writeFiles` would make to more than line breaks, by path; writes nothing. */
export async function compareFiles(
  outputFolder: string,
  files: readonly OutputFile[],
): Promise<readonly FileDifference[]> {
  const target = files.map(targetOf);
  const texts = new Map(target.map(({ path, file }) => [path, file]));
  const stale = await findStale(outputFolder, target, () => true);
  const changed = await selectChanged(outputFolder, target);
  const paths = [...changed.map(({ path }) => path), ...stale].sort();
  const differences = paths.map(async (path) => ({
    path: portable(path),
    before: await readText(join(outputFolder, path)),
    after: texts.get(path)?.contents ?? null,
  }));
  return (await Promise.all(differences)).filter(
    ({ before, after }) => before === null || withLineFeeds(before) !== after,
  );
}

/** True if a file holds a text, as far as that is known without reading it; null if it is unknown. */
export type KnownContents = (file: OutputFile) => boolean | null;

/** True if a file, by its path, belongs to the part of the output that is written. */
type CoversPath = (path: string) => boolean;

/** Options for writing into an output folder. */
interface OutputOptions {
  /** Default: nothing is known. */
  readonly holds?: KnownContents | undefined;
  /** Files of the last run outside of the covered part stay. Default: all are covered. */
  readonly covers?: CoversPath | undefined;
  /** Overwrite files that were edited. */
  readonly force?: boolean | undefined;
}

/** Writes into an output folder, which need not exist. */
export function openOutput(outputFolder: string, options: OutputOptions = {}) {
  const { holds = () => null, covers = () => true, force = false } = options;
  const staged = stageFiles(outputFolder);
  /** Files to be replaced that are not known to be as they were written. */
  const replaced: string[] = [];
  const target = new Map<OutputFile, Target>();
  const stageChanged = async (files: readonly Target[]): Promise<void> => {
    const { changed, unknown } = sortKnown(outputFolder, files, holds);
    const staging = staged.stage(changed);
    const stageUnknown = async () => {
      const found = await selectChanged(outputFolder, unknown);
      replaced.push(...found.map(({ file }) => file.path));
      return staged.stage(found);
    };
    await (unknown.length === 0 ? staging : bothOf(staging, stageUnknown()));
  };
  const stageMore = async (files: readonly OutputFile[]): Promise<void> => {
    const more = files.filter((file) => !target.has(file)).map(targetOf);
    for (const added of more) target.set(added.file, added);
    const isLong = ({ file }: Target): boolean => wholeText(file) === null;
    // Long ones are written while this thread looks at the others, or continues its work.
    const writing = stageChanged(more.filter(isLong));
    await bothOf(writing, stageChanged(more.filter((target) => !isLong(target))));
  };
  const stagings: Promise<void>[] = [];
  const stage = (files: readonly OutputFile[]): Promise<void> => {
    const staging = stageMore(files);
    // `finish` awaits the rejection, too; it may come before.
    staging.catch(() => undefined);
    stagings.push(staging);
    return staging;
  };
  return {
    /**
     * Writes files beside the folder, but those that it holds already and those that were staged before. Long ones that it is
     * known not to hold begin to be written at once. Rejects with the file system's error, as `finish` will.
     */
    stage,
    /** Brings the folder to the staged state and that of `files`; a rejection leaves it as it was. */
    async finish(files: readonly OutputFile[]): Promise<WriteResult> {
      stage(files);
      const [, stale] = await bothOf(Promise.all(stagings), findStale(outputFolder, [...target.values()], covers));
      if (!force) await refuseEdited(outputFolder, [...replaced, ...stale.map(portable)]);
      staged.moveIn(stale);
      await removeEmptyFolders(outputFolder, stale);
      const paths = staged.paths.map(portable).sort();
      return { paths, written: paths.length, unchanged: target.size - paths.length, removed: stale.length };
    },
    /** Leaves nothing outside the folder. */
    async close(): Promise<void> {
      await Promise.allSettled(stagings);
      await staged.close();
    },
  };
}

/**
 * Brings the output folder to the state of `files`. Rejects with the file system's error, or with `EditedFilesError`, and
 * leaves it as it was.
 * @example const { paths } = await writeFiles('/srv/api/generated', [{ path: 'notes.txt', contents: 'Hello' }]);
 */
export async function writeFiles(
  outputFolder: string,
  files: readonly OutputFile[],
  options?: OutputOptions,
): Promise<WriteResult> {
  const output = openOutput(outputFolder, options);
  try {
    return await output.finish(files);
  } finally {
    await output.close();
  }
}

/** A path as generated files have it, on every system. */
function portable(path: string): string {
  return path.split(sep).join('/');
}

function targetOf(file: OutputFile): Target {
  return { path: checkedPath(file.path), file };
}

/** A path that cannot leave the folder it is joined to. */
function checkedPath(path: string): string {
  const plain = normalize(path);
  if (isAbsolute(plain) || plain === '.' || plain === '..' || plain.startsWith(`..${sep}`)) {
    throw new Error(`"${path}" is not a path below the output folder.`);
  }
  return plain;
}

/** Files that have to be written for all that is known, and those that have to be read to know it. */
function sortKnown(
  folder: string,
  files: readonly Target[],
  holds: KnownContents,
): { readonly changed: readonly Target[]; readonly unknown: readonly Target[] } {
  // Where there is no folder there is no file either.
  if (!existsSync(folder)) return { changed: files, unknown: [] };
  const matches = files.map(({ file }) => holds(file));
  return {
    changed: files.filter((_, index) => matches[index] === false),
    unknown: files.filter((_, index) => matches[index] === null),
  };
}

async function selectChanged(folder: string, files: readonly Target[]): Promise<readonly Target[]> {
  if (!existsSync(folder)) return files;
  const same = await eachOf(files, ({ path, file }) => holdsText(join(folder, path), chunksOf(file)));
  return files.filter((_, index) => same[index] !== true);
}

/** Files that the last run made and this one does not. A manifest that cannot be read says nothing about any file. */
async function findStale(folder: string, files: readonly Target[], covers: CoversPath): Promise<readonly string[]> {
  const kept = new Set(files.map(({ path }) => path));
  const listed = [...((await readManifest(folder))?.digests.keys() ?? [])].filter(covers);
  const gone = listed.map(checkedPath).filter((path) => !kept.has(path));
  const sizes = await eachOf(gone, (path) => sizeOf(join(folder, path)));
  return gone.filter((_, index) => sizes[index] !== null);
}

/** Folders that held removed files, and the ones above them, as far as they are empty now. */
async function removeEmptyFolders(folder: string, removed: readonly string[]): Promise<void> {
  const folders = new Set(removed.flatMap(foldersAbove));
  // The system keeps those that hold something, and another command may have removed one.
  for (const path of [...folders].sort((a, b) => b.length - a.length))
    await rmdir(join(folder, path)).catch(() => undefined);
}

function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [parent, ...foldersAbove(parent)];
}
