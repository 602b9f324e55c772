/** One try at a transaction, on a connection that nobody else uses meanwhile. */
import type { Outcome, Parameter, RowSink, Statement, Transaction } from '../database.ts';
import { ConnectionError, isLost, toDatabaseError } from '../errors.ts';
import type { Exchange, Request } from '../protocol/connection.ts';
import type { Member } from './member.ts';

/** What a transaction needs of a connection. */
export type TransactionConnection = Pick<Member['connection'], 'send' | 'fail' | 'inFlight' | 'isClosed'>;

const begin: Statement = { name: 'w_begin', text: 'BEGIN READ WRITE' };
const commit: Statement = { name: 'w_commit', text: 'COMMIT' };
const rollback: Statement = { name: 'w_rollback', text: 'ROLLBACK' };
const noRows: RowSink = { row: () => {} };

/** Runs a function in a transaction once, and remembers how far it came. */
export class Attempt implements Transaction {
  /** Number of the transaction, once a statement has brought it along. */
  id: string | undefined;
  /** The first thing that went wrong between us and the database, as it came. */
  failure: unknown;
  /** True when COMMIT was sent and got no answer, so that nobody can tell how the transaction ended. */
  unknown = false;
  /** True when the rows of the last statement are complete. */
  answered = true;
  readonly #connection: TransactionConnection;
  readonly #named: boolean;
  readonly #timer: NodeJS.Timeout | undefined;

  /**
   * `timeoutMs` is how long an answer may take before the connection counts as dead, infinity for ever; `named` false
   * prepares no statement under its name.
   */
  constructor(connection: TransactionConnection, timeoutMs: number, named = true) {
    this.#connection = connection;
    this.#named = named;
    if (timeoutMs !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#silent(), timeoutMs).unref();
  }

  /** Runs the function and commits what it comes to; else undoes everything and rejects with what went wrong. */
  async perform<T>(work: (transaction: Transaction) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    try {
      // Whatever is wrong with BEGIN is wrong with what stands behind it.
      this.#send(begin, [], noRows, 'begin').catch(() => {});
      const outcome = await work(this);
      await this.#commit(outcome);
      return outcome;
    } catch (error) {
      await this.#undo();
      throw error;
    } finally {
      clearTimeout(this.#timer);
    }
  }

  run(statement: Statement, parameters: readonly Parameter[], sink: RowSink): Promise<void> {
    return this.#send(statement, parameters, sink, 'within');
  }

  identify(id: string): void {
    this.id = id;
  }

  async #commit<T>({ last }: Outcome<T>): Promise<void> {
    // A function may have passed over an error; the server has not, and would take COMMIT for ROLLBACK.
    if (this.failure !== undefined) throw toDatabaseError(this.failure);
    if (last !== undefined) {
      this.answered = false;
      this.run(last.statement, last.parameters, last.sink()).then(
        () => {
          this.answered = true;
        },
        () => {},
      );
    }
    try {
      await this.run(commit, [], noRows);
    } catch (error) {
      this.unknown = isLost(this.failure);
      throw error;
    }
    if (this.failure !== undefined) throw toDatabaseError(this.failure);
  }

  /** Ends the transaction, so that the connection can be used again or is gone. */
  async #undo(): Promise<void> {
    if (this.#connection.isClosed) return;
    const { failure } = this;
    await this.run(rollback, [], noRows).catch(() => {
      this.#connection.fail(new ConnectionError('The transaction could not be ended.'));
    });
    this.failure = failure;
  }

  #send(
    statement: Statement,
    parameters: readonly Parameter[],
    sink: RowSink,
    part: 'begin' | 'within',
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const { name, text } = statement;
      const request: Request = { name: this.#named ? name : '', text, parameters, part };
      const exchange: Exchange = {
        row: (buffer, offset, length) => sink.row(buffer, offset, length),
        settled: (error) => {
          this.#timer?.refresh();
          const failure = error ?? ended(sink);
          this.failure ??= failure;
          if (failure === undefined) resolve();
          else reject(toDatabaseError(failure));
        },
      };
      this.#connection.send(request, exchange);
    });
  }

  #silent(): void {
    if (this.#connection.inFlight > 0) this.#connection.fail(new ConnectionError('No answer in time.'));
    else this.#timer?.refresh();
  }
}

/** Tells a sink that its rows are complete; what it throws is undone like every other error. */
function ended(sink: RowSink): unknown {
  try {
    sink.end?.();
    return undefined;
  } catch (error) {
    return error;
  }
}
