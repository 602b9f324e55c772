/** Ways of statements to one of several servers: reads that may be late go to replicas, writes wait for a server that takes them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isClientGone, PlatformError } from '../../errors.ts';
import { currentRecord } from '../../operate/request-record.ts';
import { type Database, type ReadClient, type RowSink, receiverOf, SignalClient, type Statement } from '../database.ts';
import { ConnectionError, isNotPrimary, isRetryable, toDatabaseError, UnknownOutcomeError } from '../errors.ts';
import { leftError } from '../waits.ts';
import type { HostGroup } from './host-group.ts';
import type { HasReached, Positions } from './positions.ts';
import type { Replica } from './replicas.ts';

export interface RoutingOptions {
  readonly replicas: readonly Replica[];
  /** Time that a read waits for a position that no replica has reached yet. */
  readonly waitMs: number;
  readonly hasReached: HasReached;
  /** Asks a replica where it is, by a statement of its own if it has one. */
  readonly askPosition: (
    database: Database,
    sql: string | undefined,
    parameters?: readonly string[],
  ) => Promise<string | null>;
  /** False while no server takes writes. */
  readonly hasPrimary: () => boolean;
}

export function leastBusy(
  { replicas }: Pick<RoutingOptions, 'replicas'>,
  without: ReadonlySet<Replica>,
): { readonly replica: Replica; readonly database: Database } | undefined {
  let best: { readonly replica: Replica; readonly database: Database } | undefined;
  for (const replica of replicas) {
    if (without.has(replica) || (best !== undefined && replica.busy >= best.replica.busy)) continue;
    const database = replica.usable();
    if (database !== null) best = { replica, database };
  }
  return best;
}

/** Routes the reads of a database. Statements without `after` are those of the server that takes writes. */
export function routeReads(primary: Database, options: RoutingOptions): Database {
  async function onReplica(
    statement: Statement,
    sink: RowSink,
    client: Pick<ReadClient, 'isGone'> | undefined,
    run: (database: Database, sink: RowSink) => Promise<void>,
  ): Promise<void> {
    const failed = new Set<Replica>();
    for (let found = leastBusy(options, failed); found !== undefined; found = leastBusy(options, failed)) {
      const { replica, database } = found;
      const counted = new CountedRows(sink);
      replica.busy++;
      try {
        if (!(await comesTo(replica, database, { position: statement.after ?? '', client }, options))) break;
        await run(database, counted);
        return;
      } catch (error) {
        if (isGone(error)) replica.failed();
        if (counted.rows > 0 || !mayBeAnsweredElsewhere(error)) throw error;
        failed.add(replica);
      } finally {
        replica.busy--;
      }
    }
    await run(primary, sink);
  }

  return {
    ...primary,
    read: (statement, parameters, sink, client) =>
      statement.after === undefined
        ? primary.read(statement, parameters, sink, client)
        : onReplica(statement, sink, client, (database, rows) => database.read(statement, parameters, rows, client)),
    stream: (statement, parameters, sink, drained, signal, client) =>
      statement.after === undefined
        ? primary.stream(statement, parameters, sink, drained, signal, client)
        : onReplica(statement, sink, new SignalClient(signal), (database, rows) =>
            database.stream(statement, parameters, rows, drained, signal, client),
          ),
    query(text, parameters, observer) {
      const other = options.hasPrimary() ? undefined : leastBusy(options, new Set());
      return (other?.database ?? primary).query(text, parameters, observer);
    },
    async close(graceMs) {
      await Promise.all([primary.close(graceMs), ...options.replicas.map((replica) => replica.close(graceMs))]);
    },
  };
}

/** A replica follows within some milliseconds as a rule: so long it is asked without a pause. */
const eagerMs = 5;
const firstPauseMs = 1;
const maxPauseMs = 8;
/** One that waits by itself does so at most so long at once: reads that wait for earlier positions share the question. */
const awaitedMs = 10;
/** Where a replica answers nothing, it is noticed so soon that the client has left, or that it is late. */
const lookMs = 10;

interface Awaited {
  readonly position: string;
  readonly client: Pick<ReadClient, 'isGone'> | undefined;
}

