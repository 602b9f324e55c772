/** Tells if a database server takes writes, only reads, or neither. Source: scale-out notes, section 2. */

import type { RenewableUrl } from '../environment/renewable-url.ts';
import { PlatformError } from '../errors.ts';
import type { Database, FullDisk } from './database.ts';
import { ServerError } from './errors.ts';
import { inTime } from './waits.ts';

/** States of a server. `no-quorum`: a node of a cluster that has lost the others. */
const hostStates = ['primary', 'read-only', 'joining', 'no-quorum', 'away'] as const;

export type HostState = (typeof hostStates)[number];

/** A server as it was when it was asked. */
export interface HostReport {
  readonly state: HostState;
  /** Milliseconds that a standby lags; absent if unknown. */
  readonly lag?: number;
  /** Set where the server would take a transaction that asks for writing: only its default says that it reads. */
  readonly bySetting?: true;
  /** Set where no server takes writes, and a replica answers reads. */
  readonly byReplica?: true;
  /** Reason why some of several servers are not used, although they answer: sentences. */
  readonly problem?: string;
  /** Each server, where there are several. */
  readonly hosts?: readonly ListedHost[];
}

/** One of several servers: a candidate for writing, or a replica. */
export interface ListedHost extends Pick<HostReport, 'state' | 'lag'> {
  readonly role: 'write' | 'read';
}

/** Milliseconds of silence after which a server is away. */
export const silenceMs = 1_000;

/** Asks a server for its state, as its dialect does. */
export type AskHost = (database: Pick<Database, 'query'>) => Promise<HostReport>;

/** Asks a server. Never rejects: one that is silent, or does not answer within `timeoutMs`, is away. */
export async function readHostState(
  database: Pick<Database, 'query'>,
  askHost: AskHost,
  timeoutMs: number,
): Promise<HostReport> {
  const requested = askHost(database).catch((error: unknown): HostReport => ({ state: stateOfError(error) }));
  return inTime(requested, Math.min(timeoutMs, silenceMs), (): HostReport => ({ state: 'away' }));
}

/** A server that starts or stops says so (57P03); so does a node of a cluster without the others, of any table. */
function stateOfError(error: unknown): HostState {
  return hasSqlstate(error, '57P03') ? 'joining' : 'away';
}

/** True where an error, or one that it was caused by, is of that code. */
export function hasSqlstate(thrown: unknown, sqlstate: string): boolean {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth += 1) {
    if (error instanceof ServerError && error.sqlstate === sqlstate) return true;
    if ('code' in error && error.code === sqlstate) return true;
  }
  return false;
}

export interface HostWatch {
  /** Answers writes with SERVICE_UNAVAILABLE where a setting refuses them, and all requests without its cluster. */
  readonly database: Database;
  /** Reads the state of the server. Never rejects. */
  state(): Promise<HostReport>;
}

/**
 * Watches a server. One that only reads by a setting (`bySetting`) takes a transaction that asks for writing all the same, and
 * every one of ours does. A member that its group has expelled may still read what it had then. The state is asked for at the
 * start, by health checks, and before each request that may be refused.
 */
export function watchHost(database: Database, askHost: AskHost, timeoutMs: number): HostWatch {
  /** Null until the server has been there once. */
  let refuses: boolean | null = null;
  let isCutOff = false;
  let shared: Promise<HostReport> | null = null;

  async function state(): Promise<HostReport> {
    const report = await readHostState(database, askHost, timeoutMs);
    if (report.state !== 'away') refuses = report.bySetting === true;
    isCutOff = report.state === 'no-quorum';
    return report;
  }

  async function unlessCutOff(read: () => Promise<void>): Promise<void> {
    shared ??= state().finally(() => {
      shared = null;
    });
    if ((await shared).state !== 'no-quorum') return read();
    throw unavailable('The server has lost the other nodes of its cluster.');
  }

  async function checked<T>(write: () => Promise<T>): Promise<T> {
    if ((await state()).bySetting !== true) return write();
    throw unavailable('The server is set to only read.');
  }

  return {
    database: {
      ...database,
      read: (...read) => (isCutOff ? unlessCutOff(() => database.read(...read)) : database.read(...read)),
      stream: (...stream) => (isCutOff ? unlessCutOff(() => database.stream(...stream)) : database.stream(...stream)),
      transaction: (work) =>
        refuses === false ? database.transaction(work) : checked(() => database.transaction(work)),
      briefTransaction: (...brief) =>
        refuses === false ? database.briefTransaction(...brief) : checked(() => database.briefTransaction(...brief)),
    },
    state,
  };
}

