import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Chunk } from '@tablewright/compiler/files';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';
import { isLinked, writeTextChunks } from './output-file.ts';

/** A text beside the file that it will be. */
export interface StagedText {
  /**
   * Puts it in the place of the file, in one step: readers find either the old text or the whole new one. The old file
   * keeps another name, because freeing it takes as long as writing it did.
   */
  place(): void;
  /** Leaves nothing beside the file. */
  close(): Promise<void>;
}

/** Writes a text in chunks beside a file. Rejects with the file system's error. */
export async function stageText(path: string, chunks: readonly Chunk[]): Promise<StagedText> {
  // Names of their own, because the removal of those of the last change is not awaited.
  const [staged, old] = [`${path}.${randomUUID()}.tmp`, `${path}.${randomUUID()}.tmp`];
  const close = async () => {
    await rm(staged, { force: true });
    await rm(old, { force: true });
  };
  try {
    await writeTextChunks(staged, chunks);
  } catch (error) {
    await close();
    throw error;
  }
  const publish = (): void => {
    isLinked(path, old);
    renameSync(staged, path);
  };
  return { place: publish, close };
}

/** Writes a file in one step: readers find either the old text or the whole new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const staged = await stageText(path, [text]);
  try {
    staged.place();
  } finally {
    await staged.close();
  }
}

/** Milliseconds after which a file that was not moved to its place is abandoned. */
const abandoned = 60 * 60 * 1000;

/** Removes it from a folder that is the platform's own, such as its cache. */
export function removeLeftovers(folder: string): Promise<void> {
  return removeOld(folder, (name) => name.endsWith('.tmp'));
}

/**
 * Removes it from beside a file or a folder, where other files lie, too: only names that begin with its name and a
 * random one.
 */
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
