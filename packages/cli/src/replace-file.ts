import { rename, rm, writeFile } from 'node:fs/promises';

/** Writes a file in one step: whoever reads it finds the text that was there or the whole new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const staged = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(staged, text);
    await rename(staged, path);
  } finally {
    await rm(staged, { force: true });
  }
}
