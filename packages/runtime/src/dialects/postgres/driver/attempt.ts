/** One attempt at a transaction, on a connection that it has to itself. */
import type { CommitProof, Outcome, Parameter, RowSink, Statement, Transaction } from '../../../database/database.ts';
import {
  ConnectionError,
  isAborted,
  isLost,
  RowContextError,
  toBeginError,
  toDatabaseError,
  toStatementError,
} from '../../../database/errors.ts';
import { readRow } from '../../../database/own-statements.ts';
import { type RowContext, type RunsAs, rowContextOf, type SettingStatement } from '../../../database/row-context.ts';
import type { PendingQuery, Request } from '../protocol/request.ts';
import type { PostgresSettings } from './options.ts';
import type { PooledConnection } from './pooled-connection.ts';

type TransactionConnection = Pick<
  PooledConnection['connection'],
  'send' | 'fail' | 'inFlight' | 'isClosed' | 'ends' | 'prepares'
>;

const begin: Statement = { name: 'w_begin', text: 'BEGIN READ WRITE' };
const commit: Statement = { name: 'w_commit', text: 'COMMIT' };
/** Written behind COMMIT: before, it could precede the record of the commit. */
const position: Statement = {
  name: 'w_position',
  text: 'SELECT pg_catalog.pg_current_wal_insert_lsn()::pg_catalog.text',
};
const rollback: Statement = { name: 'w_rollback', text: 'ROLLBACK' };
const noRows: RowSink = { row: () => {} };

/** Runs a function in a transaction once, and remembers how far it came. */
export class Attempt implements Transaction {
  /** Number of the transaction, once a statement has brought it along. */
  id: string | undefined;
  /** A row that only this transaction has made, if it has named one. */
  evidence: CommitProof | undefined;
  /** The first thing that went wrong between us and the database, as it came. */
  failure: unknown;
  /** True if the statement that failed was one that the connection knew by its name. */
  prepared = false;
  /** True when COMMIT was sent and got no answer, so that the end of the transaction is unknown. */
  unknown = false;
  /** True when the rows of the last statement are complete. */
  answered = true;
  /** True when the connection was given back while COMMIT was under way. */
  released = false;
  #begun = false;
  /** Settings that hold now, and those of the last statement of a caller: what waits for COMMIT runs under them. */
  #context: RowContext | undefined;
  #callers: RowContext | undefined;
  /** Set once settings of a caller were refused: statements after them only hear that something before them failed. */
  #refused: RowContextError | undefined;
  readonly #connection: TransactionConnection;
  readonly #named: boolean;
  readonly #notePosition: PostgresSettings['notePosition'];
  readonly #timer: NodeJS.Timeout | undefined;

