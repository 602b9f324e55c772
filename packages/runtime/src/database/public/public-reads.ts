/** Reads of callers without a token: those by key and those that were quick run freely; others take turns. */
import {
  type Database,
  type Parameter,
  type ReadClient,
  type RowSink,
  receiverOf,
  SignalClient,
  type Statement,
} from '../database.ts';
import { StalledError, toDatabaseError } from '../errors.ts';
import type { StatementKind } from './public-pace.ts';
import { PublicQueue, type Turn, type TurnLimits } from './public-queue.ts';

/** A database on which callers without a token take turns. */
export function queuePublicReads(database: Database, limits: TurnLimits): Database {
  const queue = new PublicQueue(limits, () => database.roundTripMs?.() ?? 0);
  const { times } = queue;
  const isBounded = limits.quickOfClient !== Number.POSITIVE_INFINITY;

  /** Quick statements that share connections need neither a turn nor their client. */
  function readFreely(kind: StatementKind, read: () => Promise<void>): Promise<void> {
    const begun = performance.now();
    const noteTime = (): void => {
      const ms = performance.now() - begun;
      if (ms > limits.slowMs && ms - queue.wayMs > limits.slowMs) times.doubt(kind);
    };
    return read().then(noteTime, (error: unknown) => {
      if (error instanceof StalledError) times.doubt(kind);
      else noteTime();
      throw error;
    });
  }

  return {
    ...database,
    read(statement, parameters, sink, client = noClient) {
      if (statement.brief === true) return database.read(statement, parameters, sink, client);
      if (statement.isPublic !== true) return queue.beside(() => database.read(statement, parameters, sink, client));
      const kind = kindOf(statement, parameters);
      const readInTurn = (): Promise<void> =>
        runInTurn(queue, { kind, client: client.address, reader: client, goesOn: false, mayBeFree: true }, (turn) =>
          database.read(
            turn.isSlow ? { ...statement, apart: true } : statement,
            parameters,
            new TurnSink(sink, queue, turn),
            client,
          ),
        ).catch((error: unknown) => again(error, readInTurn));
      if (isBounded || !times.isQuick(kind)) return readInTurn();
      const reading = readFreely(kind, () => database.read(statement, parameters, sink, client));
      return reading.catch((error: unknown) => again(error, readInTurn));
    },
    stream(statement, parameters, sink, drained, signal, client = '') {
      if (statement.isPublic !== true) return database.stream(statement, parameters, sink, drained, signal, client);
      return streamQueued(queue, { kind: kindOf(statement, parameters), client }, signal, drained, (awaited) =>
        database.stream(statement, parameters, sink, awaited, signal, client),
      );
    },
    transaction: (work) => queue.beside(() => database.transaction(work)),
    briefTransaction: (...brief) => queue.beside(() => database.briefTransaction(...brief)),
    load: () => ({ ...database.load?.(), publicQueue: queue.waited }),
  };
}

type Asker = Parameters<PublicQueue['enter']>[0];

/** Sink of a statement whose time begins when it is sent. */
class TurnSink implements RowSink {
  readonly #sink: RowSink;
  readonly #queue: PublicQueue;
  readonly #turn: Turn;

  constructor(sink: RowSink, queue: PublicQueue, turn: Turn) {
    this.#sink = sink;
    this.#queue = queue;
    this.#turn = turn;
    turn.begun = Number.POSITIVE_INFINITY;
  }

  get receiver(): RowSink {
    return receiverOf(this.#sink);
  }

  get shared(): RowSink['shared'] {
    return this.#sink.shared;
  }

  received(rows: number): void {
    this.#sink.received?.(rows);
  }

  row(buffer: Buffer, offset: number, length: number): void {
    this.#sink.row(buffer, offset, length);
  }

  sent(now: number, text?: string): void {
    this.#queue.sent(this.#turn);
    this.#sink.sent?.(now, text);
  }

  end(now?: number): void {
    this.#sink.end?.(now);
  }
}

async function runInTurn(queue: PublicQueue, asker: Asker, run: (turn: Turn) => Promise<void>): Promise<void> {
  const turn = await enter(queue, asker);
  let isReported = true;
  try {
    await run(turn);
  } catch (error) {
    isReported = !(error instanceof StalledError);
    throw error;
  } finally {
    queue.leave(turn, isReported);
  }
}

/** A read that was queued after a slow one has not begun, and waits for a turn. */
function again(error: unknown, read: () => Promise<void>): Promise<void> {
  if (error instanceof StalledError) return read();
  throw error;
}

/** Nothing is read for a stream while its client takes the rows that were read: it waits for another turn then. */
async function streamQueued(
  queue: PublicQueue,
  { kind, client }: Pick<Asker, 'kind' | 'client'>,
  signal: AbortSignal,
  drained: () => Promise<void>,
  run: (drained: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const reader = new SignalClient(signal);
  let turn: Turn | undefined = await enter(queue, { kind: `stream ${kind}`, client, reader, goesOn: false });
  let isOver = false;
  const leave = (): void => {
    if (turn !== undefined) queue.leave(turn);
    turn = undefined;
  };
  const drainedInTurn = async (): Promise<void> => {
    leave();
    await drained();
    if (signal.aborted) return;
    // The time of its next batches tells nothing of others that begin.
    const next = await enter(queue, { kind: `next stream ${kind}`, client, reader, goesOn: true });
    if (isOver) queue.leave(next, false);
    else turn = next;
  };
  try {
    await run(drainedInTurn);
  } finally {
    isOver = true;
    leave();
  }
}

const noClient: ReadClient = { address: '', isGone: false };

/** Limit and offset are the last parameters of a list: their digits tell how much it reads. */
function kindOf({ name }: Statement, parameters: readonly Parameter[]): StatementKind {
  return `${name} ${parameters.at(-2)?.length} ${parameters.at(-1)?.length}`;
}

async function enter(queue: PublicQueue, asker: Parameters<PublicQueue['enter']>[0]): Promise<Turn> {
  try {
    return await queue.enter(asker);
  } catch (error) {
    throw toDatabaseError(error);
  }
}
