import { join, relative } from 'node:path';
import type { FirstAdministrator } from '@tablewright/runtime';
import { keepSecret } from '@tablewright/runtime/tools';
import type { Progress } from './progress.ts';

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
