/** One attempt at a transaction on MySQL or MariaDB, on a connection that it has to itself. */
import type { PoolConnection } from 'mysql2';
import type { CommitProof, Outcome, Parameter, RowSink, Statement, Transaction } from '../../../database/database.ts';
import { isLost, isNotPrimary, toDatabaseError } from '../../../database/errors.ts';
import { formParameters } from '../../../database/parameter-forms.ts';
import { toMysqlError } from './errors.ts';
import { lineOf } from './line.ts';
import { runParts } from './parts.ts';
import { inTime, run } from './run.ts';

/** Runs a function in a transaction once, and remembers how far it came. */
export class MysqlAttempt implements Transaction {
  /** The first thing that went wrong between us and the database, as it came. */
  failure: unknown;
  /** Proof of how the transaction ended, if it has left one. */
  evidence: CommitProof | undefined;
  /** True when COMMIT was sent and got no answer, so that only the evidence can tell how the transaction ended. */
  unknown = false;
  /** True when the connection can no longer be used. */
  broken = false;
  #begun = false;
  /** True if the session holds a lock that COMMIT does not release. */
  #holds = false;
  /** Settles before the next statement is sent: after an error the server would run it in a transaction of its own. */
  #last: Promise<void> = Promise.resolve();
  readonly #connection: PoolConnection;
  readonly #timeoutMs: number;

  /** `timeoutMs` is how long an answer may take before the connection counts as dead, infinity for ever. */
  constructor(connection: PoolConnection, timeoutMs: number) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
  }

  /** Runs the function and commits its result; else undoes everything and rejects with the error. */
  async execute<T>(work: (transaction: Transaction) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    try {
      const outcome = await work(this);
      if (this.#begun) await this.#commit(outcome);
      return outcome;
    } catch (error) {
      await this.#undo();
      throw error;
    } finally {
      await this.#unlock();
    }
  }

  run(statement: Statement, parameters: readonly Parameter[], sink: RowSink): Promise<void> {
    const running = this.#last.then(() => this.#send(statement, parameters, sink));
    this.#last = running.catch(() => {});
    return running;
  }

  /** The servers do not tell the end of a transaction by its number, so it is of no use. */
  identify(): void {}

  proof(commitProof: CommitProof): void {
    if (this.evidence === undefined || (this.evidence.isNumbered && !commitProof.isNumbered))
      this.evidence = commitProof;
  }

  async #commit<T>({ last }: Outcome<T>): Promise<void> {
    await this.#last;
    // A function may have passed over an error, but nothing is committed that is not whole.
    if (this.failure !== undefined) throw toDatabaseError(this.failure);
    if (last !== undefined) await this.run(last.statement, last.parameters, last.sink());
    try {
      await this.#order('COMMIT');
    } catch (error) {
      this.unknown = isLost(this.failure);
      throw error;
    }
  }

  async #send(statement: Statement, parameters: readonly Parameter[], sink: RowSink): Promise<void> {
    if (this.failure !== undefined) throw toDatabaseError(this.failure);
    if (!this.#begun) {
      this.#begun = true;
      await this.#order('START TRANSACTION READ WRITE');
    }
    if (statement.locksSession === true) this.#holds = true;
    const { text, forms, parts } = statement;
    const sent = formParameters(parameters, forms);
    await this.#watched(async () => {
      if (parts === undefined) await run(this.#connection, text, sent, sink);
      else await runParts(this.#connection, parts, sent, sink);
      sink.end?.();
    });
  }

  /** Ends the transaction, so that the connection can be used again or is gone. */
  async #undo(): Promise<void> {
    await this.#last;
    if (!this.#begun || this.broken) return;
    const { failure } = this;
    await this.#order('ROLLBACK').catch(() => {
      this.broken = true;
    });
    this.failure = failure;
  }

  async #unlock(): Promise<void> {
    if (!this.#holds || this.broken) return;
    const { failure } = this;
    await this.#order('DO RELEASE_ALL_LOCKS()').catch(() => {
      this.broken = true;
    });
    this.failure = failure;
  }

  #order(text: string): Promise<void> {
    return this.#watched(() => lineOf(this.#connection).order(text));
  }

  /** Waits for an answer, as long as one may take, and stores an error. */
  async #watched(result: () => Promise<void>): Promise<void> {
    try {
      await inTime(this.#timeoutMs, result());
    } catch (thrown) {
      const error = toMysqlError(thrown);
      this.failure ??= error;
      // One to a server that takes no writes is made anew, by then perhaps to another one.
      if (isLost(error) || isNotPrimary(error)) this.broken = true;
      throw toDatabaseError(error);
    }
  }
}
