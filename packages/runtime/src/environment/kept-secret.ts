import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The secret in the file `secret` of a folder, made on first use and readable by its owner only. For servers whose
 * database lies in the same folder, so that the secret stays with the data that it protects.
 */
export async function keptSecret(folder: string): Promise<string> {
  const file = join(folder, 'secret');
  const kept = await readSecret(file);
  if (kept !== '') return kept;
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
    // The umask of the process may narrow the mode of a new file, but never widens it; this sets it regardless of the
    // umask.
    await chmod(file, 0o600);
  } catch (error) {
    // Another process was faster; its secret counts.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return readSecret(file);
}

async function readSecret(file: string): Promise<string> {
  return (await readFile(file, 'utf8').catch(() => '')).trim();
}
