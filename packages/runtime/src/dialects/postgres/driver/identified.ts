import pg from 'pg';

/** SQLSTATEs of a server that does not tell its identity: no such function, or no right to it. */
const untold = /^(?:42501|42883|42P01|0A000)$/;

/** Facts that a connection learns when it is made. */
export interface SessionFacts {
  /** Cluster and history that its server held; undefined where it does not tell. */
  readonly identity: string | undefined;
  readonly roundTripMs: number;
}

/** Sets a session up, and learns the identity of the server in the same round trip. Source: reliability notes, R10. */
export async function runIdentified(client: pg.Client, sql: string): Promise<SessionFacts> {
  let begun = performance.now();
  try {
    // First, so that nothing was run where it is refused.
    const results: unknown = await client.query({ text: `SELECT ${identitySql}; ${sql}`, rowMode: 'array' });
    const [first] = Array.isArray(results) ? results : [results];
    return { identity: String(first.rows[0][0]), roundTripMs: performance.now() - begun };
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || !untold.test(error.code ?? '')) throw error;
    begun = performance.now();
    await client.query(sql);
    return { identity: undefined, roundTripMs: performance.now() - begun };
  }
}

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
