/**
 * Writes generated files: all or none, only what changed, and removes those of the last run that are gone.
 *
 * Everything is staged in a folder beside the output first, so a full disk or a missing permission shows before the
 * output is touched. What is removed is only what the last `manifest.json` lists: a file of the user's own stays.
 */
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, sep } from 'node:path';

/** A file to write, its path relative to the output folder, with `/` on every system. */
export interface OutputFile {
  readonly path: string;
  readonly contents: string;
}

/** How many files were written, left as they were, and removed. */
export interface WriteResult {
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
  const target = files.map((file) => ({ ...file, path: checkedPath(file.path) }));
  const texts = new Map(target.map(({ path, contents }) => [path, contents]));
  const stale = await findStale(outputFolder, target);
  const changed = await selectChanged(outputFolder, target);
  const paths = [...changed.map(({ path }) => path), ...stale].sort();
  return Promise.all(
    paths.map(async (path) => ({
      path: path.split(sep).join('/'),
      before: await readText(join(outputFolder, path)),
      after: texts.get(path) ?? null,
    })),
  );
}

/** Brings the output folder to the state of `files`. Rejects with the file system's error and leaves it as it was. */
export async function writeFiles(outputFolder: string, files: readonly OutputFile[]): Promise<WriteResult> {
  const target = files.map((file) => ({ ...file, path: checkedPath(file.path) }));
  const changed = await selectChanged(outputFolder, target);
  const stale = await findStale(outputFolder, target);
  await replace(outputFolder, changed, stale);
  await removeEmptyFolders(outputFolder, stale);
  return { written: changed.length, unchanged: files.length - changed.length, removed: stale.length };
}

/** A path that cannot leave the folder it is joined to. */
function checkedPath(path: string): string {
  const plain = normalize(path);
  if (isAbsolute(plain) || plain === '.' || plain === '..' || plain.startsWith(`..${sep}`)) {
    throw new Error(`"${path}" is not a path below the output folder.`);
  }
  return plain;
}

async function selectChanged(folder: string, files: readonly OutputFile[]): Promise<readonly OutputFile[]> {
  const present = await Promise.all(files.map(({ path }) => readText(join(folder, path))));
  return files.filter(({ contents }, index) => present[index] !== contents);
}

/** Files that the last run made and this one does not. A manifest that cannot be read says nothing about any file. */
async function findStale(folder: string, files: readonly OutputFile[]): Promise<readonly string[]> {
  const kept = new Set(files.map(({ path }) => path));
  const listed = listedFiles(await readText(join(folder, 'manifest.json')));
  const gone = listed.map(checkedPath).filter((path) => !kept.has(path));
  const present = await Promise.all(gone.map((path) => readText(join(folder, path))));
  return gone.filter((_, index) => present[index] !== null);
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
async function replace(folder: string, changed: readonly OutputFile[], stale: readonly string[]): Promise<void> {
  if (changed.length === 0 && stale.length === 0) return;
  const staging = `${folder}.${randomUUID()}.tmp`;
  const undo: (() => Promise<void>)[] = [];
  try {
    for (const { path, contents } of changed) await writeInto(join(staging, 'new', path), contents);
    for (const { path } of changed) await keepCopy(join(folder, path), join(staging, 'old', path));
    for (const { path } of changed) {
      await moveIn(join(staging, 'new', path), join(folder, path), join(staging, 'old', path), undo);
    }
    for (const path of stale) await moveOut(join(folder, path), join(staging, 'old', path), undo);
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function writeInto(path: string, contents: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, contents);
}

/** A copy, so that the file itself is replaced in one step and a running server never misses it. */
async function keepCopy(path: string, copy: string): Promise<void> {
  if ((await readText(path)) === null) return;
  await mkdir(dirname(copy), { recursive: true });
  await copyFile(path, copy);
}

async function moveIn(staged: string, path: string, copy: string, undo: (() => Promise<void>)[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await rename(staged, path);
  undo.push(async () => ((await readText(copy)) === null ? rm(path) : rename(copy, path)));
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

/** The text of a file, or null when there is none. */
async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
