import { CommandError, exitCodes } from './exit-codes.ts';
import type { Source } from './source.ts';

/** Throws where a database is of another family than the one that `what` (a whole beginning of a sentence) is there for. */
export function needsPostgres({ family, label }: Source, what: string): void {
  if (family === 'postgres') return;
  throw new CommandError(
    exitCodes.usage,
    `${what} PostgreSQL so far, which ${label} is not.`,
    'What works on MySQL and MariaDB is told in docs/databases.md.',
  );
}
