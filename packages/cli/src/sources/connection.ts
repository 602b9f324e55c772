import { unusableDatabase } from '@tablewright/runtime/tools';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';

/** How a server reaches its database. */
export interface ConnectionFacts {
  /** True for an address of this machine. */
  readonly isLocal: boolean;
  /** `unchecked`: encrypted, for anyone who shows any certificate. */
  readonly encryption: 'none' | 'unchecked' | 'checked';
  /** Parameter of the address that encrypts, and checks the certificate. */
  readonly checking: string;
}

/** True for the name or address of this machine, and for the folder of a socket. */
export function isLocalHost(host: string): boolean {
  return host === '' || host.startsWith('/') || /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/.test(host);
}

/** A database that cannot be used, as a failure with the cure. `label` names it without credentials. */
export function unreachable(label: string, error: unknown): CommandError {
  const { message, hint } = unusableDatabase(label, error);
  return new CommandError(exitCodes.database, message, hint);
}