  /**
   * `timeoutMs` is how long an answer may take before the connection counts as dead, infinity for ever; `named` false
   * prepares no statement under its name. `notePosition` takes the position in the log after COMMIT.
   */
  constructor(
    connection: TransactionConnection,
    timeoutMs: number,
    named = true,
    notePosition: PostgresSettings['notePosition'] = null,
  ) {
    this.#notePosition = notePosition;
    this.#connection = connection;
    this.#named = named;
    if (timeoutMs !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#silent(), timeoutMs).unref();
  }

  /** Runs the function and commits, else undoes everything and rejects. `release` takes the connection back early. */
  async execute<T>(
    work: (transaction: Transaction) => Promise<Outcome<T>>,
    release: () => void = () => {},
  ): Promise<Outcome<T>> {
    try {
      const outcome = await work(this);
      if (this.#begun) await this.#commit(outcome, release);
      return outcome;
    } catch (error) {
      await this.#undo();
      throw error;
    } finally {
      clearTimeout(this.#timer);
    }
  }

  run(statement: Statement, parameters: readonly Parameter[], sink: RowSink): Promise<void> {
    if (!this.#begun) {
      this.#begun = true;
      // A failure of BEGIN also fails the statement after it.
      this.#send(begin, [], noRows, 'begin').catch(() => {});
    }
    this.#switchTo(statement.runsAs);
    return this.#send(statement, parameters, sink, 'within');
  }

  identify(id: string): void {
    this.id = id;
  }

  proof(commitProof: CommitProof): void {
    this.evidence ??= commitProof;
  }

  /** Applies the settings of a statement where others hold, and takes those back first, in whose name nothing else runs. */
  #switchTo(runsAs: RunsAs | undefined): void {
    if (runsAs === undefined) return;
    const context = rowContextOf({ runsAs });
    if (context?.key === this.#context?.key) return;
    const set = (setting: SettingStatement, parameters: readonly Parameter[]): void =>
      void this.#send(setting, parameters, noRows, 'setting').catch(() => {});
    if (this.#context !== undefined) set(this.#context.undo, []);
    if (context !== undefined) set(context.apply, context.apply.parameters);
    this.#context = context;
    this.#callers = context ?? this.#callers;
  }

  async #commit<T>({ last }: Outcome<T>, release: () => void): Promise<void> {
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
    this.#switchTo(this.#callers);
    const committed = this.#send(commit, [], noRows, 'end');
    const noted = this.#notePosition === null ? undefined : this.#askPosition(this.#notePosition);
    if (this.#connection.ends) {
      this.released = true;
      release();
    }
    try {
      await committed;
    } catch (error) {
      this.unknown = isLost(this.failure);
      throw error;
    }
    if (this.failure !== undefined) throw toDatabaseError(this.#refused ?? this.failure);
    // The answer of the request waits for it: a reader that comes back sees no less.
    await noted;
  }

  /** Asks in the same flight as COMMIT. An error is none of the transaction, which has ended before. */
  #askPosition(note: (position: string | null) => void): Promise<void> {
    return new Promise((resolve) => {
      let text: string | null = null;
      const { name } = position;
      const request: Request = { ...position, name: this.#named ? name : '', parameters: [], part: 'end' };
      this.#connection.send(request, {
        row: (buffer, offset, length) => {
          text = readRow(buffer, offset, offset + length)[0] ?? null;
        },
        settled: () => {
          this.#timer?.refresh();
          note(text);
          resolve();
        },
      });
    });
  }

  /** Ends the transaction, so that the connection can be used again or is gone. */
  async #undo(): Promise<void> {
    // After COMMIT nothing is left to be undone, and the connection may be in use by another transaction.
    if (this.#connection.isClosed || this.released || !this.#begun) return;
    const { failure } = this;
    // Not by `run`, which may be watched: it has no caller.
    await this.#send(rollback, [], noRows, 'within').catch(() => {
      this.#connection.fail(new ConnectionError('The transaction could not be ended.'));
    });
    this.failure = failure;
  }

  #send(
    statement: Statement,
    parameters: readonly Parameter[],
    sink: RowSink,
    role: 'begin' | 'setting' | 'within' | 'end',
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const { name, text, brief = false } = statement;
      const part = role === 'setting' ? 'within' : role;
      const request: Request = { name: this.#named ? name : '', text, parameters, brief, part };
      const prepared = request.name !== '' && this.#connection.prepares;
      const pendingQuery: PendingQuery = {
        row: (buffer, offset, length) => sink.row(buffer, offset, length),
        settled: (error) => {
          this.#timer?.refresh();
          const failure = (part === 'begin' ? toBeginError(error) : error) ?? ended(sink);
          if (this.failure === undefined) this.prepared = prepared;
          this.failure ??= failure;
          if (failure === undefined) return resolve();
          if (role === 'setting' && !isAborted(failure) && !isLost(failure))
            this.#refused = new RowContextError(failure);
          reject(toStatementError(isAborted(failure) ? (this.#refused ?? failure) : failure, statement));
        },
      };
      this.#connection.send(request, pendingQuery);
    });
  }

  #silent(): void {
    if (this.#connection.inFlight > 0) this.#connection.fail(new ConnectionError('No answer in time.'));
    else this.#timer?.refresh();
  }
}

/** Tells a sink that its rows are complete; an error that it throws is undone like every other. */
function ended(sink: RowSink): unknown {
  try {
    sink.end?.();
    return undefined;
  } catch (error) {
    return error;
  }
}
