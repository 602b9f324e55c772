import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { FirstAdministrator } from '@tablewright/runtime';
import { keepSecret } from '@tablewright/runtime/tools';
import { ownVariable } from './own-variable.ts';
import type { Progress } from './progress.ts';

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

/** The first administrator as a command reports it. */
export interface ReportedAdministrator extends FirstAdministrator {
  /** File with the password that was made; null where it is shown, or none was made. */
  readonly passwordFile: string | null;
}

/**
 * Reports the first administrator. A password that no terminal shows is kept in a file of the state folder. So is one
 * that comes after the welcome, when the database was out of reach at the start.
 */
export async function reportAdministrator(
  made: FirstAdministrator,
  stateFolder: string,
  progress: Progress,
  isLate: boolean,
): Promise<ReportedAdministrator> {
  const isPrinted = progress.showsSecrets && !isLate;
  const reported = isPrinted ? { ...made, passwordFile: null } : await withPasswordKept(made, stateFolder);
  progress.event('administrator', { ...reported });
  if (isLate) progress.print(administratorLine(reported));
  return reported;
}

/** Address of the administrator, and where the password is. */
export function administratorLine({ email, madePassword, passwordFile }: ReportedAdministrator): string {
  if (passwordFile !== null) return `Administrator: ${email}, password: in ${passwordFile}`;
  const password = madePassword === null ? 'the one in ADMIN_PASSWORD' : `${madePassword} (shown this once)`;
  return `Administrator: ${email}, password: ${password}`;
}

async function withPasswordKept(made: FirstAdministrator, stateFolder: string): Promise<ReportedAdministrator> {
  if (made.madePassword === null) return { ...made, passwordFile: null };
  const file = join(stateFolder, 'admin-password');
  await keepSecret(file, made.madePassword);
  return { email: made.email, madePassword: null, passwordFile: relative(process.cwd(), file) };
}
