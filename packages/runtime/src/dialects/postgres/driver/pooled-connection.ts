import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError } from '../../../database/errors.ts';
import type { PlatformError } from '../../../errors.ts';
import type { PoolLoad } from '../../../operate/metrics/pool-metrics.ts';
import type { Channel } from '../protocol/request.ts';
import type { PostgresConnection } from './connect.ts';
import type { PostgresSettings } from './options.ts';

/** One open connection of the pool, with the pool's facts about it. */
export interface PooledConnection extends PostgresConnection {
  /** Shared connections are there all the time; the others are opened when needed and closed when idle. */
  readonly shared: boolean;
  /** True while one request has it for itself. */
  leased: boolean;
  /** True while that is a stream. */
  streams: boolean;
  /** True when it takes no more requests and is closed as soon as the answer under way is complete. */
  retired: boolean;
  /** True when the server was asked to end its statement. */
  ending: boolean;
  /** The request that was being answered at the last look, and since when. */
  head: object | undefined;
  headSince: number;
  /** True when that request took so long already that no other should be queued after it. */
  slow: boolean;
  idleSince: number;
  readonly openedAt: number;
}

export function newMember(opened: PostgresConnection, shared: boolean, now: number): PooledConnection {
  return {
    ...opened,
    shared,
    leased: false,
    streams: false,
    retired: false,
    ending: false,
    head: undefined,
    headSince: now,
    slow: false,
    idleSince: now,
    openedAt: now,
  };
}

/** Milliseconds in which the statements of a connection have to be cancelled, and between two attempts. */
const cancelMs = 2_000;
const pauseMs = 20;

/** Closes connections. Statements under way, and those that wait behind them, are cancelled first. */
export async function closeMembers(members: readonly PooledConnection[]): Promise<void> {
  const end = performance.now() + cancelMs;
  const closing = members.map(async ({ connection, cancel }) => {
    while (connection.inFlight > 0 && performance.now() < end) {
      await cancel();
      await sleep(pauseMs);
    }
    connection.end();
  });
  await Promise.all(closing);
}

/** Time that a connection counts as new when its server refuses to write, in milliseconds. */
const freshMs = 1_000;

/** Closes the connections of writes that are idle, and not made just now. */
export function dropForWrites(members: readonly PooledConnection[]): void {
  const before = performance.now() - freshMs;
  for (const { connection, shared, openedAt } of [...members]) {
    if (shared || openedAt > before || connection.isClosed) continue;
    if (connection.inFlight === 0) connection.fail(new ConnectionError('The server takes no writes.'));
  }
}

/** Closes all connections: a former server must take nothing more. Streams that it answers may end, unless it is gone. */
export function dropAll(members: readonly PooledConnection[], isGone: boolean): void {
  for (const member of [...members]) {
    if (member.streams && member.leased && !isGone) member.retired = true;
    else member.connection.fail(new ConnectionError('Another server is asked from now on.'));
  }
}

/** Milliseconds for which the member has been answering the same request. */
export function headAge(member: PooledConnection, now: number): number {
  const { head } = member.connection;
  if (head !== member.head || head === undefined) {
    member.head = head;
    member.headSince = now;
    if (head !== undefined) member.idleSince = now;
  }
  return now - member.headSince;
}

/** Facts that decide where a read may go. */
interface ReadPlace {
  /** Reads that may be queued after each other. */
  readonly depth: number;
  /** True when only a shared connection will do: a request waits for one of the others. */
  readonly sharedOnly: boolean;
  /** True for a read that is too quick to keep others waiting. */
  readonly brief: boolean;
  /** True for a read that may be slow: it goes to a connection that does nothing else. */
  readonly apart: boolean;
  /** Connections, apart from the shared ones, that reads and streams may have together. */
  readonly lent: number;
}

/** Finds the connection of a read: the least busy, shared ones first; a brief read goes where others are gathered. */
export function pickForRead(
  members: readonly PooledConnection[],
  constraints: ReadPlace,
): PooledConnection | undefined {
  if (constraints.apart) {
    const isAble = !constraints.sharedOnly && lentOf(members) < constraints.lent;
    return isAble ? pickForLease(members, false) : undefined;
  }
  const best = bestForRead(members, constraints);
  const isNew = best !== undefined && !best.shared && best.connection.inFlight === 0;
  if (!isNew || lentOf(members) < constraints.lent) return best;
  // The remaining connections are for transactions: the read goes to a connection that reads have already.
  const had = members.filter(({ shared, connection }) => shared || connection.inFlight > 0);
  return bestForRead(had, constraints);
}

