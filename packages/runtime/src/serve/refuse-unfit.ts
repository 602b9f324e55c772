/** A server does not start on a database that does not fit: tables of a later version, or roles that callers lack. */
import type { Database } from '../database/database.ts';
import { RowSecurityError } from '../database/errors.ts';
import { serverOf } from '../dialects/index.ts';
import { PlatformError } from '../errors.ts';
import type { CompiledApi } from '../language/index.ts';
import { refuseNewerTables } from '../migrations/migrate.ts';
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

/** Looks at the tables of the API; one line of the log for each that hides rows. */
export async function warnOfPolicies(
  { dialect, fingerprint, rowSecurity }: Pick<CompiledApi, 'dialect' | 'fingerprint' | 'rowSecurity'>,
  database: Pick<Database, 'query'>,
  log: Pick<Log, 'warn'>,
): Promise<void> {
  const secured = fingerprint.objects.filter(({ rowSecurity }) => rowSecurity);
  if (secured.length === 0 || rowSecurity !== undefined) return;
  const tables =
    (await serverOf(dialect)
      .readTableSecurity?.(database, secured)
      .catch(() => [])) ?? [];
  for (const { table, role, policies } of tables.filter(({ isBound }) => isBound)) {
    const message =
      policies.length === 0
        ? `The database role sees no rows of ${table}: no policy for reading is for it. Lists of it are empty.`
        : `The database role sees only rows of ${table} that its policies let through.`;
    log.warn({ table, role, policies }, `${message} Set \`database.rowSecurity\` to pass callers on.`);
  }
}
