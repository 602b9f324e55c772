/**
 * Brief transactions that share one of the database. Those that come while others are under way are gathered, sent
 * together and committed together. So all of them pay for two round trips and one COMMIT.
 *
 * They stay apart all the same. Each sees the writes of those before it, as if they had run one after another. When one
 * fails nothing of any stays, and each runs again in a transaction of its own, so that none gets the error of another.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type TransactionRunner, Tries } from '../../database/connection-seams.ts';
import type { Database, Statement, Transaction } from '../../database/database.ts';
import { isNotPrimary } from '../../database/errors.ts';
import { mergeRows } from './batch-rows.ts';

/** Statements that share a transaction at most, and rows that they write: so many take a few milliseconds. */
const maxBatch = 32;
const maxRows = 256;
/** Shared transactions under way at once, and while they write `maxRows` together; others are gathered. */
const maxRunning = 4;
const maxLarge = 3;
/** Milliseconds after which a running transaction no longer delays others. */
const maxDelayMs = 10;
/** Milliseconds for which all run alone after one failed: many may be waiting for the same row. */
const apartMs = 100;

const noRows = { row: () => {} };

/** A brief transaction that waits, as far as the type of its result does not matter. */
interface Waiting {
  /** Settings of its caller: only those of equal ones share, as what waits for COMMIT runs under the last. */
  readonly under: string;
  /** Most rows that its statement writes. */
  readonly rows: number;
  /** Runs it in a transaction that may be shared; the function that it resolves with is called after the commit. */
  run(transaction: Transaction): Promise<() => void>;
  /** `tries` are those so far. */
  alone(tries?: Tries): void;
  refuse(error: unknown): void;
}

/** Runs brief transactions, as `Database.briefTransaction` says. */
export function createGathering(runner: TransactionRunner): Database['briefTransaction'] {
  const gathering = new Gathering(runner);
  return (work, rows = 1, context?) =>
    new Promise((resolve, reject) => {
      const alone = (tries?: Tries): void => {
        const run = async (transaction: Transaction) => ({ value: await work(transaction) });
        runner.run(run, tries).then(resolve, reject);
      };
      if (performance.now() < gathering.apartUntil) {
        alone();
        return;
      }
      const run = async (transaction: Transaction) => {
        const value = await work(transaction);
        return () => resolve(value);
      };
      gathering.add({ under: context?.key ?? '', rows, run, alone, refuse: reject });
    });
}

/** Brief transactions of one database that wait, and their number under way. */
class Gathering {
  /** Time until which each runs alone. */
  apartUntil = 0;
  readonly #runner: TransactionRunner;
  #waiting: Waiting[] = [];
  #starting = false;
  #underWay = 0;
  #rowsUnderWay = 0;

  constructor(runner: TransactionRunner) {
    this.#runner = runner;
  }

  add(entry: Waiting): void {
    this.#waiting.push(entry);
    this.#startSoon();
  }

  #startSoon(): void {
    if (this.#starting || this.#underWay >= (this.#rowsUnderWay < maxRows ? maxRunning : maxLarge)) return;
    this.#starting = true;
    setImmediate(this.#start);
  }

  readonly #start = (): void => {
    this.#starting = false;
    const together = shareOf(this.#waiting);
    const taken = new Set(together);
    this.#waiting = this.#waiting.filter((entry) => !taken.has(entry));
    if (together.length === 0) return;
    const rows = together.reduce((sum, entry) => sum + entry.rows, 0);
    this.#underWay++;
    this.#rowsUnderWay += rows;
    void Promise.race([this.#runAll(together), sleep(maxDelayMs, undefined, { ref: false })]).then(() => {
      this.#underWay--;
      this.#rowsUnderWay -= rows;
      this.#startSoon();
    });
    if (this.#waiting.length > 0) this.#startSoon();
  };

  async #runAll(together: readonly Waiting[]): Promise<void> {
    const { attempt, lockTimeout } = this.#runner;
    const [only] = together;
    let refused: unknown;
    if (together.length === 1) return only?.alone();
    try {
      const ran = await attempt((transaction) => runIn(transaction, together, lockTimeout));
      if (ran.outcome !== undefined) {
        for (const committed of ran.outcome.value) committed();
        return;
      }
      refused = isNotPrimary(ran.attempt.failure) ? ran.attempt.failure : undefined;
    } catch (error) {
      // The end of the transaction is unknown, so nothing may run again.
      for (const entry of together) entry.refuse(error);
      return;
    }
    this.apartUntil = performance.now() + apartMs;
    for (const entry of together) {
      const tries = new Tries();
      // A server that takes no writes is asked once more for each of them, not twice.
      if (refused !== undefined) tries.mayRunAgain(refused);
      entry.alone(tries);
    }
  }
}

/** Waiting writes that share the next transaction: the first in any case. */
function shareOf(waiting: readonly Waiting[]): readonly Waiting[] {
  const alike = waiting.filter(({ under }) => under === waiting[0]?.under);
  let rows = 0;
  const end = alike.findIndex((entry, index) => {
    rows += entry.rows;
    return index === maxBatch || (index > 0 && rows > maxRows);
  });
  return end < 0 ? alike : alike.slice(0, end);
}

/** Runs all of them at once, so that they go together. Rejects when one does, once all have ended. */
async function runIn(
  transaction: Transaction,
  together: readonly Waiting[],
  lockTimeout: Statement,
): Promise<{ value: (() => void)[] }> {
  const patient = transaction.run(lockTimeout, [], noRows);
  const merging = mergeRows(transaction);
  const running = together.map((entry) => entry.run(merging));
  merging.send();
  const ran = await Promise.allSettled([patient, ...running]);
  return {
    value: ran.flatMap((result) => (result.status === 'fulfilled' ? (result.value ?? []) : thrown(result.reason))),
  };
}

function thrown(reason: unknown): never {
  throw reason;
}
