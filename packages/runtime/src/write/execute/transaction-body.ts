import type { NamedRows, Transaction } from '../../database/database.ts';
import type { RowContext } from '../../database/row-context.ts';
import { PlatformError } from '../../errors.ts';
import type { Answer } from '../../query/answer.ts';
import type { Keys } from '../decode/keys.ts';
import type { Returning } from '../returning.ts';
import { type AffectedConstraints, isOfRows } from './violation.ts';

/** Result of a write, and how its answer is read. */
export interface Written {
  readonly returning: Returning | null;
  readonly keys: Keys | null;
  /** The answer, where the write has given it. */
  readonly rows?: Answer;
}

export interface TransactionBody<T = Written> {
  /** Writes. Runs again from the start when the transaction does. */
  run(transaction: Transaction): Promise<T>;
  /** Number of rows that it writes, where it runs one brief statement and is done. */
  brief?(): number | undefined;
  /** As `WritePlan.named`. */
  readonly named?: () => NamedRows | null;
  /** Settings of its caller, where callers are passed on to policies. */
  readonly rowContext?: RowContext;
  /** Collections and names by which errors of the database are explained, as far as they are known by now. */
  affected(): readonly AffectedConstraints[];
  /** True if an error only means that another request was faster, so that the work is done again from the start. */
  readonly isConflict?: (error: unknown) => boolean;
  /** The same but for refusals after which rows are judged before they are written. Default: it is not clear which these are. */
  readonly isRace?: (error: unknown) => boolean;
  /** The transaction of the last run was committed. */
  committed(): void;
}

/** True if the request is at fault, so that nothing of it stays and it may run again. */
export function isRefusal(error: unknown): boolean {
  return error instanceof PlatformError && (error.status < 500 || isOfRows(error));
}

/** Maximum number of conflicts with other requests after which a write runs again; then it fails with the error. */
const maxConflicts = 3;

/** Runs work, again from the start when another request was faster. */
export async function retryOnConflict<T>(
  { isConflict }: Pick<TransactionBody, 'isConflict'>,
  run: () => Promise<T>,
): Promise<T> {
  for (let again = 0; ; again++) {
    try {
      return await run();
    } catch (error) {
      if (again >= maxConflicts || isConflict?.(error) !== true) throw error;
    }
  }
}

/** Way in which a refused write runs again. */
export class Retry {
  /** True if its rows are judged before they are written. */
  judgesFirst: boolean;
  #hadRace = false;

  constructor(isAgain = false) {
    this.judgesFirst = isAgain;
  }

  /** True if it runs again. After its first race it runs as it is, because triggers count only so. */
  runsAgain(isRace: boolean, needsChecks: () => boolean): boolean {
    const isFirst = isRace && !this.#hadRace;
    this.#hadRace = this.#hadRace || isRace;
    if (isFirst || this.judgesFirst || !needsChecks()) return isRace;
    this.judgesFirst = true;
    return true;
  }
}

/** A run of a transaction whose writes are prepared within it, so that they are made anew when it runs again. */
export interface PartsRun {
  /** As `WriteRequest.judgesFirst`. */
  readonly judgesFirst: boolean;
  /** Takes each write before it runs. */
  begun(work: TransactionBody): void;
}

/** The work of such a transaction, which runs again from the start after a conflict of its latest write. It answers nothing. */
export function bodyOfParts(run: (transaction: Transaction, parts: PartsRun) => Promise<void>): TransactionBody {
  let works: TransactionBody[] = [];
  const retry = new Retry();
  return withoutAnswer({
    run(transaction) {
      works = [];
      return run(transaction, { judgesFirst: retry.judgesFirst, begun: (work) => void works.push(work) });
    },
    affected: () => works.at(-1)?.affected() ?? [],
    isConflict(error) {
      const latest = works.at(-1);
      return retry.runsAgain(latest?.isRace?.(error) === true, () => latest?.isConflict?.(error) === true);
    },
    committed() {
      for (const work of works) work.committed();
    },
  });
}

/** The same work as one that answers nothing. */
export function withoutAnswer(work: TransactionBody<void>): TransactionBody {
  return {
    ...work,
    async run(transaction) {
      await work.run(transaction);
      return { returning: null, keys: null };
    },
  };
}
