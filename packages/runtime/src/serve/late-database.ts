/**
 * A database that may not be there yet. A server starts without it, answers SERVICE_UNAVAILABLE, and serves as soon as
 * the database answers. Only errors that waiting cannot cure (a wrong password, say) end the start.
 */
import type { Database } from '../database/database.ts';
import { PoolingError, ServerError } from '../database/errors.ts';
import { PlatformError } from '../errors.ts';
import { describeCause, type Log } from '../operate/log.ts';

/** A database that is opened once it is started. */
export interface LateDatabase {
  /** Answers SERVICE_UNAVAILABLE until the first connection stands. */
  readonly database: Database;
  /** Resolves once the first connection stands; never when `close` came first. */
  readonly opened: Promise<void>;
  /** Tries to open the database, and goes on in the background while it is out of reach. Rejects with other errors. */
  start(log: Pick<Log, 'info' | 'warn'>): Promise<void>;
}

/** The first and the longest wait between two attempts, in milliseconds. */
const firstWait = 250;
const longestWait = 32_000;

export function createLateDatabase(open: () => Promise<Database>): LateDatabase {
  const { promise: opened, resolve: resolveOpened } = Promise.withResolvers<void>();
  let current: Database | null = null;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  async function attempt(): Promise<void> {
    const database = await open();
    if (closed) return database.close(0);
    current = database;
    resolveOpened();
  }

  function attemptLater(log: Pick<Log, 'info' | 'warn'>, wait: number): void {
    if (closed) return;
    // Jitter keeps many servers from knocking at the same moment.
    const delay = wait / 2 + Math.random() * (wait / 2);
    timer = setTimeout(() => {
      attempt().then(
        () => log.info({}, 'The database is there.'),
        (error: unknown) => {
          log.warn({ cause: describeCause(error) }, 'The database still cannot be reached.');
          attemptLater(log, Math.min(wait * 2, longestWait));
        },
      );
    }, delay);
  }

  return {
    opened,
    async start(log) {
      try {
        await attempt();
      } catch (error) {
        if (!isOutOfReach(error)) throw error;
        log.warn({ cause: describeCause(error) }, 'The database cannot be reached yet. Trying again.');
        attemptLater(log, firstWait);
      }
    },
    database: {
      // Not async: every request comes this way, and a promise of its own would cost it a turn.
      read: (statement, parameters, sink, client) =>
        current === null ? Promise.reject(absence()) : current.read(statement, parameters, sink, client),
      stream: async (...stream) => present(current).stream(...stream),
      load: () => current?.load?.() ?? {},
      transaction: async (work) => present(current).transaction(work),
      briefTransaction: async (...brief) => present(current).briefTransaction(...brief),
      schemaSession: async (work) => sessionOf(present(current))(work),
      query: async (text, parameters) => present(current).query(text, parameters),
      async close(graceMs) {
        closed = true;
        clearTimeout(timer);
        await current?.close(graceMs);
      },
    },
  };
}

function present(database: Database | null): Database {
  if (database === null) throw absence();
  return database;
}

function sessionOf({ schemaSession }: Database): NonNullable<Database['schemaSession']> {
  if (schemaSession === undefined) throw new Error('Transactions of this database hold changes of tables.');
  return schemaSession;
}

function absence(): PlatformError {
  return new PlatformError('SERVICE_UNAVAILABLE');
}

/** True for a passing error: the server does not answer, or is still starting or full. */
export function isOutOfReach(thrown: unknown): boolean {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth += 1) {
    if (error instanceof PoolingError) return false;
    const code = error instanceof ServerError ? error.sqlstate : 'code' in error ? String(error.code) : '';
    // A socket that is not there comes with its server; other files do not come.
    const isSocket = code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect';
    if (isSocket || passingCodes.test(code)) return true;
    if (passingMessages.test(error.message)) return true;
    if (error instanceof AggregateError && error.errors.some(isOutOfReach)) return true;
  }
  return false;
}

/** Network errors of Node and of drivers, and SQLSTATEs of a server that starts, stops or has no connection left. */
const passingCodes =
  /^(PROTOCOL_CONNECTION_LOST|E(CONN\w+|TIMEDOUT|HOSTUNREACH|HOSTDOWN|NETUNREACH|PIPE|AI_AGAIN)|ENOTFOUND|57P0[123]|53300|08\w{3})$/;

/** Messages without a code: those of `pg`, and that of several servers. */
const passingMessages = /^(timeout expired|Connection terminated|No database server takes writes)/;
