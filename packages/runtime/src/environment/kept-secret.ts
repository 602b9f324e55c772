import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * The secret in the file `secret` of a folder, made on first use and readable by its owner only. For servers whose
 * database lies in the same folder, so that the secret stays with the data that it protects.
 */
export async function keptSecret(folder: string): Promise<string> {
  const file = join(folder, 'secret');
  const kept = await readSecret(file);
  if (kept !== '') return kept;
  try {
    await keepSecret(file, randomBytes(32).toString('base64url'), 'wx');
  } catch (error) {
    // Another process was faster; its secret counts.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return readSecret(file);
}

/** Writes a secret into a file that its owner alone can read, and makes the folder for it. */
export async function keepSecret(file: string, secret: string, flag: 'w' | 'wx' = 'w'): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${secret}\n`, { mode: 0o600, flag });
  // The umask of the process may narrow the mode of a new file, but never widens it; this sets it regardless of the
  // umask.
  await chmod(file, 0o600);
}

async function readSecret(file: string): Promise<string> {
  return (await readFile(file, 'utf8').catch(() => '')).trim();
}
