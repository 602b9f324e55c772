/** One try at a transaction in which code of a project takes part. */
import type { Transaction } from '../../database/database.ts';
import type { AffectedConstraints } from '../execute/violation.ts';

/** A transaction with what hooks have begun in it. Made anew when the transaction runs again. */
export interface TransactionAttempt {
  readonly transaction: Transaction;
  /** Everything that was written, for errors of the database. */
  readonly affected: AffectedConstraints[];
  /** Checks of everything that was written: true if an error only means that another request was faster. */
  readonly isConflict: ((error: unknown) => boolean)[];
  /** Functions that run when the transaction is committed. */
  readonly committed: (() => Promise<void>)[];
  /** From here on nothing more is sent: the connection belongs to others. */
  close(): void;
}

/** Starts an attempt at a transaction. */
export function openAttempt(transaction: Transaction): TransactionAttempt {
  let closed = false;
  return {
    transaction: {
      run(statement, parameters, sink) {
        if (closed) return Promise.reject(new Error('A hook went on after its transaction had ended.'));
        return transaction.run(statement, parameters, sink);
      },
      identify: (id) => transaction.identify(id),
      proof: (commitProof) => transaction.proof?.(commitProof),
    },
    affected: [],
    isConflict: [],
    committed: [],
    close() {
      closed = true;
    },
  };
}

/** Work that the hooks of one write have begun. */
export interface Begun {
  /** Watches a write of a hook, whether or not the hook waits for it. */
  follow<T>(work: Promise<T>): Promise<T>;
  /** Waits for all of them. Rejects with the first that failed, also when a hook passed it over. */
  resolve(): Promise<void>;
}

/** Starts to watch the hooks of one write; a write of a hook that has hooks itself is watched on its own. */
export function watchBegun(): Begun {
  const pending = new Set<Promise<unknown>>();
  let failure: { readonly thrown: unknown } | undefined;
  return {
    follow(work) {
      const watched: Promise<unknown> = work.then(
        () => pending.delete(watched),
        (thrown: unknown) => {
          // The half-done work of a statement must not stay, even if a hook caught the error.
          failure ??= { thrown };
          pending.delete(watched);
        },
      );
      pending.add(watched);
      return work;
    },
    async resolve() {
      while (pending.size > 0) await Promise.all(pending);
      if (failure !== undefined) throw failure.thrown;
    },
  };
}
