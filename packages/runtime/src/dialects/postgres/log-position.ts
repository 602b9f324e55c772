/** Positions in the log of changes: `16/B374D848`, two hexadecimal numbers. */

/** How far a server has come: what a standby has replayed, or what was written. */
export const replayedSql = `SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn()
  ELSE pg_catalog.pg_current_wal_lsn() END::pg_catalog.text`;

/** True if a server at a position has come to another one. */
export function hasReachedLsn(position: string, other: string): boolean {
  return numberOf(position) >= numberOf(other);
}

function numberOf(position: string): bigint {
  const [high = '0', low = '0'] = position.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}
