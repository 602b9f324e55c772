import { rename, rm } from 'node:fs/promises';
import type { Piece } from '@platform/compiler/files';
import { writePieces } from './output-file.ts';

/** A text beside the file that it will be. */
export interface StagedText {
  /** Puts it in the place of the file, in one step: whoever reads that finds the text that was there or the whole new one. */
  place(): Promise<void>;
  /** Leaves nothing beside the file. */
  close(): Promise<void>;
}

/** Writes a text in pieces beside a file. Rejects with the file system's error. */
export async function stageText(path: string, pieces: readonly Piece[]): Promise<StagedText> {
  const staged = `${path}.${process.pid}.tmp`;
  const close = () => rm(staged, { force: true });
  try {
    await writePieces(staged, pieces);
  } catch (error) {
    await close();
    throw error;
  }
  return { place: () => rename(staged, path), close };
}

/** Writes a file in one step: whoever reads it finds the text that was there or the whole new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const staged = await stageText(path, [text]);
  try {
    await staged.place();
  } finally {
    await staged.close();
  }
}
