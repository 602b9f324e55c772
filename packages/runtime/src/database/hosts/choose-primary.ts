/** Choice of the server that writes go to. */
import type { HostFacts } from '../host-state.ts';

/** The server that writes went to last. */
export interface KnownPrimary {
  readonly index: number;
  readonly system: string | undefined;
  readonly timeline: number | undefined;
  readonly instance: string | undefined;
  readonly database: string | undefined;
  /** False where it counts no positions that others could be compared with. */
  readonly hasPosition: boolean;
  readonly positionSql: HostFacts['positionSql'];
}

/** The choice, or why there is none. */
interface ChosenHost {
  readonly index: number | null;
  /** Sentence for the log, and the numbers of the servers that it is about, from 1. */
  readonly problem: HostProblem | null;
}

export interface HostProblem {
  readonly sentence: string;
  readonly hosts: readonly number[];
}

const foreign = 'A database server holds another cluster of data than the one that was written before. It is not used.';
const former =
  'A database server takes writes, but its history ended when another one was promoted. It is not used: make it a standby.';
const twoPrimaries =
  'Two database servers take writes, and none of them is known to be the right one. Nothing is written until one of them is stopped.';

/** Chooses among servers as they answered: the later history where two take writes, never another cluster's. */
export function choosePrimary(
  facts: readonly HostFacts[],
  formerPrimary: KnownPrimary | null,
  readOnly: boolean,
): ChosenHost {
  const able = facts.flatMap((host, index) => (host.state === 'primary' ? [{ ...host, index }] : []));
  const related = able.filter(({ system }) => formerPrimary?.system === undefined || system === formerPrimary.system);
  const newest = Math.max(formerPrimary?.timeline ?? 0, ...related.map(({ timeline = 0 }) => timeline));
  const latest = related.filter(({ timeline = newest }) => timeline === newest);
  const problem =
    problemOf(
      foreign,
      able.filter((host) => !related.includes(host)),
    ) ??
    problemOf(
      former,
      related.filter((host) => !latest.includes(host)),
    );
  const [first] = latest;
  if (first === undefined) return { index: readOnly ? firstReader(facts) : null, problem };
  const others = latest.filter(({ instance }) => instance === undefined || instance !== first.instance);
  const isOne = latest.length === 1 || (first.instance !== undefined && others.length === 0);
  const kept = latest.find(({ index }) => index === formerPrimary?.index) ?? first;
  if (isOne || latest.every(({ isMulti }) => isMulti === true)) return { index: kept.index, problem };
  return { index: null, problem: problemOf(twoPrimaries, latest) };
}

function problemOf(sentence: string, hosts: readonly { readonly index: number }[]): HostProblem | null {
  return hosts.length === 0 ? null : { sentence, hosts: hosts.map(({ index }) => index + 1) };
}

function firstReader(facts: readonly HostFacts[]): number | null {
  const index = facts.findIndex(({ state }) => state === 'read-only');
  return index < 0 ? null : index;
}

export type HostChange =
  /** No server is known that takes writes. */
  | 'lost'
  /** The same server as before takes writes again. */
  | 'found'
  /** Another server takes writes: connections to the former one are of no more use. */
  | 'moved'
  /** The server is away: requests wait for it in vain. */
  | 'gone';

/** Tells a driver which server it is for, and hears from it. */
export interface Failover {
  /** False while no server is known that takes writes. */
  readonly isSettled: boolean;
  /** True once none was found for as long as writes wait. */
  readonly isTimedOut: boolean;
  listen(changed: (change: HostChange) => void): void;
  /** A connection was lost or refused, or its server takes no writes. */
  lost(): void;
}

/** The only server that there is. */
export const onlyHost: Failover = { isSettled: true, isTimedOut: false, listen() {}, lost() {} };
