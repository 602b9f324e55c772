/** Observes the statements of a database: counts and traces them, and logs slow ones. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ClientGoneError, PlatformError } from '../errors.ts';
import type { RetryReason, StatementMeter } from '../operate/metrics/statement-metrics.ts';
import { continueWithin, currentRecord } from '../operate/request-record.ts';
import type { Database, Parameter, RowSink, Statement, Transaction } from './database.ts';
import { ConnectionError, isConflict, isNotPrimary, isStalePreparation, ServerError } from './errors.ts';
import type { SlowLog } from './slow-log.ts';
import { StatementRun } from './statement-run.ts';

export interface StatementObservers {
  readonly meter: StatementMeter | null;
  readonly slow: SlowLog | null;
  readonly tracer?: StatementTracer;
}

export interface StatementTracer {
  begin(run: StatementRun): void;
  /** `errorType` is empty for a success. */
  end(run: StatementRun, errorType: string, error?: unknown): void;
}

/** A statement of requests; one within a transaction, whose time is that of the transaction; or a query of our own. */
type Part = 'read' | 'within' | 'query';

const noRows: RowSink = { row: () => {} };

export function observeDatabase(database: Database, observers: StatementObservers): Database {
  const watch = new StatementWatch(observers);
  return {
    ...database,
    read(statement, parameters, sink, client) {
      const run = watch.begin(statement, parameters, sink);
      run.watch = watch;
      const running = database.read(statement, parameters, run, client);
      if (run.isJoined) return running;
      run.requested();
      running.catch((error: unknown) => run.failed(error));
      return running;
    },
    stream(statement, parameters, sink, drained, signal, client) {
      const run = watch.begin(statement, parameters, sink);
      run.requested();
      const drainedLater = async (): Promise<void> => {
        const start = performance.now();
        await drained();
        // The time of the client is none of the database.
        run.clientMs += performance.now() - start;
      };
      return watch.observe(run, 'read', database.stream(statement, parameters, run, drainedLater, signal, client));
    },
    transaction: (work) => timed(database.transaction(watch.observeWork(work, 'commit'))),
    briefTransaction: (work, ...brief) => timed(database.briefTransaction(watch.observeWork(work, 'shared'), ...brief)),
    query(text, parameters) {
      const run = new StatementRun({ name: '', text }, parameters, noRows);
      run.requested();
      const running = database.query(text, parameters, run);
      running.then(
        (rows) => {
          run.rows = rows.length;
        },
        () => {},
      );
      return watch.observe(run, 'query', running);
    },
    close(graceMs) {
      observers.slow?.flush();
      return database.close(graceMs);
    },
  };
}

class StatementWatch {
  readonly #observers: StatementObservers;
  readonly #leastSlow: number;
  readonly #observed = new WeakSet<Transaction>();

  constructor(observers: StatementObservers) {
    this.#observers = observers;
    this.#leastSlow = observers.slow?.leastMs ?? Number.POSITIVE_INFINITY;
  }

  begin(statement: Statement, parameters: readonly Parameter[], sink: RowSink): StatementRun {
    const run = new StatementRun(statement, parameters, sink);
    this.#observers.tracer?.begin(run);
    return run;
  }

  /** Observes beside the promise, so that its taker does not wait a turn longer. */
  observe<T>(run: StatementRun, part: Part, running: Promise<T>): Promise<T> {
    running.then(
      () => this.#ended(run, part, performance.now(), ''),
      (error: unknown) => this.failed(run, error, part),
    );
    return running;
  }

  /** Takes the end of a read that has all of its rows. */
  ended(run: StatementRun, now: number): void {
    this.#ended(run, 'read', now, '');
  }

  failed(run: StatementRun, error: unknown, part: Part = 'read'): void {
    const now = performance.now();
    const errorType = errorTypeOf(error);
    // One that got no connection has waited for it all the time.
    if ((errorType === 'connection' || errorType === 'client_gone') && part !== 'within' && run.sentAt === undefined)
      run.sentAt = now;
    this.#ended(run, part, now, errorType, error);
  }

  observeWork<T>(work: (transaction: Transaction) => Promise<T>, unknown: RetryReason) {
    const { meter, tracer } = this.#observers;
    const record = currentRecord();
    const requestedAt = performance.now();
    let runs = 0;
    let failure: unknown;
    const runOnce = async (transaction: Transaction): Promise<T> => {
      if (runs++ > 0) meter?.retried(failure === undefined ? unknown : reasonOf(failure, unknown));
      else if (record !== undefined) record.waitedMs = performance.now() - requestedAt;
      failure = undefined;
      try {
        return await work(this.#observeTransaction(transaction));
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    if (record === undefined) return runOnce;
    // One that requests share is begun by one of them.
    if (tracer === undefined) return (transaction: Transaction) => continueWithin(record, runOnce, transaction);
    const within = AsyncLocalStorage.snapshot();
    return (transaction: Transaction) => within(runOnce, transaction);
  }

  #ended(run: StatementRun, part: Part, now: number, errorType: string, error?: unknown): void {
    const { meter, slow, tracer } = this.#observers;
    const { record } = run;
    const ms = run.msUntil(now);
    if (record !== undefined && part !== 'within') record.databaseMs += ms;
    if (part !== 'query') meter?.ran(run.statement, ms / 1000, errorType);
    // Others keep no request waiting, and are slow where the machine is busy.
    if (ms >= this.#leastSlow && record !== undefined) slow?.report(run, ms, errorType);
    tracer?.end(run, errorType, error);
  }

  /** Transactions that requests share are compared by identity, so that the same object gets another method. */
  #observeTransaction(transaction: Transaction): Transaction {
    if (this.#observed.has(transaction)) return transaction;
    this.#observed.add(transaction);
    const send = transaction.run.bind(transaction);
    let endedAt = 0;
    // Statements that were sent together run one after the other.
    const ended = (run: StatementRun): void => {
      if (endedAt > run.startedAt) run.startedAt = endedAt;
      endedAt = performance.now();
    };
    transaction.run = (statement, parameters, sink) => {
      const run = this.begin(statement, parameters, sink);
      run.requested();
      const { record } = run;
      if (record !== undefined && record.waitedMs > 0) {
        run.follow(record.waitedMs);
        record.waitedMs = 0;
      }
      const sent = send(statement, parameters, run);
      sent.then(
        () => ended(run),
        () => ended(run),
      );
      return this.observe(run, 'within', sent);
    };
    return transaction;
  }
}

/** Adds the time of a transaction to the record of the request. */
function timed<T>(running: Promise<T>): Promise<T> {
  const record = currentRecord();
  if (record === undefined) return running;
  const start = performance.now();
  const ended = (): void => {
    record.databaseMs += performance.now() - start;
  };
  running.then(ended, ended);
  return running;
}

/** The code of the database, else what has happened, else our code for it. */
export function errorTypeOf(thrown: unknown): string {
  const cause = thrown instanceof PlatformError ? (thrown.cause ?? thrown) : thrown;
  if (cause instanceof ServerError) return cause.sqlstate;
  if (cause instanceof ConnectionError) return 'connection';
  if (cause instanceof ClientGoneError) return 'client_gone';
  return cause instanceof PlatformError ? cause.code : 'other';
}

function reasonOf(thrown: unknown, unknown: RetryReason): RetryReason {
  const cause = thrown instanceof PlatformError ? thrown.cause : thrown;
  if (isConflict(cause)) return 'conflict';
  if (isStalePreparation(cause)) return 'stale_statement';
  if (isNotPrimary(cause)) return 'not_primary';
  return cause instanceof ConnectionError ? 'connection' : unknown;
}
