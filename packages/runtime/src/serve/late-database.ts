/**
 * A database that may not be there yet. A server starts without it, answers SERVICE_UNAVAILABLE, and serves as soon as
 * the database answers; only what waiting cannot cure (a wrong password, say) ends the start.
 */
import type { Database } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { describeCause, type Log } from '../http/log.ts';

/** A database and when it is there. */
export interface LateDatabase {
  readonly database: Database;
  /** Resolves once the first connection stands; never when `close` came first. */
  readonly opened: Promise<void>;
}

/** How a database is opened. */
export interface LateDatabaseOptions {
  readonly open: () => Promise<Database>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** The longest wait between two attempts, in milliseconds. */
const longestWait = 32_000;
const firstWait = 250;

/**
 * Tries to open a database at once; when it is only out of reach, keeps trying behind the returned one. Rejects with
 * what `open` says when another attempt would end the same way.
 */
export async function openLate({ open, log }: LateDatabaseOptions): Promise<LateDatabase> {
  try {
    return { database: await open(), opened: Promise.resolve() };
  } catch (error) {
    if (!isOutOfReach(error)) throw error;
    log.warn({ cause: describeCause(error) }, 'The database cannot be reached yet. Trying again.');
    return keepOpening(open, log);
  }
}

/** Tells whether an error is one that passes: nobody answers, or the server is still starting or full. */
export function isOutOfReach(thrown: unknown): boolean {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth += 1) {
    if ('code' in error && typeof error.code === 'string' && passingCodes.test(error.code)) return true;
    if (passingMessages.test(error.message)) return true;
    if (error instanceof AggregateError && error.errors.some(isOutOfReach)) return true;
  }
  return false;
}

/** Network errors of Node, and SQLSTATEs of a server that starts, stops or has no connection left. */
const passingCodes =
  /^(E(CONN\w+|TIMEDOUT|HOSTUNREACH|HOSTDOWN|NETUNREACH|PIPE|AI_AGAIN)|ENOTFOUND|57P0[123]|53300|08\w{3})$/;

/** What `pg` says without a code. */
const passingMessages = /^(timeout expired|Connection terminated)/;

function keepOpening(open: () => Promise<Database>, log: LateDatabaseOptions['log']): LateDatabase {
  let current: Database | null = null;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  const opened = new Promise<void>((resolve) => {
    async function attempt(wait: number): Promise<void> {
      try {
        const database = await open();
        if (closed) return await database.close(0);
        current = database;
        log.info({}, 'The database is there.');
        resolve();
      } catch (error) {
        if (closed) return;
        log.warn({ cause: describeCause(error) }, 'The database still cannot be reached.');
        again(Math.min(wait * 2, longestWait));
      }
    }
    function again(wait: number): void {
      // Jitter keeps many servers from knocking at the same moment.
      timer = setTimeout(() => void attempt(wait), wait / 2 + Math.random() * (wait / 2));
    }
    again(firstWait);
  });

  function present(): Database {
    if (current === null) throw new PlatformError('SERVICE_UNAVAILABLE');
    return current;
  }

  const database: Database = {
    read: async (statement, parameters, sink) => present().read(statement, parameters, sink),
    stream: async (statement, parameters, sink, drained, signal) =>
      present().stream(statement, parameters, sink, drained, signal),
    query: async (text, parameters) => present().query(text, parameters),
    async close(graceMs) {
      closed = true;
      clearTimeout(timer);
      await current?.close(graceMs);
    },
  };
  return { database, opened };
}
