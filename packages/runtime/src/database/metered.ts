/** Times the statements of a database, and counts transactions that run again. */
import { PlatformError } from '../errors.ts';
import type { RetryReason, StatementMeter } from '../operate/metrics/statement-metrics.ts';
import type { Database, Outcome, Statement, Transaction } from './database.ts';
import { ConnectionError, isConflict, isNotPrimary, isStalePreparation, ServerError } from './errors.ts';

/** Makes a database whose statements are timed. */
export function meterDatabase(database: Database, meter: StatementMeter): Database {
  const metered = new WeakSet<Transaction>();

  /** Transactions that requests share are compared by identity, so that the same object gets another method. */
  function meterTransaction(transaction: Transaction): Transaction {
    if (metered.has(transaction)) return transaction;
    metered.add(transaction);
    const run = transaction.run.bind(transaction);
    transaction.run = (statement, parameters, sink) => timed(meter, statement, run(statement, parameters, sink));
    return transaction;
  }

  function countRuns<T>(work: (transaction: Transaction) => Promise<T>, unknown: RetryReason) {
    let runs = 0;
    let failure: unknown;
    return async (transaction: Transaction): Promise<T> => {
      if (runs++ > 0) meter.retried(failure === undefined ? unknown : reasonOf(failure, unknown));
      failure = undefined;
      try {
        return await work(meterTransaction(transaction));
      } catch (error) {
        failure = error;
        throw error;
      }
    };
  }

  return {
    ...database,
    read(statement, parameters, sink, findClient) {
      return timed(meter, statement, database.read(statement, parameters, sink, findClient));
    },
    stream(statement, parameters, sink, drained, signal, client) {
      let clientMs = 0;
      const drainedLater = async (): Promise<void> => {
        const start = performance.now();
        await drained();
        clientMs += performance.now() - start;
      };
      const streaming = database.stream(statement, parameters, sink, drainedLater, signal, client);
      // The time of the client is none of the database.
      return timed(meter, statement, streaming, () => clientMs);
    },
    transaction<T>(work: (transaction: Transaction) => Promise<Outcome<T>>) {
      let last: Statement | undefined;
      let lastSince = 0;
      const run = countRuns(async (transaction) => {
        const outcome = await work(transaction);
        last = outcome.last?.statement;
        lastSince = performance.now();
        return outcome;
      }, 'commit');
      const running = database.transaction(run);
      running.then(
        () => {
          // The last statement goes together with COMMIT.
          if (last !== undefined) meter.ran(last, (performance.now() - lastSince) / 1000, '');
        },
        () => undefined,
      );
      return running;
    },
    briefTransaction: (work, rows) => database.briefTransaction(countRuns(work, 'shared'), rows),
  };
}

/** Measures beside the promise, so that its taker does not wait a turn longer. */
function timed(
  meter: StatementMeter,
  statement: Statement,
  running: Promise<void>,
  otherMs: () => number = () => 0,
): Promise<void> {
  const start = performance.now();
  const ended = (errorType: string): void =>
    meter.ran(statement, (performance.now() - start - otherMs()) / 1000, errorType);
  running.then(
    () => ended(''),
    (error: unknown) => ended(errorTypeOf(error)),
  );
  return running;
}

/** The code of the database, else what has happened, else our code for it. */
function errorTypeOf(thrown: unknown): string {
  const cause = thrown instanceof PlatformError ? (thrown.cause ?? thrown) : thrown;
  if (cause instanceof ServerError) return cause.sqlstate;
  if (cause instanceof ConnectionError) return 'connection';
  return cause instanceof PlatformError ? cause.code : 'other';
}

function reasonOf(thrown: unknown, unknown: RetryReason): RetryReason {
  const cause = thrown instanceof PlatformError ? thrown.cause : thrown;
  if (isConflict(cause)) return 'conflict';
  if (isStalePreparation(cause)) return 'stale_statement';
  if (isNotPrimary(cause)) return 'not_primary';
  return cause instanceof ConnectionError ? 'connection' : unknown;
}
