/**
 * Reads of callers without a token: those by key run freely, as do statements that were quick; all others take turns.
 */
import type { Database, FindClient, Parameter, Statement } from '../database.ts';
import { ConnectionError, StalledError, toDatabaseError } from '../errors.ts';
import type { StatementKind } from './public-pace.ts';
import { PublicQueue, type Turn, type TurnLimits } from './public-queue.ts';

/** Bounds of reads of callers without a token. */
export interface PublicReadLimits extends TurnLimits {
  /** Quick statements of one client that run freely: infinity where a connection takes several at once, 0 where each takes its turn. */
  readonly quickOfClient: number;
}

/** A database on which callers without a token take turns. */
export function queuePublicReads(database: Database, limits: PublicReadLimits): Database {
  const queue = new PublicQueue(limits);
  const { times } = queue;
  const quick = new Map<string, number>();
  const isBounded = limits.quickOfClient !== Number.POSITIVE_INFINITY;

  function runQuick(kind: StatementKind, client: string, run: () => Promise<void>): Promise<void> {
    const begun = performance.now();
    if (isBounded) quick.set(client, (quick.get(client) ?? 0) + 1);
    const leave = (): void => {
      if (performance.now() - begun > limits.slowMs) times.doubt(kind);
      if (isBounded) decrease(quick, client);
    };
    return run().then(leave, (error: unknown) => {
      leave();
      throw error;
    });
  }

  return {
    ...database,
    read(statement, parameters, sink, findClient = noClient) {
      if (statement.brief === true) return database.read(statement, parameters, sink);
      if (statement.isPublic !== true) return queue.beside(() => database.read(statement, parameters, sink));
      const kind = kindOf(statement, parameters);
      const readInTurn = (): Promise<void> =>
        runInTurn(queue, { kind, client: findClient(), goesOn: false }, (isApart) =>
          database.read(isApart ? { ...statement, apart: true } : statement, parameters, sink),
        ).catch((error: unknown) => again(error, readInTurn));
      if (!times.isQuick(kind)) return readInTurn();
      const client = isBounded ? findClient() : '';
      if ((quick.get(client) ?? 0) >= limits.quickOfClient) return readInTurn();
      return runQuick(kind, client, () => database.read(statement, parameters, sink)).catch((error: unknown) => {
        if (error instanceof StalledError) times.doubt(kind);
        return again(error, readInTurn);
      });
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

async function runInTurn(queue: PublicQueue, asker: Asker, run: (isApart: boolean) => Promise<void>): Promise<void> {
  const turn = await enter(queue, asker);
  let isReported = true;
  try {
    await run(turn.isSlow);
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
  { kind, client }: Omit<Asker, 'goesOn'>,
  signal: AbortSignal,
  drained: () => Promise<void>,
  run: (drained: () => Promise<void>) => Promise<void>,
): Promise<void> {
  let turn: Turn | undefined = await enter(queue, { kind: `stream ${kind}`, client, goesOn: false });
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
    const next = await enter(queue, { kind: `next stream ${kind}`, client, goesOn: true });
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

const noClient: FindClient = () => '';

/** Limit and offset are the last parameters of a list: their digits tell how much it reads. */
function kindOf({ name }: Statement, parameters: readonly Parameter[]): StatementKind {
  return `${name} ${parameters.at(-2)?.length} ${parameters.at(-1)?.length}`;
}

async function enter(queue: PublicQueue, asker: Parameters<PublicQueue['enter']>[0]): Promise<Turn> {
  try {
    return await queue.enter(asker);
  } catch (error) {
    throw error instanceof ConnectionError ? toDatabaseError(error) : error;
  }
}

function decrease(counts: Map<string, number>, key: string): void {
  const count = counts.get(key) ?? 0;
  if (count > 1) counts.set(key, count - 1);
  else counts.delete(key);
}