/** Way to the other processes that serve together, all of which tell of a full disk. Null: there is room. */
export interface RoomChannel {
  send(full: FullDisk | null): void;
  /** Calls the listener with what others send. */
  listen(listener: (full: FullDisk | null) => void): void;
}

/** Notes writes that find the disk of the server full, until one succeeds: `load` tells of them. */
export function watchRoom(database: Database, others?: RoomChannel): Database {
  let full: FullDisk | null = null;
  const note = (noted: FullDisk | null): void => {
    full = noted;
  };
  others?.listen(note);

  function change(changed: FullDisk | null): void {
    note(changed);
    others?.send(changed);
  }

  function noted<T>(writing: Promise<T>): Promise<T> {
    writing.then(
      () => full !== null && change(null),
      (error: unknown) => {
        if (!hasSqlstate(error, '53100')) return;
        const latest = Date.now();
        change({ since: full?.since ?? latest, latest });
      },
    );
    return writing;
  }

  return {
    ...database,
    transaction: (work) => noted(database.transaction(work)),
    briefTransaction: (...brief) => noted(database.briefTransaction(...brief)),
    load: () => ({ ...database.load?.(), ...(full && { full }) }),
  };
}

function unavailable(reason: string): PlatformError {
  return new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: new Error(reason) });
}

/** State of a server, and what tells it from others. */
export interface HostFacts extends HostReport {
  /** Identifier of the cluster of data; replicas have that of their primary. Absent where servers have none. */
  readonly system?: string;
  /** Database that was asked, as the cluster names it: replicas have that of their primary. */
  readonly database?: string;
  /** Number of the history that it writes or follows: each promotion begins a higher one. Absent where servers count none. */
  readonly timeline?: number;
  /** Identifier of the running server itself, which may have several names. */
  readonly instance?: string;
  /** Set where several servers of the cluster take writes. */
  readonly isMulti?: true;
  /** Reason why it is away or joining. */
  readonly error?: unknown;
  /** Position that it has reached in the log of changes. */
  readonly position?: string;
  /**
   * Statements that ask for that after a COMMIT, and of a replica; absent where those of the dialect do. `awaited` has the replica
   * itself wait for a position, for at most so many seconds, and gives it back once it is there.
   */
  readonly positionSql?: { readonly written: string; readonly reached: string; readonly awaited?: string };
}

/** Asks one server over a connection of its own. */
export interface HostProbe {
  /** Connects if it has to. Rejects when there is no answer. */
  ask(): Promise<HostFacts>;
  /** Resolves once it has all that others had written before. Absent where one that takes writes always has. */
  catchUp?(): Promise<void>;
  /** Drops the connection, so that the next question resolves the name anew. */
  reset(): void;
}

export type CreateProbe = (address: RenewableUrl) => Promise<HostProbe>;

/** Asks a server. Never rejects: one that does not answer in time is away. */
export function askProbe(server: HostProbe): Promise<HostFacts> {
  return answerOf(server, () => server.ask());
}

/** False if a server does not come to have all that others had written before. */
export async function hasCaughtUp(server: HostProbe | undefined): Promise<boolean> {
  if (server?.catchUp === undefined) return true;
  const { state } = await answerOf(server, async () => {
    await server.catchUp?.();
    return { state: 'primary' };
  });
  return state === 'primary';
}

function answerOf(server: HostProbe, ask: () => Promise<HostFacts>): Promise<HostFacts> {
  let isLate = false;
  const requested = ask().catch((error: unknown): HostFacts => {
    if (!isLate) server.reset();
    return { state: stateOfError(error), error };
  });
  return inTime(requested, silenceMs, (): HostFacts => {
    isLate = true;
    server.reset();
    return { state: 'away' };
  });
}
