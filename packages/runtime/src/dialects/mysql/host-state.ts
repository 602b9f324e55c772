import type { Database } from '../../database/database.ts';
import { type HostFacts, type HostReport, type HostState, hasSqlstate } from '../../database/host-state.ts';

/** Statements that can be asked of a node of a cluster that refuses to read tables. */
const variablesSql = `SHOW GLOBAL VARIABLES WHERE Variable_name IN
('read_only', 'super_read_only', 'innodb_read_only', 'wsrep_on', 'group_replication_group_name', 'server_uuid')`;
const clusterSql =
  "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_status', 'wsrep_local_state')";
/** Both need the right to read these tables of MySQL; without it the variables alone tell the state, and no lag is known. */
const groupSql = 'SELECT MEMBER_ID, MEMBER_STATE, MEMBER_ROLE FROM performance_schema.replication_group_members';
const lagSql = `SELECT CASE WHEN COUNT(NULLIF(c.RECEIVED_TRANSACTION_SET, '')) = 0 THEN NULL
  WHEN MIN(GTID_SUBSET(c.RECEIVED_TRANSACTION_SET, @@GLOBAL.gtid_executed)) THEN '0'
  ELSE (SELECT CAST(TIMESTAMPDIFF(MICROSECOND, MAX(w.LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP), NOW(6)) DIV 1000 AS CHAR)
    FROM performance_schema.replication_applier_status_by_worker w) END
FROM performance_schema.replication_connection_status c`;

/** Names with values, or one part of each member of a group. */
type KnownStates = ReadonlyMap<string | null | undefined, string | null | undefined>;

/** Asks a MySQL or MariaDB server for its state. */
export async function askMysql(database: Pick<Database, 'query'>): Promise<HostReport> {
  const askNamed = async (sql: string): Promise<KnownStates> =>
    new Map((await database.query(sql, [])).map(([name, value]) => [name, value]));
  const variables = await askNamed(variablesSql);
  if (variables.get('wsrep_on') === 'ON') {
    const state = stateOfNode(await askNamed(clusterSql));
    if (state !== 'primary') return { state };
  }
  if (variables.get('group_replication_group_name')) {
    const members = await allowed(database.query(groupSql, []));
    const state = members === null ? 'primary' : stateOfMember(members, variables.get('server_uuid'));
    if (state !== 'primary') return state === 'read-only' ? readOnly(database) : { state };
  }
  const isReadOnly = ['read_only', 'super_read_only', 'innodb_read_only'].some((name) => variables.get(name) === 'ON');
  return isReadOnly ? readOnly(database) : { state: 'primary' };
}

/** A replica that reports its lag. MariaDB has no table of that. */
async function readOnly(database: Pick<Database, 'query'>): Promise<HostReport> {
  const [[lag] = []] = (await database.query(lagSql, []).catch(() => null)) ?? [];
  return lag == null ? { state: 'read-only' } : { state: 'read-only', lag: Math.max(0, Number(lag)) };
}

/** Result of a query, or null if the role of the server has no permission for it. */
async function allowed<T>(requested: Promise<T>): Promise<T | null> {
  try {
    return await requested;
  } catch (error) {
    if (hasSqlstate(error, '42501')) return null;
    throw error;
  }
}

/** The state of a member of a group, as it sees the others. One that has not joined must take nothing that they lack. */
function stateOfMember(members: readonly (readonly (string | null)[])[], id: string | null | undefined): HostState {
  const [, state, role] = members.find(([member]) => member === id) ?? [];
  if (state === 'RECOVERING' || state === 'OFFLINE') return 'joining';
  const lost = members.filter(([, other]) => other === 'UNREACHABLE').length;
  if (state === 'ERROR' || (lost > 0 && lost * 2 >= members.length)) return 'no-quorum';
  return state === 'ONLINE' && role === 'SECONDARY' ? 'read-only' : 'primary';
}

/** The local states are 1 joining, 2 donor, 3 joined, 4 synced. */
function stateOfNode(status: KnownStates): HostState {
  if (status.get('wsrep_cluster_status') !== 'Primary') return 'no-quorum';
  return status.get('wsrep_ready') === 'ON' && status.get('wsrep_local_state') === '4' ? 'primary' : 'joining';
}

/** Transactions that a server has executed: a row of name and value, as each of the servers calls it. It looks through all names, which takes long. */
export const executedSql = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('gtid_executed', 'gtid_current_pos')";

/**
 * Transactions that a Galera node has, in the form of MySQL: its nodes count them together. Each look at the status takes the
 * server half a millisecond, so that one finds both values.
 */
const nodeSql = `SELECT GROUP_CONCAT(VARIABLE_VALUE ORDER BY VARIABLE_NAME SEPARATOR ':1-')
FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ('WSREP_CLUSTER_STATE_UUID', 'WSREP_LAST_COMMITTED')`;

const parametersSql = 'FROM (SELECT ? AS position, CAST(? AS DECIMAL(9, 3)) AS seconds) p';

/** The same for a node: after a COMMIT there, and once it has all that was written before on any of them. */
export const nodePosition = {
  written: nodeSql,
  reached: `SET STATEMENT wsrep_sync_wait = 1 FOR ${nodeSql}`,
  awaited: `SET STATEMENT wsrep_sync_wait = 1 FOR SELECT CASE WHEN p.seconds > 0 THEN p.position END ${parametersSql}`,
} as const;

const awaitedSql = `SELECT CASE WAIT_FOR_EXECUTED_GTID_SET(p.position, p.seconds) WHEN 0 THEN p.position END ${parametersSql}`;

/** The same of a server whose names are known. */
export function positionSqlOf(names: ReadonlyMap<unknown, unknown>): HostFacts['positionSql'] {
  const name = ['gtid_executed', 'gtid_current_pos'].find((variable) => names.has(variable));
  if (name === undefined) return undefined;
  const sql = `SELECT @@GLOBAL.${name}`;
  return {
    written: sql,
    reached: sql,
    ...(name === 'gtid_executed' && { awaited: awaitedSql }),
  };
}

/** True if all transactions of a set are in another one. */
export function hasReachedGtids(position: string, other: string): boolean {
  const executed = rangesOf(position);
  for (const [source, ranges] of rangesOf(other)) {
    const intervals = executed.get(source) ?? [];
    if (!ranges.every(([from, to]) => intervals.some(([first, last]) => first <= from && to <= last))) return false;
  }
  return true;
}

type Range = readonly [number, number];

function rangesOf(set: string): ReadonlyMap<string, readonly Range[]> {
  return new Map(set.split(',').flatMap((part) => rangeOf(part.trim())));
}

function rangeOf(part: string): readonly (readonly [string, readonly Range[]])[] {
  const [, domain, number] = /^(\d+)-\d+-(\d+)$/.exec(part) ?? [];
  if (domain !== undefined) return [[domain, [[1, Number(number)]]]];
  const [source = '', ...intervals] = part.split(':');
  if (intervals.length === 0) return [];
  return [
    [source, intervals.map((interval) => interval.split('-').map(Number)).map(([from = 0, to = from]) => [from, to])],
  ];
}
