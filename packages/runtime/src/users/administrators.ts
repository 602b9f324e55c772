/** Who is an administrator, as the tables say it at this moment of a transaction. Source: API specification, section 3.2. */
import { PlatformError } from '../errors.ts';
import { allRows, firstRow } from '../write/own-rows.ts';
import type { Running } from '../write/step.ts';

/** Serialises requests that take an administrator away: each of two could believe that the other one stays. */
const lastAdministrator = 'platform.last-administrator';

/**
 * Makes sure that somebody is left who administers. Call it when an administrator was taken away. Throws
 * UNPROCESSABLE_ENTITY.
 */
export async function keepAdministrator(running: Running, schema: string): Promise<void> {
  await allRows(
    running.transaction,
    'SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1::pg_catalog.text, 0))::pg_catalog.text',
    [lastAdministrator],
  );
  // A statement of its own: it sees what the one before has waited for.
  const row = await firstRow(
    running.transaction,
    `SELECT pg_catalog.count(*)::pg_catalog.text FROM ${schema}.platform_users u
JOIN ${schema}.platform_roles r ON r.id = u.role WHERE r.admin_access AND u.status = 'active'`,
    [],
  );
  if (row?.[0] === '0') {
    throw new PlatformError('UNPROCESSABLE_ENTITY', 'The last active administrator must stay one.');
  }
}
