/** Why a server does not start, in words for people and as an exit code: for the command and for generated servers. */
import { ContractError } from '../contract-error.ts';
import { EmbeddedInUseError } from '../dialects/postgres/embedded-lock.ts';
import { EnvironmentError } from '../environment/error.ts';
import { MigrationError } from '../system/errors.ts';
import { TemplateError } from '../template-files.ts';

/** A failure that is no bug. */
export interface StartFailure {
  /** Exit code of the process: 1 for tables that do not fit, 3 for the database, 4 for everything else. */
  readonly exitCode: 1 | 3 | 4;
  readonly message: string;
  readonly hint: string | null;
}

/** Explains why a server did not start; null for a bug. */
export function startFailure(error: unknown): StartFailure | null {
  if (error instanceof EnvironmentError || error instanceof TemplateError || error instanceof ContractError) {
    return { exitCode: 4, message: error.message, hint: null };
  }
  if (error instanceof MigrationError) return { exitCode: 1, message: error.message, hint: error.hint };
  if (error instanceof EmbeddedInUseError) return { exitCode: 3, message: error.message, hint: error.hint };
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'EADDRINUSE') {
    return { exitCode: 4, message: 'The port is in use.', hint: 'Choose another one with PORT=8056.' };
  }
  if (typeof code === 'string' && ['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code)) {
    return { exitCode: 4, message: `The address cannot be used (${code}).`, hint: 'Check HOST and PORT.' };
  }
  if (code !== 'SERVICE_UNAVAILABLE') return null;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : 'it does not answer';
  const message = `The database cannot be used: ${cause.replace(/\.$/, '')}.`;
  return { exitCode: 3, message, hint: 'Check DATABASE_URL.' };
}
