/**
 * Determines the state of a database server, and keeps writes from one that would take them against its own setting.
 */

import { PlatformError } from '../errors.ts';
import type { Database } from './database.ts';
import { type AskHost, type HostReport, readHostState } from './host-state.ts';

/** A watched server. */
export interface HostWatch {
  /** Answers writes with SERVICE_UNAVAILABLE while the latest state says that only a setting keeps the server from writing. */
  readonly database: Database;
  /** Reads the state of the server. Never rejects. */
  state(): Promise<HostReport>;
}

/**
 * Watches a server. One that only reads by a setting (`bySetting`) takes a transaction that asks for writing all the same, and
 * every one of ours does. The state is asked for at the start, by health checks, and before each write that may be refused.
 */
export function watchHost(database: Database, askHost: AskHost, timeoutMs: number): HostWatch {
  /** Null until the server has been there once. */
  let refuses: boolean | null = null;

  async function state(): Promise<HostReport> {
    const report = await readHostState(database, askHost, timeoutMs);
    if (report.state !== 'away') refuses = report.bySetting === true;
    return report;
  }

  async function checked<T>(write: () => Promise<T>): Promise<T> {
    if ((await state()).bySetting !== true) return write();
    throw new PlatformError(
      'SERVICE_UNAVAILABLE',
      undefined,
      {},
      { cause: new Error('The server is set to only read.') },
    );
  }

  return {
    database: {
      ...database,
      transaction: (work) =>
        refuses === false ? database.transaction(work) : checked(() => database.transaction(work)),
      briefTransaction: (...brief) =>
        refuses === false ? database.briefTransaction(...brief) : checked(() => database.briefTransaction(...brief)),
    },
    state,
  };
}
