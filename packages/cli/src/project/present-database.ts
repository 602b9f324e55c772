import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';
import { databaseUrl, embeddedFolder, type Settings } from './settings.ts';

/** True if there is a database to ask: one that an address names, or an embedded one that was made before. */
export function hasDatabase(project: Pick<Settings, 'config' | 'databaseUrl' | 'stateFolder'>): boolean {
  return databaseUrl(project) !== null || existsSync(join(embeddedFolder(project), 'PG_VERSION'));
}

/** Rejects where an embedded database would have to be made first, which a command that only asks must not do. */
export function refuseNewDatabase(project: Settings, hint = 'Set DATABASE_URL.'): void {
  if (hasDatabase(project)) return;
  throw new CommandError(
    exitCodes.database,
    'There is no database to ask: DATABASE_URL is not set, and no embedded one was made yet.',
    hint,
  );
}
