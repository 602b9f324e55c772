/** Files on their way into a folder: written beside it, and moved when all of them are there. */
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bothOf } from '../process/once.ts';
import { manifestFile } from './manifest.ts';
import {
  eachOf,
  haveSameChunks,
  isLinked,
  type OutputFile,
  wholeText,
  writeTextChunks,
  writeWhole,
} from './output-file.ts';

/** A file with its path as the system writes it. */
export interface Target {
  readonly path: string;
  readonly file: OutputFile;
}

/** A folder beside another one, made when the first file is staged. */
interface StagedFiles {
  /** Paths of the staged files. */
  readonly paths: readonly string[];
  /** Writes files beside the folder. Rejects with the file system's error. */
  stage(files: readonly Target[]): Promise<void>;
  /**
   * Moves them into the folder, and takes `stale` out of it. Throws the file system's error and leaves it as it was. In this
   * thread, as `writeWhole`: each step of the asynchronous form waits for its turn.
   */
  moveIn(stale: readonly string[]): void;
  /** Removes the files beside the folder, in the background: freeing them takes as long as writing them did. */
  close(): Promise<void>;
}

/** Stages files for a folder, which need not exist. */
export function stageFiles(folder: string): StagedFiles {
  const staging = `${folder}.${randomUUID()}.tmp`;
  const [fresh, old] = [join(staging, 'new'), join(staging, 'old')];
  const paths: string[] = [];
  const long: Target[] = [];
  const stageLong = async (files: readonly Target[]): Promise<void> => {
    const twins = new Map<Target, Target>();
    for (const target of files) {
      const twin = long.find(({ file }) => haveSameChunks(file, target.file));
      if (twin === undefined) long.push(target);
      else twins.set(target, twin);
    }
    const write = ({ path, file }: Target) => writeTextChunks(join(fresh, path), file.chunks ?? []);
    await eachOf(
      files.filter((target) => !twins.has(target)),
      write,
    );
    // A document with the same text as an earlier one, such as that of administrators, is a hard link to its file.
    for (const [target, twin] of twins)
      if (!isLinked(join(fresh, twin.path), join(fresh, target.path))) await write(target);
  };
  return {
    paths,
    async stage(files) {
      const more = files.map(({ path }) => path);
      makeFolders(fresh, more);
      const texts = files.map(({ file }) => wholeText(file));
      const writing = stageLong(files.filter((_, index) => texts[index] === null));
      const stageShort = async (): Promise<void> => {
        for (const [index, text] of texts.entries())
          if (text !== null) writeWhole(join(fresh, more[index] ?? ''), text);
      };
      await bothOf(writing, stageShort());
      paths.push(...more);
    },
    moveIn(stale) {
      if (paths.length === 0 && stale.length === 0) return;
      if (!existsSync(folder)) return renameSync(fresh, folder);
      makeFolders(old, [...paths, ...stale]);
      makeFolders(folder, paths);
      // Last, so that after an interruption it speaks of files that the next run finds unchanged.
      paths.sort((a, b) => Number(a === manifestFile) - Number(b === manifestFile));
      const kept = paths.map((path) => keepCopy(join(folder, path), join(old, path)));
      const undo: (() => void)[] = [];
      try {
        for (const [index, path] of paths.entries()) {
          moveFile(join(fresh, path), join(folder, path), kept[index] ?? null, undo);
        }
        for (const path of stale) moveOut(join(folder, path), join(old, path), undo);
      } catch (error) {
        for (const step of undo.reverse()) step();
        throw error;
      }
    },
    close: () => rm(staging, { recursive: true, force: true }),
  };
}

/** Makes the folders that files will lie in. */
function makeFolders(folder: string, paths: readonly string[]): void {
  const folders = new Set(paths.map((path) => dirname(join(folder, path))));
  for (const parent of folders) mkdirSync(parent, { recursive: true });
}

/**
 * Keeps a file under a second name, or as a copy where the file system has no second names. So the file itself is
 * replaced in one step, and a running server never misses it. Returns the copy; null when there is no file.
 */
function keepCopy(path: string, copy: string): string | null {
  if (!existsSync(path)) return null;
  if (!isLinked(path, copy)) copyFileSync(path, copy);
  return copy;
}

function moveFile(staged: string, path: string, copy: string | null, undo: (() => void)[]): void {
  renameSync(staged, path);
  undo.push(() => (copy === null ? rmSync(path) : renameSync(copy, path)));
}

function moveOut(path: string, aside: string, undo: (() => void)[]): void {
  renameSync(path, aside);
  undo.push(() => renameSync(aside, path));
}
