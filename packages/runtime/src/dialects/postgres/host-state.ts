import type { AskHost } from '../../database/host-state.ts';

/** Milliseconds that a standby lags; null on a primary, and where nothing was replayed yet. */
export const lagSql = `CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN NULL
    WHEN pg_catalog.pg_last_wal_receive_lsn() = pg_catalog.pg_last_wal_replay_lsn() THEN '0'
    ELSE pg_catalog.round(1000 * EXTRACT(EPOCH FROM pg_catalog.clock_timestamp()
      - pg_catalog.pg_last_xact_replay_timestamp())::pg_catalog.numeric)::pg_catalog.text END`;

/** Our sessions only read, so that their current setting is meaningless; the value that they began with counts. */
const postgresSql = `SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN 'standby' ELSE s.reset_val END,
  ${lagSql}
FROM pg_catalog.pg_settings AS s WHERE s.name = 'default_transaction_read_only'`;

export const askPostgres: AskHost = async (database) => {
  const [[kind, lag] = []] = await database.query(postgresSql, []);
  if (kind === 'on') return { state: 'read-only', bySetting: true };
  if (kind !== 'standby') return { state: 'primary' };
  return lag == null ? { state: 'read-only' } : { state: 'read-only', lag: Math.max(0, Number(lag)) };
};

/** Position of a server: that which a standby has replayed, or that of the last write. */
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
