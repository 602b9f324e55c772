/** The choice among several servers of one database, as drivers see it. */

/** Changes that drivers hear of. */
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
  /** Calls back at every change. */
  listen(changed: (change: HostChange) => void): void;
  /** A connection was lost or refused, or its server takes no writes. */
  lost(): void;
}

/** The only server that there is. */
export const onlyHost: Failover = { isSettled: true, isTimedOut: false, listen() {}, lost() {} };
