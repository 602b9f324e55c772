import type { Channel } from './channel.ts';
import type { PostgresConnection } from './connect.ts';

/** One open connection of the pool, with what the pool knows about it. */
export interface Member {
  readonly connection: Channel;
  readonly cancel: () => Promise<void>;
  /** Shared connections are there all the time; the others are opened when needed and closed when idle. */
  readonly shared: boolean;
  /** True while one request has it for itself. */
  leased: boolean;
  /** True when it takes no more requests and is closed as soon as the answer under way is complete. */
  retired: boolean;
  /** The request that was being answered at the last look, and since when. */
  head: object | undefined;
  headSince: number;
  /** True when that request took so long already that nobody should stand behind it. */
  slow: boolean;
  idleSince: number;
}

/** Makes a member of a fresh connection. */
export function newMember({ connection, cancel }: PostgresConnection, shared: boolean, now: number): Member {
  return {
    connection,
    cancel,
    shared,
    leased: false,
    retired: false,
    head: undefined,
    headSince: now,
    slow: false,
    idleSince: now,
  };
}

/** Milliseconds for which the member has been answering the same request. */
export function headAge(member: Member, now: number): number {
  const { head } = member.connection;
  if (head !== member.head || head === undefined) {
    member.head = head;
    member.headSince = now;
    if (head !== undefined) member.idleSince = now;
  }
  return now - member.headSince;
}

/**
 * Finds the connection a read goes to: the least busy one that has room, shared ones before others; a brief read goes
 * where others are being gathered.
 */
export function pickForRead(
  members: readonly Member[],
  depth: number,
  sharedOnly: boolean,
  brief: boolean,
): Member | undefined {
  let best: Member | undefined;
  for (const member of members) {
    if (member.leased || member.retired || (sharedOnly && !member.shared) || member.connection.ends) continue;
    if (member.connection.inFlight >= depth || isSlow(member)) continue;
    if (brief && member.connection.gathers) return member;
    if (best === undefined || isBetter(member, best)) best = member;
  }
  return best;
}

function isSlow({ slow, head, connection }: Member): boolean {
  return slow && head === connection.head;
}

function isBetter(member: Member, than: Member): boolean {
  if (member.shared !== than.shared) return member.shared;
  return member.connection.inFlight < than.connection.inFlight;
}

/**
 * Finds a connection that one request can have for itself; with `behind` rather one that ends a transaction, whose process
 * is awake and reads the next statement by itself, than one that has to be woken.
 */
export function pickForLease(members: readonly Member[], behind: boolean): Member | undefined {
  const ending = behind ? members.find((member) => isFree(member) && member.connection.ends) : undefined;
  return ending ?? members.find((member) => isFree(member) && member.connection.inFlight === 0);
}

function isFree(member: Member): boolean {
  return !member.shared && !member.leased && !member.retired;
}
