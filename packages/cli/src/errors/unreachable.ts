import { unusableDatabase } from '@tablewright/runtime/tools';
import { CommandError, exitCodes } from './exit-codes.ts';

/** A database that cannot be used, as a failure with the cure. `label` names it without credentials. */
export function unreachable(label: string, error: unknown): CommandError {
  const { message, hint } = unusableDatabase(label, error);
  return new CommandError(exitCodes.database, message, hint);
}
