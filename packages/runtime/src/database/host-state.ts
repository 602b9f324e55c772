/**
 * Whether a database server takes writes, only reads, or neither, as it says itself.
 * Source: scale-out notes, section 2, "State of a host".
 */
import type { Dialect } from '../contract/index.ts';
import type { Database } from './database.ts';
import { ServerError } from './errors.ts';

/** States of a server. `no-quorum`: a node of a cluster that has lost the others. */
export const hostStates = ['primary', 'read-only', 'joining', 'no-quorum', 'away'] as const;

/** One of `hostStates`. */
export type HostState = (typeof hostStates)[number];

/** A server as it was when it was asked. */
export interface HostReport {
  readonly state: HostState;
  /** Milliseconds by which a standby is behind; absent where that is not known. */
  readonly lag?: number;
}

/** Asks a server. Never rejects: one that does not answer within `timeoutMs` is away. */
export async function readHostState(
  database: Pick<Database, 'query'>,
  dialect: Dialect,
  timeoutMs: number,
): Promise<HostReport> {
  const asked = (dialect === 'postgres' ? askPostgres(database) : askMysql(database)).catch(
    (error: unknown): HostReport => ({ state: stateOfError(error) }),
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<HostReport>((resolve) => {
    timer = setTimeout(() => resolve({ state: 'away' }), timeoutMs);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Sessions of ours only read, so that their own setting says nothing: what they began with does. */
const postgresSql = `SELECT (pg_catalog.pg_is_in_recovery() OR s.reset_val = 'on')::pg_catalog.text,
  CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN NULL
    WHEN pg_catalog.pg_last_wal_receive_lsn() = pg_catalog.pg_last_wal_replay_lsn() THEN '0'
    ELSE pg_catalog.round(1000 * EXTRACT(EPOCH FROM pg_catalog.clock_timestamp()
      - pg_catalog.pg_last_xact_replay_timestamp())::pg_catalog.numeric)::pg_catalog.text END
FROM pg_catalog.pg_settings AS s WHERE s.name = 'default_transaction_read_only'`;

async function askPostgres(database: Pick<Database, 'query'>): Promise<HostReport> {
  const [[readOnly, lag] = []] = await database.query(postgresSql, []);
  const state = readOnly === 'true' ? 'read-only' : 'primary';
  return lag == null ? { state } : { state, lag: Math.max(0, Number(lag)) };
}

/** These two can be asked of a node of a cluster that refuses to read tables. */
const variablesSql = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'super_read_only', 'wsrep_on')";
const clusterSql =
  "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_status', 'wsrep_local_state')";

async function askMysql(database: Pick<Database, 'query'>): Promise<HostReport> {
  const variables = new Map((await database.query(variablesSql, [])).map(([name, value]) => [name, value]));
  if (variables.get('wsrep_on') === 'ON') {
    const state = stateOfNode(new Map((await database.query(clusterSql, [])).map(([name, value]) => [name, value])));
    if (state !== 'primary') return { state };
  }
  const isReadOnly = variables.get('read_only') === 'ON' || variables.get('super_read_only') === 'ON';
  return { state: isReadOnly ? 'read-only' : 'primary' };
}

/** The local states are 1 joining, 2 donor, 3 joined, 4 synced. */
function stateOfNode(status: ReadonlyMap<string | null | undefined, string | null | undefined>): HostState {
  if (status.get('wsrep_cluster_status') !== 'Primary') return 'no-quorum';
  return status.get('wsrep_ready') === 'ON' && status.get('wsrep_local_state') === '4' ? 'primary' : 'joining';
}

/** PostgreSQL that starts or stops says so (57P03); so does a node of a cluster without the others, of any table. */
function stateOfError(thrown: unknown): HostState {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth += 1) {
    if (error instanceof ServerError && error.sqlstate === '57P03') return 'joining';
    if ('code' in error && error.code === '57P03') return 'joining';
  }
  return 'away';
}
