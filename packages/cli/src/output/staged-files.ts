/** Files on their way into a folder: written beside it, and moved when all of them are there. */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Chunk } from '@tablewright/compiler/files';
import { CommandError, exitCodes } from '../errors/failures.ts';
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
  readonly paths: readonly string[];
  /** Writes files beside the folder. Rejects with the file system's error. */
  stage(files: readonly Target[]): Promise<void>;
  /** Moves them into the folder, and takes `stale` out of it, in this thread. Throws and leaves it as it was. */
  moveIn(stale: readonly string[]): void;
  /** Removes the files beside the folder, in the background: freeing them takes as long as writing them did. */
  close(): Promise<void>;
}

/** Signals that end a process which does not hear them. */
const ending = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Paths that this process removes when it is stopped. */
const passing = new Set<string>();

function removePassing(signal: NodeJS.Signals): void {
  // A command that hears the signal itself ends what it does.
  if (process.listenerCount(signal) > 1) return;
  for (const path of passing) {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 });
    } catch {
      // Writing in other threads may still fill it; the next run removes it when it is old.
    }
  }
  process.off(signal, removePassing);
  process.kill(process.pid, signal);
}

/** Makes a random path beside another one, where Ctrl-C leaves nothing until it is removed by `close`. */
export function pathBeside(path: string) {
  const beside = `${path}.${randomUUID()}.tmp`;
  if (passing.size === 0) for (const signal of ending) process.on(signal, removePassing);
  passing.add(beside);
  return {
    path: beside,
    async close(): Promise<void> {
      await rm(beside, { recursive: true, force: true });
      if (passing.delete(beside) && passing.size === 0) for (const signal of ending) process.off(signal, removePassing);
    },
  };
}

/** Stages files for a folder, which need not exist. */
export function stageFiles(folder: string): StagedFiles {
  const { path: staging, close } = pathBeside(folder);
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
    close,
  };
}

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
  // Another command may have removed it.
  if (!existsSync(path)) return;
  renameSync(path, aside);
  undo.push(() => renameSync(aside, path));
}

export interface StagedText {
  /** Puts it in the place of the file in one step. The old file keeps another name: freeing it takes long. */
  place(): void;
  /** Leaves nothing beside the file. */
  close(): Promise<void>;
}

/** Writes a text in chunks beside a file. Rejects with the file system's error. */
export async function stageText(path: string, chunks: readonly Chunk[]): Promise<StagedText> {
  // Names of their own, because the removal of those of the last change is not awaited.
  const [staged, old] = [pathBeside(path), pathBeside(path)];
  const close = async () => {
    await staged.close();
    await old.close();
  };
  try {
    await writeTextChunks(staged.path, chunks);
  } catch (error) {
    await close();
    throw error;
  }
  const publish = (): void => {
    isLinked(path, old.path);
    renameSync(staged.path, path);
  };
  return { place: publish, close };
}

/**
 * Writes a file in one step: readers find either the old text or the whole new one. It keeps its mode and owner. One that
 * cannot be replaced, as it is mounted by itself or its folder is closed, is written in place.
 */
export function replaceFile(name: string, text: string): void {
  const path = existsSync(name) ? realpathSync(name) : name;
  const staged = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(staged, text);
    if (existsSync(path)) {
      const { mode, uid, gid } = statSync(path);
      chmodSync(staged, mode);
      if (process.getuid?.() === 0) chownSync(staged, uid, gid);
    }
    renameSync(staged, path);
  } catch (error) {
    rmSync(staged, { force: true });
    if (!(error instanceof Error && 'code' in error && /^(?:EBUSY|EACCES|EPERM)$/.test(String(error.code))))
      throw error;
    writeFileSync(path, text);
  }
}

/** Milliseconds after which a file that was not moved to its place is abandoned. */
const abandoned = 60 * 60 * 1000;

/** Removes it from a folder that is the platform's own, such as its cache. */
export function removeLeftovers(folder: string): Promise<void> {
  return removeOld(folder, (name) => name.endsWith('.tmp'));
}

/** Removes leftovers from beside a file or a folder: only names that begin with its name and a random one. */
export function removeLeftoversBeside(path: string): Promise<void> {
  const prefix = `${basename(path)}.`;
  return removeOld(
    dirname(path),
    (name) => name.startsWith(prefix) && /^[0-9a-f-]{36}\.tmp$/.test(name.slice(prefix.length)),
  );
}

async function removeOld(folder: string, isLeft: (name: string) => boolean): Promise<void> {
  const names = (await readdir(folder).catch((): string[] => [])).filter(isLeft);
  await Promise.all(names.map((name) => removeAbandoned(join(folder, name)).catch(() => undefined)));
}

async function removeAbandoned(path: string): Promise<void> {
  const { mtimeMs } = await stat(path);
  if (Date.now() - mtimeMs > abandoned) await rm(path, { recursive: true, force: true });
}

/** Writes the file that an option names. Rejects with the reason where it cannot be written. */
export async function writeOutput(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(exitCodes.usage, `The file of --output cannot be written: ${reason}.`);
  }
}

/** Waits for both, also if one fails, so that nothing runs on after the error. */
export async function bothOf<One, Other>(first: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([first, other]);
  return Promise.all([first, other]);
}
