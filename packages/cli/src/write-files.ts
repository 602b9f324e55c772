/**
 * Writes generated files: all or none, only what changed, and removes those of the last run that are gone.
 *
 * Everything is staged in a folder beside the output first, so a full disk or a missing permission shows before the
 * output is touched. What is removed is only what the last `manifest.json` lists: a file of the user's own stays.
 */
import { randomUUID } from 'node:crypto';
import { copyFile, link, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, sep } from 'node:path';
import { eachOf, holdsText, isMissing, type OutputFile, readText, sizeOf, writeText } from './output-file.ts';

export type { OutputFile } from './output-file.ts';

/** How many files were written, left as they were, and removed. */
export interface WriteResult {
  /** Those written, below the output folder. */
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

/** What `writeFiles` would change, by path; writes nothing. */
export async function compareFiles(
  outputFolder: string,
  files: readonly OutputFile[],
): Promise<readonly FileDifference[]> {
  const target = files.map(targetOf);
  const texts = new Map(target.map(({ path, file }) => [path, file]));
  const stale = await findStale(outputFolder, target);
  const changed = await selectChanged(outputFolder, target);
  const paths = [...changed.map(({ path }) => path), ...stale].sort();
  return Promise.all(
    paths.map(async (path) => ({
      path: path.split(sep).join('/'),
      before: await readText(join(outputFolder, path)),
      after: texts.get(path)?.contents ?? null,
    })),
  );
}

/** Whether a file holds a text, as far as that is known without reading it; null where it is not. */
export type KnownContents = (file: OutputFile) => boolean | null;

/** Brings the output folder to the state of `files`. Rejects with the file system's error and leaves it as it was. */
export async function writeFiles(
  outputFolder: string,
  files: readonly OutputFile[],
  holds: KnownContents = () => null,
): Promise<WriteResult> {
  const target = files.map(targetOf);
  const changed = await selectChanged(outputFolder, target, holds);
  const stale = await findStale(outputFolder, target);
  await replace(outputFolder, changed, stale);
  await removeEmptyFolders(outputFolder, stale);
  const paths = changed.map(({ path }) => path.split(sep).join('/'));
  return { paths, written: changed.length, unchanged: files.length - changed.length, removed: stale.length };
}

/** A file with its path as the system writes it. */
interface Target {
  readonly path: string;
  readonly file: OutputFile;
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

async function selectChanged(
  folder: string,
  files: readonly Target[],
  holds: KnownContents = () => null,
): Promise<readonly Target[]> {
  // Where there is no folder there is no file either.
  if (await isNew(folder)) return files;
  const known = files.map(({ file }) => holds(file));
  const unknown = files.filter((_, at) => known[at] === null);
  const same = await eachOf(unknown, ({ path, file }) => holdsText(join(folder, path), file));
  const changed = new Set(unknown.filter((_, at) => same[at] !== true));
  return files.filter((file, at) => known[at] === false || changed.has(file));
}

/** Files that the last run made and this one does not. A manifest that cannot be read says nothing about any file. */
async function findStale(folder: string, files: readonly Target[]): Promise<readonly string[]> {
  const kept = new Set(files.map(({ path }) => path));
  const listed = listedFiles(await readText(join(folder, 'manifest.json')));
  const gone = listed.map(checkedPath).filter((path) => !kept.has(path));
  const sizes = await eachOf(gone, (path) => sizeOf(join(folder, path)));
  return gone.filter((_, index) => sizes[index] !== null);
}

function listedFiles(manifest: string | null): readonly string[] {
  if (manifest === null) return [];
  try {
    const value: unknown = JSON.parse(manifest);
    const files = typeof value === 'object' && value !== null && 'files' in value ? value.files : [];
    return Array.isArray(files) ? files.filter((file) => typeof file === 'string') : [];
  } catch {
    return [];
  }
}

/** Moves the staged files into place, keeping what they replace until all of them are there. */
async function replace(folder: string, changed: readonly Target[], stale: readonly string[]): Promise<void> {
  if (changed.length === 0 && stale.length === 0) return;
  const staging = `${folder}.${randomUUID()}.tmp`;
  const undo: (() => Promise<void>)[] = [];
  try {
    const paths = changed.map(({ path }) => path);
    await makeFolders(join(staging, 'new'), paths);
    for (const { path, file } of changed) writeText(join(staging, 'new', path), file);
    if (await isNew(folder)) return await rename(join(staging, 'new'), folder);
    await makeFolders(join(staging, 'old'), paths);
    await makeFolders(folder, paths);
    const kept = await eachOf(paths, (path) => keepCopy(join(folder, path), join(staging, 'old', path)));
    for (const [index, path] of paths.entries()) {
      await moveIn(join(staging, 'new', path), join(folder, path), kept[index] ?? null, undo);
    }
    for (const path of stale) await moveOut(join(folder, path), join(staging, 'old', path), undo);
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Makes the folders that files will lie in. */
async function makeFolders(folder: string, paths: readonly string[]): Promise<void> {
  const folders = new Set(paths.map((path) => dirname(join(folder, path))));
  for (const one of folders) await mkdir(one, { recursive: true });
}

async function isNew(folder: string): Promise<boolean> {
  return stat(folder).then(
    () => false,
    (error: unknown) => isMissing(error),
  );
}

/**
 * Keeps a file under a second name, or as a copy where the file system has no second names: so the file itself is replaced
 * in one step and a running server never misses it. Resolves to the copy; null when there is no file.
 */
async function keepCopy(path: string, copy: string): Promise<string | null> {
  try {
    await link(path, copy).catch(async (error: unknown) => {
      if (isMissing(error)) throw error;
      await copyFile(path, copy);
    });
    return copy;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function moveIn(staged: string, path: string, copy: string | null, undo: (() => Promise<void>)[]): Promise<void> {
  await rename(staged, path);
  undo.push(() => (copy === null ? rm(path) : rename(copy, path)));
}

async function moveOut(path: string, aside: string, undo: (() => Promise<void>)[]): Promise<void> {
  await mkdir(dirname(aside), { recursive: true });
  await rename(path, aside);
  undo.push(() => rename(aside, path));
}

/** Folders that held removed files, and the ones above them, as far as they are empty now. */
async function removeEmptyFolders(folder: string, removed: readonly string[]): Promise<void> {
  const folders = new Set(removed.flatMap(foldersAbove));
  for (const path of [...folders].sort((a, b) => b.length - a.length)) {
    const left = await readdir(join(folder, path));
    if (left.length === 0) await rmdir(join(folder, path));
  }
}

function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [parent, ...foldersAbove(parent)];
}
