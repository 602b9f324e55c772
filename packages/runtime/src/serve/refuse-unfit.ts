/** A server does not start on a database that does not fit: tables of a later version, or roles that callers lack. */

import type { Database } from '../database/database.ts';
import { RowSecurityError } from '../database/errors.ts';
import { PlatformError } from '../errors.ts';
import type { CompiledApi } from '../language/index.ts';
import { refuseNewerTables } from '../migrations/newer-tables.ts';
import type { Log } from '../operate/log.ts';
import { examineRowSecurity } from '../row-security/examine.ts';

/** Rejects where it does not fit. Resolves to whether that is known: false while the database does not answer. */
export async function refuseUnfit(
  api: CompiledApi,
  database: Pick<Database, 'query'>,
  log: Pick<Log, 'warn'>,
  isEmbedded: boolean,
): Promise<boolean> {
  const isKnown = await refuseNewerTables(api, database, log);
  if (api.rowSecurity === undefined) return isKnown;
  const findings = await examineRowSecurity(api, database, isEmbedded).catch((error: unknown) => {
    if (error instanceof PlatformError && error.code === 'SERVICE_UNAVAILABLE') return null;
    throw error;
  });
  const refused = findings?.filter((finding) => finding.refused) ?? [];
  if (refused.length > 0) throw new RowSecurityError(refused);
  for (const { code, message, advice } of findings ?? []) log.warn({ code, advice }, message);
  return isKnown && findings !== null;
}