/** True once a replica has come to a position; false if that takes too long. Rejects when the client leaves before. */
async function comesTo(
  replica: Replica,
  database: Database,
  { position, client }: Awaited,
  { waitMs, hasReached, askPosition }: RoutingOptions,
): Promise<boolean> {
  if (position === '' || (replica.reached !== null && hasReached(replica.reached, position))) return true;
  const begun = performance.now();
  const over = Promise.withResolvers<null>();
  const looking = setInterval(() => {
    if (client?.isGone === true || performance.now() - begun >= waitMs) over.resolve(null);
  }, lookMs);
  const { reached: sql, awaited } = replica.positionSql ?? {};
  const parameters = [position, String(awaitedMs / 1_000)];
  const ask = () => (awaited === undefined ? askPosition(database, sql) : askPosition(database, awaited, parameters));
  const answers = (other: string): boolean => awaited === undefined || hasReached(other, position);
  try {
    for (let pause = firstPauseMs; ; ) {
      const reached = await Promise.race([replica.ask(position, answers, ask), over.promise]);
      if (reached !== null && hasReached(reached, position)) {
        replica.reached = reached;
        return true;
      }
      const left = leftError(client);
      if (left !== undefined) throw toDatabaseError(left);
      const waited = performance.now() - begun;
      if (waited + pause > waitMs) return false;
      if (waited < eagerMs || awaited !== undefined) continue;
      await sleep(pause);
      pause = Math.min(2 * pause, maxPauseMs);
    }
  } finally {
    clearInterval(looking);
  }
}

class CountedRows implements RowSink {
  rows = 0;
  readonly #sink: RowSink;
  readonly direct: RowSink['direct'];
  readonly shared: RowSink['shared'];

  constructor(sink: RowSink) {
    this.#sink = sink;
    const { direct } = receiverOf(sink);
    this.shared = sink.shared;
    this.direct = direct && {
      fields: direct.fields,
      item: (...item) => {
        this.rows++;
        sink.received?.(1);
        direct.item(...item);
      },
    };
  }

  row(buffer: Buffer, offset: number, length: number): void {
    this.rows++;
    this.#sink.row(buffer, offset, length);
  }

  sent(now: number, text?: string): void {
    this.#sink.sent?.(now, text);
  }

  end(now?: number): void {
    this.#sink.end?.(now);
  }
}

/** Standbys end statements whose rows the primary has removed, and servers may be gone or full. */
function mayBeAnsweredElsewhere(error: unknown): boolean {
  return error instanceof PlatformError && error.code === 'SERVICE_UNAVAILABLE' && !isClientGone(error);
}

function isGone(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isRetryable(cause) && !(cause instanceof Error && 'sqlstate' in cause && cause.sqlstate === '40001');
}

/** Transactions lost with their server that run again while a write may wait. */
const maxLosses = 4;

/** A database whose transactions wait up to `waitMs` for a server that takes writes, and run again where they were lost and left nothing. */
export function guardWrites(
  database: Database,
  group: Pick<HostGroup, 'writable' | 'losses' | 'isSettled'>,
  { waitMs, positions }: { readonly waitMs: number; readonly positions: Pick<Positions, 'latest'> | null },
): Database {
  async function guarded<T>(write: () => Promise<T>): Promise<T> {
    const record = currentRecord();
    const deadline = performance.now() + waitMs;
    for (let tries = 0; ; tries++) {
      await settled(group, deadline);
      const { losses } = group;
      try {
        const value = await write();
        if (positions !== null && record !== undefined) record.written = positions.latest;
        return value;
      } catch (error) {
        const isOver = tries === maxLosses || performance.now() >= deadline;
        const isDoubted = losses !== group.losses || !group.isSettled;
        if (isOver || !isDoubted || !leftNothing(error)) throw error;
      }
    }
  }

  return {
    ...database,
    transaction: (work) => guarded(() => database.transaction(work)),
    briefTransaction: (work, rows) => guarded(() => database.briefTransaction(work, rows)),
  };
}

async function settled(group: Pick<HostGroup, 'writable'>, deadline: number): Promise<void> {
  try {
    await group.writable(deadline);
  } catch (error) {
    throw toDatabaseError(error);
  }
}

/** True if a transaction failed with its server before it was committed. */
function leftNothing(error: unknown): boolean {
  const cause = error instanceof PlatformError ? error.cause : error;
  if (cause instanceof UnknownOutcomeError) return false;
  return cause instanceof ConnectionError || isNotPrimary(cause) || isRetryable(cause);
}

/** A database that refuses all writes: transactions answer SERVICE_UNAVAILABLE (DATABASE_READ_ONLY). */
export function withoutWrites(database: Database): Database {
  const refuse = (): Promise<never> =>
    Promise.reject(
      new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: new Error('DATABASE_READ_ONLY is set.') }),
    );
  return { ...database, transaction: refuse, briefTransaction: refuse, schemaSession: refuse };
}
