import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keepSecret } from '@tablewright/runtime/tools';
import { ownVariable } from './own-variable.ts';

/** The static token of the role `admin`, and where it comes from. */
export type AdminToken =
  | { readonly value: string; readonly source: 'environment' | 'file' | 'created' }
  | { readonly value: null; readonly source: 'none' };

/**
 * ADMIN_TOKEN when set; else the token kept in the state folder, made on first use and readable by the owner only. With
 * NODE_ENV=production none is made, kept or taken from there.
 */
export async function adminToken(stateFolder: string): Promise<AdminToken> {
  const variable = ownVariable('ADMIN_TOKEN');
  if (variable !== null) return { value: variable, source: 'environment' };
  if (process.env.NODE_ENV === 'production') return { value: null, source: 'none' };
  const file = join(stateFolder, 'admin-token');
  const kept = await readFile(file, 'utf8').catch(() => '');
  if (kept.trim() !== '') return { value: kept.trim(), source: 'file' };
  const value = randomBytes(24).toString('base64url');
  await keepSecret(file, value);
  return { value, source: 'created' };
}
