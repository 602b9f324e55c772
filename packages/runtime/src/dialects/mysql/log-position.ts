/**
 * Positions in the log of changes: sets of transactions. On MySQL `uuid:1-5:8,uuid:1-3`; on MariaDB the last of each domain,
 * `0-1-345,1-1-12`.
 */

import type { HostFacts } from '../../database/hosts/host-probe.ts';

/** Transactions that a server has executed: a row of name and value, as each of the servers calls it. It looks through all names, which takes long. */
export const executedSql = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('gtid_executed', 'gtid_current_pos')";

/** Transactions that a Galera node has, in the form of MySQL: its nodes count them together. */
const nodeSql = `SELECT CONCAT(u.VARIABLE_VALUE, ':1-', n.VARIABLE_VALUE)
FROM information_schema.GLOBAL_STATUS u JOIN information_schema.GLOBAL_STATUS n
WHERE u.VARIABLE_NAME = 'WSREP_CLUSTER_STATE_UUID' AND n.VARIABLE_NAME = 'WSREP_LAST_COMMITTED'`;

/** The same for a node: after a COMMIT there, and once it has all that was written before on any of them. */
export const nodePosition = { written: nodeSql, reached: `SET STATEMENT wsrep_sync_wait = 1 FOR ${nodeSql}` } as const;

/** The same of a server whose names are known. */
export function positionSqlOf(names: ReadonlyMap<unknown, unknown>): HostFacts['positionSql'] {
  const name = ['gtid_executed', 'gtid_current_pos'].find((variable) => names.has(variable));
  if (name === undefined) return undefined;
  const sql = `SELECT @@GLOBAL.${name}`;
  return { written: sql, reached: sql };
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
