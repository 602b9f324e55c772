/** Transactions in which code of a project takes part, and what it reads. */
import type { Caller } from '../../caller.ts';
import { type Database, markPart, type Transaction } from '../../database/database.ts';
import type { DriftGuard } from '../../drift-watch.ts';
import type { JsonValue } from '../../language/index.ts';
import { createAnswerWriter } from '../../query/answer.ts';
import type { Planner } from '../../query/planner.ts';
import { Retry, retryOnConflict, type TransactionBody } from '../execute/transaction-body.ts';
import { type AffectedConstraints, explainViolation } from '../execute/violation.ts';
import { needsChecksFirst, type WritePlan } from '../write-plan.ts';

export interface HookTransactions {
  /** Work that runs in an attempt of its own for each transaction. `judged` is what it is as far as that is known before. */
  withAttempts<T>(
    run: (attempt: TransactionAttempt) => Promise<T>,
    judged?: WritePlan,
    judgesFirst?: boolean,
  ): TransactionBody<T>;
  runAlone<T>(work: TransactionBody<T>): Promise<T>;
  /** Resolves when nothing runs any more that waited for a COMMIT. */
  settled(): Promise<void>;
}

/** Makes the scenes of a server. `reported` is told of the transactions of `runAlone` that were committed. */
export function createHookTransactions(
  database: Pick<Database, 'transaction'>,
  reported: (transaction: Transaction) => Promise<void> | undefined = () => undefined,
): HookTransactions {
  const running = new Set<Promise<void>>();

  function start(hook: () => Promise<void>): void {
    const run = hook().finally(() => running.delete(run));
    running.add(run);
  }

  return {
    withAttempts(run, judged, isAgain = false) {
      let latest: TransactionAttempt | undefined;
      const retry = new Retry(isAgain);
      const isRace = (error: unknown): boolean =>
        latest?.plans.some(({ isConflict }) => isConflict?.(error) === true) === true;
      const needsChecks = (error: unknown): boolean =>
        latest?.plans.some((plan) => needsChecksFirst(plan, error)) === true;
      return {
        async run(transaction) {
          const attempt = openAttempt(transaction, retry.judgesFirst);
          latest = attempt;
          try {
            return await run(attempt);
          } finally {
            attempt.close();
          }
        },
        affected: () => latest?.affected ?? judged?.affected() ?? [],
        isConflict: (error) => retry.runsAgain(isRace(error), () => needsChecks(error)),
        isRace,
        committed() {
          for (const hook of latest?.committed ?? []) start(hook);
        },
      };
    },
    async runAlone(work) {
      try {
        let latest: Transaction | undefined;
        const run = async (transaction: Transaction) => {
          latest = transaction;
          return { value: await work.run(transaction) };
        };
        const value = await retryOnConflict(work, () => database.transaction(run));
        const following = latest && reported(latest);
        work.committed();
        await following;
        return value;
      } catch (error) {
        throw explainViolation(error, work.affected());
      }
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Reads for code of a project as a list is read, in a transaction or without one: the items. */
export type HookRead = (
  run: Database['read'],
  caller: Caller,
  collection: string,
  query: JsonValue,
) => Promise<JsonValue>;

export function createHookReads(planner: Planner, driftGuard: DriftGuard): HookRead {
  return async function readWith(run, caller, collection, query) {
    const { plan, statement, parameters, size } = planner.search(caller, { name: collection }, { query });
    driftGuard(plan.statement);
    const rows = createAnswerWriter(plan)(size);
    await run(statement, parameters, rows);
    const result: { readonly data: JsonValue } = JSON.parse(rows.end().toString('utf8'));
    return result.data;
  };
}

/** A transaction with what hooks have begun in it. Made anew when the transaction runs again. */
export interface TransactionAttempt {
  readonly transaction: Transaction;
  /** Everything that was written, for errors of the database. */
  readonly affected: AffectedConstraints[];
  /** Everything that was written, for errors after which the transaction runs again. */
  readonly plans: Pick<WritePlan, 'isConflict' | 'step' | 'steps'>[];
  /** As `Running.judgesFirst`. */
  readonly judgesFirst: boolean;
  /** Functions that run when the transaction is committed. */
  readonly committed: (() => Promise<void>)[];
  /** From here on nothing more is sent: the connection belongs to others. */
  close(): void;
}

function openAttempt(transaction: Transaction, judgesFirst: boolean): TransactionAttempt {
  let closed = false;
  const part: Transaction = {
    run(statement, parameters, sink) {
      if (closed) return Promise.reject(new Error('A hook went on after its transaction had ended.'));
      return transaction.run(statement, parameters, sink);
    },
    identify: (id) => transaction.identify(id),
    proof: (commitProof) => transaction.proof?.(commitProof),
  };
  return {
    transaction: markPart(part, transaction),
    affected: [],
    plans: [],
    judgesFirst,
    committed: [],
    close() {
      closed = true;
    },
  };
}

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
