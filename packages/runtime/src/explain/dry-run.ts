/** Databases on which a write is tried without leaving anything: one that never answers, and one that takes all back. */
import type { Database, Outcome, Parameter, RowSink, Statement, Transaction } from '../database/database.ts';
import { ServerError } from '../database/errors.ts';
import { rowContextOf } from '../database/row-security/row-context.ts';

/** Parts of a database that writing needs. */
type WritableDatabase = Pick<Database, 'transaction' | 'briefTransaction' | 'read'>;

/** A statement that a write has sent. */
export interface SentStatement {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
}

/** A database to try a write on. */
export interface DryRun {
  readonly database: WritableDatabase;
  /** Statements that the latest try at the transaction has sent, in order. */
  readonly sent: () => readonly SentStatement[];
  /** True if the latest try got to its end, so that nothing would follow but COMMIT. */
  readonly complete: () => boolean;
}

/** Ends a rehearsal that gets no answer from a database; this is no failure. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/** A database that takes what a write sends until it waits for an answer, and then rejects with `Unanswered`. */
export function silentDryRun(): DryRun {
  const record = new Recorder();
  const silence: Transaction = {
    run() {
      const result = new Promise<never>((_, reject) => {
        // Statements that belong together are sent in one turn of the event loop.
        setImmediate(() => reject(new Unanswered('Statements have no results here.')));
      });
      // A caller that sends several statements waits for one of them only.
      result.catch(() => {});
      return result;
    },
    identify() {},
    proof() {},
  };
  return record.dryRun((work) => work(silence));
}

/** All constraints that wait for COMMIT speak now. */
const checkConstraints: Statement = { name: 'w_settle', text: 'SET CONSTRAINTS ALL IMMEDIATE' };

/**
 * A database on which every transaction is rolled back at its end, after it has answered. Effects that no rollback
 * undoes stay: numbers of sequences, and effects of triggers elsewhere. `deferrable`: true if constraints may wait for
 * COMMIT.
 */
export function rolledBackDryRun(database: Pick<Database, 'transaction'>, deferrable: boolean): DryRun {
  const record = new Recorder();
  return record.dryRun(async (work) => {
    let reached: unknown;
    try {
      await database.transaction(async (transaction) => {
        await work(transaction);
        if (deferrable) await transaction.run({ ...checkConstraints, ...record.side() }, [], { row: () => {} });
        reached = new TakenBack('The rehearsal is over.');
        throw reached;
      });
    } catch (error) {
      if (error !== reached) throw error;
    }
  });
}

/** Ends a transaction that has come to its end. */
class TakenBack extends Error {}

/** Remembers what is sent. */
class Recorder {
  #sent: SentStatement[] = [];
  #complete = false;
  /** Why the first statement failed that did. */
  #failure: unknown;

  /** A rehearsal on transactions that `run` begins and ends. */
  dryRun(run: (work: (transaction: Transaction) => Promise<void>) => Promise<void>): DryRun {
    const transaction = async <T>(work: (transaction: Transaction) => Promise<Outcome<T>>): Promise<T> => {
      let result: Outcome<T> | undefined;
      await run(async (inner) => {
        this.#sent = [];
        this.#complete = false;
        this.#failure = undefined;
        const seen = this.#watched(inner);
        result = await work(seen);
        const { last } = result;
        this.#complete = true;
        if (last !== undefined) await seen.run(last.statement, last.parameters, last.sink());
      }).catch((error: unknown) => {
        // Statements after one that failed fail for that alone, and may be waited for before it.
        throw isAborted(error) ? (this.#failure ?? error) : error;
      });
      if (result === undefined) throw new Error('a rehearsal ended without having begun');
      return result.value;
    };
    return {
      database: {
        transaction,
        briefTransaction: (work) => transaction(async (inner) => ({ value: await work(inner) })),
        read: () => Promise.reject(new Unanswered('Nothing is read outside of a write.')),
      },
      sent: () => this.#sent,
      complete: () => this.#complete,
    };
  }

  /** Side of the latest statement of a caller, as a member of another. */
  side(): Pick<Statement, 'runsAs'> {
    const latest = this.#sent.findLast(({ statement }) => rowContextOf(statement) !== undefined);
    return latest?.statement.runsAs === undefined ? { runsAs: 'server' } : { runsAs: latest.statement.runsAs };
  }

  #watched(inner: Transaction): Transaction {
    return {
      run: (statement: Statement, parameters: readonly Parameter[], sink: RowSink) => {
        this.#sent.push({ statement, parameters });
        const running = inner.run(statement, parameters, sink);
        running.catch((error: unknown) => {
          this.#failure ??= error;
        });
        return running;
      },
      identify: (id) => inner.identify(id),
      ...(inner.proof && { proof: (commitProof) => inner.proof?.(commitProof) }),
    };
  }
}

/** True if a statement was not run because one before it in its transaction has failed. */
function isAborted(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof ServerError && error.cause.sqlstate === '25P02';
}
