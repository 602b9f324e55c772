import { CommandError, exitCodes } from './exit-codes.ts';

/** Why a system gives or takes no file, where neither the platform nor what it was given is wrong. */
const refusals: ReadonlySet<unknown> = new Set([
  'EACCES',
  'EBUSY',
  'EDQUOT',
  'EEXIST',
  'EIO',
  'EISDIR',
  'ELOOP',
  'EMFILE',
  'ENAMETOOLONG',
  'ENFILE',
  'ENOSPC',
  'ENOTDIR',
  'ENOTEMPTY',
  'EPERM',
  'EROFS',
  'EXDEV',
]);

/** What the file system refuses, as a failure that says which file; any other error as it is. */
export function fileError(error: unknown): unknown {
  const isRefused = error instanceof Error && 'syscall' in error && 'code' in error && refusals.has(error.code);
  if (!isRefused) return error;
  return new CommandError(
    exitCodes.usage,
    `The file system refuses: ${error.message}.`,
    'See to the rights, the room and the kind of what is named there, and run the command again.',
  );
}
