/** Warns of tables whose rows policies hide from the server, so that no list is empty without a reason. */
import type { Database } from '../database/database.ts';
import { serverOf } from '../dialects/index.ts';
import type { CompiledApi } from '../language/index.ts';
import type { Log } from '../operate/log.ts';

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