function bestForRead(
  members: readonly PooledConnection[],
  { depth, sharedOnly, brief }: ReadPlace,
): PooledConnection | undefined {
  let best: PooledConnection | undefined;
  for (const member of members) {
    if (member.leased || member.retired || (sharedOnly && !member.shared) || member.connection.ends) continue;
    if (member.connection.inFlight >= depth || (member.slow && member.head === member.connection.head)) continue;
    if (brief && member.connection.gathers) return member;
    if (best === undefined || isBetter(member, best)) best = member;
  }
  return best;
}

/** Connections, apart from the shared ones, that streams have, and reads that are under way. */
export function lentOf(members: readonly PooledConnection[]): number {
  const isLent = ({ shared, leased, streams, connection }: PooledConnection): boolean =>
    !shared && (leased ? streams : connection.inFlight > 0 && !connection.ends);
  return members.filter(isLent).length;
}

function isBetter(member: PooledConnection, than: PooledConnection): boolean {
  if (member.shared !== than.shared) return member.shared;
  return member.connection.inFlight < than.connection.inFlight;
}

/** Finds a connection for one request alone; `behind` prefers one that ends a transaction to an idle one. */
export function pickForLease(members: readonly PooledConnection[], behind: boolean): PooledConnection | undefined {
  const ending = behind ? members.find((member) => isFree(member) && member.connection.ends) : undefined;
  return ending ?? members.find((member) => isFree(member) && member.connection.inFlight === 0);
}

function isFree(member: PooledConnection): boolean {
  return !member.shared && !member.leased && !member.retired;
}

interface Used extends Pick<PoolLoad, 'used' | 'idle'> {
  readonly underWay: number;
  /** Least time of a round trip of the connections when they were made; 0 where there are none. */
  readonly roundTripMs: number;
}

/** Counts the connections that do something, and the others. */
export function countUsed(members: readonly PooledConnection[]): Used {
  const used = members.filter(({ connection, leased }) => leased || connection.inFlight > 0).length;
  const underWay = members.reduce((sum, { connection }) => sum + connection.inFlight, 0);
  const least = Math.min(...members.map(({ roundTripMs }) => roundTripMs));
  return { used, idle: members.length - used, underWay, roundTripMs: Number.isFinite(least) ? least : 0 };
}

/**
 * True if a slow statement has lost its client. Also true if one of callers without a token has run for as long as it
 * may; the server watches the others.
 */
export function isOverdue(
  { request, pendingQuery }: NonNullable<Channel['head']>,
  isSlow: boolean,
  age: number,
  { publicStatementTimeoutMs: maxAge }: Pick<PostgresSettings, 'publicStatementTimeoutMs'>,
): boolean {
  if (isSlow && pendingQuery?.isGone === true) return true;
  return request.isPublic === true && maxAge > 0 && age > maxAge;
}

/** Kind of connection to open next, if any: true for a shared one. While the server is silent, one at a time. */
export function missingKind(
  members: readonly PooledConnection[],
  opening: { readonly shared: number; readonly other: number },
  waiting: number,
  isFailing: boolean,
  { poolMax, readConnections }: Pick<PostgresSettings, 'poolMax' | 'readConnections'>,
): boolean | undefined {
  const underWay = opening.shared + opening.other;
  if (members.length + underWay >= poolMax || (isFailing && underWay > 0)) return undefined;
  const shared = members.filter((member) => member.shared && !member.retired).length + opening.shared;
  if (shared < readConnections) return true;
  return opening.other < waiting ? false : undefined;
}

/** Connections that are not shared are closed after this time without use. */
const idleMs = 10_000;

/** Ends a connection that runs nothing and was replaced, or is not shared and had no use for long. */
export function endUnused({ retired, shared, idleSince, connection }: PooledConnection, now: number): void {
  if (retired || (!shared && now - idleSince > idleMs)) connection.end();
}

/** A request for a connection of its own that waits for one. */
export interface Waiting {
  readonly deadline: number;
  readonly leaseFor: LeaseFor;
  readonly take: (member: PooledConnection) => void;
  readonly refuse: (error: PlatformError) => void;
}

/** Purpose of a lease: a transaction can be queued after the end of another one. */
export type LeaseFor = 'stream' | 'transaction';
