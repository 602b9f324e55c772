/** Which cluster of data a server holds, and which history of it: numbers of transactions mean something only there. */

const timeline = `CASE WHEN pg_catalog.pg_is_in_recovery() THEN ''
  ELSE pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8) END`;

/**
 * Expression of both: `7301…/00000002`; a standby has no history that it writes (`7301…/`). The control file alone would
 * tell the timeline of a promoted server late.
 */
export const identitySql = `(SELECT pg_catalog.concat(c.system_identifier, '/', ${timeline}) FROM pg_catalog.pg_control_system() AS c)`;

/** Parts of an identity; null for none. */
export function readIdentity(
  text: string | null | undefined,
): { readonly system: string; readonly timeline?: number } | null {
  const [, system, history = ''] = /^(\d+)\/([0-9A-F]*)$/.exec(text ?? '') ?? [];
  if (system === undefined) return null;
  return { system, ...(history !== '' && { timeline: Number.parseInt(history, 16) }) };
}
