import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The static token of the role `admin`, and whether the environment gave it. */
export interface AdminToken {
  readonly value: string;
  readonly source: 'environment' | 'file' | 'created';
}

/** ADMIN_TOKEN when set; else the token kept in the state folder, made on first use and readable by the owner only. */
export async function adminToken(stateFolder: string): Promise<AdminToken> {
  const given = process.env.ADMIN_TOKEN;
  if (given !== undefined && given !== '') return { value: given, source: 'environment' };
  const file = join(stateFolder, 'admin-token');
  const kept = await readFile(file, 'utf8').catch(() => '');
  if (kept.trim() !== '') return { value: kept.trim(), source: 'file' };
  const value = randomBytes(24).toString('base64url');
  await mkdir(stateFolder, { recursive: true });
  await writeFile(file, `${value}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
  return { value, source: 'created' };
}
