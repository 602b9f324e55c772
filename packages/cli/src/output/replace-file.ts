import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Chunk } from '@tablewright/compiler/files';
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
