/** Administrators, as the tables have them at this moment of a transaction. Source: API specification, section 3.2. */

import { allRows, firstRow } from '../database/own-statements/own-rows.ts';
import type { OwnSql } from '../database/own-statements/script.ts';
import { ownTables } from '../dialects/index.ts';
import { PlatformError } from '../errors.ts';
import type { SystemPlace } from '../system/place.ts';
import type { Running } from '../write/execute/running.ts';

/** Serialises requests that take an administrator away: each of two could believe that the other one stays. */
const lastAdministrator = 'platform.last-administrator';

/** Statements about administrators: a lock by a name, and the number of active ones. */
export interface Administrators {
  readonly lock: OwnSql;
  readonly administrators: OwnSql;
}

/** The statements for the location of the tables. */
export function administratorStatements(location: SystemPlace): Administrators {
  const { table, text, rows, turn } = ownTables(location);
  return {
    lock: turn(),
    administrators: rows(`SELECT ${text('COUNT(*)')} FROM ${table('platform_users')} AS u
JOIN ${table('platform_roles')} AS r ON r.id = u.role WHERE r.admin_access AND u.status = 'active'`),
  };
}

/**
 * Makes sure that an active administrator is left. Call it when an administrator was taken away. Throws
 * UNPROCESSABLE_ENTITY.
 */
export async function keepAdministrator(running: Running, { lock, administrators }: Administrators): Promise<void> {
  await allRows(running.transaction, lock, [lastAdministrator]);
  // A statement of its own: it sees the changes that the one before has waited for.
  const row = await firstRow(running.transaction, administrators, []);
  if (row?.[0] === '0') {
    throw new PlatformError('UNPROCESSABLE_ENTITY', 'The last active administrator must stay one.');
  }
}
