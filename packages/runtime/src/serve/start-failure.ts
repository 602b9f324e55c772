/** Why a server does not start, in words for people and as an exit code: for the command and for generated servers. */
import { ContractError } from '../contract-error.ts';
import { EmbeddedInUseError } from '../dialects/postgres/embedded-lock.ts';
import { databaseLabel, unusableDatabase } from '../dialects/unusable.ts';
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

const otherHost = 'Set HOST to an address of this machine, such as HOST=127.0.0.1.';

/** Cures by the code of Node for an address that cannot be listened on. */
const addressHints: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'Only root may listen on it: choose a port above 1023 with PORT=8055.'],
  ['EADDRNOTAVAIL', otherHost],
  ['ENOTFOUND', otherHost],
  ['EAI_AGAIN', otherHost],
]);

/** Explains why a server did not start; null for a bug. `url` is that of its database, null for an embedded one. */
export function startFailure(error: unknown, url: string | null): StartFailure | null {
  if (error instanceof EnvironmentError || error instanceof TemplateError || error instanceof ContractError) {
    return { exitCode: 4, message: error.message, hint: null };
  }
  if (error instanceof MigrationError) return { exitCode: 1, message: error.message, hint: error.hint };
  if (error instanceof EmbeddedInUseError) return { exitCode: 3, message: error.message, hint: error.hint };
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'EADDRINUSE') {
    return { exitCode: 4, message: 'The port is in use.', hint: 'Choose another one with PORT=8056.' };
  }
  if (typeof code === 'string' && addressHints.has(code)) {
    return { exitCode: 4, message: `The address cannot be used (${code}).`, hint: addressHints.get(code) ?? null };
  }
  if (code !== 'SERVICE_UNAVAILABLE') return null;
  if (url !== null) return { exitCode: 3, ...unusableDatabase(databaseLabel(url), error) };
  // An embedded database has no address that could be wrong.
  return { exitCode: 3, message: unusableDatabase('the embedded database', error).message, hint: null };
}
