/** Running jobs as transactions, and what is answered. Source: API specification, sections 1.2, 1.6 and 17. */

import type { Database, Outcome, Transaction } from '../database/database.ts';
import type { Gate } from '../database/gate.ts';
import { entityTag, matchesTag } from '../entity-tag.ts';
import { errorBody, PlatformError, toPlatformError } from '../errors.ts';
import { type Answer, type AnswerWriter, createAnswerWriter } from '../json/answer.ts';
import { forbidden } from '../query/invalid.ts';
import type { ReadPlan } from '../query/plan.ts';
import { postgres, type SqlDialect } from '../sql/dialects/index.ts';
import type { HistoryKeeper } from './history.ts';
import type { AnswerKeeper, KeptAnswer, KeyedRequest } from './idempotency.ts';
import type { Guard, Job, WriteRequest } from './job.ts';
import type { Keys } from './keys.ts';
import { lockRows } from './lock-rows.ts';
import type { TreeWatcher } from './tree/watch.ts';
import { untilAhead } from './until-ahead.ts';
import { type Touched, tellViolation } from './violation.ts';
import type { Wardens } from './warden.ts';

/** Options of the executor. */
export interface PerformerOptions {
  readonly database: Pick<Database, 'transaction' | 'briefTransaction'>;
  /** SQL dialect. Default: PostgreSQL. */
  readonly dialect?: SqlDialect;
  /** Throws SERVICE_UNAVAILABLE for a statement about a collection that no longer fits the database. */
  readonly gate: Gate;
  /** Null where the platform's own tables are not installed. */
  readonly history: HistoryKeeper | null;
  readonly wardens: Wardens;
  readonly keeper: AnswerKeeper | null;
  /** Told of every transaction that was committed; the answer waits for what it gives. */
  readonly committed?: (transaction: Transaction) => Promise<void> | undefined;
}

/** Result of a write, and how its answer is read. */
export interface Written {
  readonly echo: Job['echo'];
  readonly keys: Keys | null;
  /** The answer, where the write has given it. */
  readonly rows?: Answer;
}

/** A write as transactions run it. */
export interface Work<T = Written> {
  /** Writes. Runs again from the start when the transaction does. */
  run(transaction: Transaction): Promise<T>;
  /** How many rows it writes, where it runs one brief statement and is done. */
  brief?(): number | undefined;
  /** Collections and names by which errors of the database are explained, as far as they are known by now. */
  touched(): readonly Touched[];
  /** True if an error only means that another request was faster, so that the work is done again from the start. */
  readonly overtaken?: (error: unknown) => boolean;
  /** The transaction of the last run was committed. */
  committed(): void;
}

/** Runs jobs. */
export interface Performer {
  /** Turns a job into the body of a transaction. */
  workOf(request: WriteRequest, job: Job): Work;
  /** Gives the bytes of the answer, null for none. */
  once(work: Work): Promise<Buffer | null>;
  /**
   * Gives the answer that is kept under the key, or does the work and keeps its answer, also when that is an error, as
   * `failed` tells it: by default that of section 9.
   */
  keyed(
    keyed: KeyedRequest,
    prepare: () => Promise<Work>,
    failed?: (error: PlatformError) => KeptAnswer,
  ): Promise<KeptAnswer>;
  /** Reads the answer to a write while its transaction goes on. */
  answer(transaction: Transaction, written: Written): Promise<Buffer | null>;
  /** Judges what an item must be before it is written. */
  checkGuard(transaction: Transaction, guard: Guard): Promise<void>;
  /** Writes a job, which needs no guard any more, with its history. */
  write(transaction: Transaction, request: WriteRequest, job: Job, watcher?: TreeWatcher): Promise<Written>;
}

/** Finds the writer of a plan's answers; each is made once. */
type WriterOf = (plan: ReadPlan) => AnswerWriter;

/** Makes what runs jobs. */
export function createPerformer(options: PerformerOptions): Performer {
  const { database, keeper, gate } = options;
  const writerOf = rememberWriters();
  const checkOf = (transaction: Transaction, guard: Guard) =>
    checkGuard(guard, gate, writerOf, transaction, options.dialect);
  function end(work: Work, transaction: Transaction | undefined): Promise<void> | undefined {
    const following = transaction === undefined ? undefined : options.committed?.(transaction);
    work.committed();
    return following;
  }

  return {
    workOf(request, job) {
      let retelling = false;
      return {
        async run(transaction) {
          if (job.returned !== undefined && !retelling) {
            const rows = await job.returned({ transaction, caller: request.caller, gate });
            return { echo: job.echo, keys: null, rows };
          }
          if (job.guard !== undefined) await checkOf(transaction, job.guard);
          return writeJob(options, transaction, request, job);
        },
        brief: () => (retelling ? undefined : job.brief),
        touched: () => job.touched(),
        overtaken(error) {
          if (job.retold !== true || retelling || !isRefusal(error)) return job.overtaken?.(error) === true;
          retelling = true;
          return true;
        },
        committed() {},
      };
    },
    checkGuard: checkOf,
    write: (transaction, request, job, watcher) => writeJob(options, transaction, request, job, watcher),
    async once(work) {
      try {
        let latest: Transaction | undefined;
        const run = async (transaction: Transaction) => {
          latest = transaction;
          return finish(gate, writerOf, await work.run(transaction));
        };
        const answer = await untilAhead(work, () => {
          const rows = work.brief?.();
          return rows === undefined
            ? database.transaction(run)
            : database.briefTransaction(async (transaction) => (await run(transaction)).value, rows);
        });
        const following = end(work, latest);
        if (following !== undefined) await following;
        return answer();
      } catch (error) {
        throw tellViolation(error, work.touched());
      }
    },
    answer: (transaction, written) => answerNow(transaction, finish(gate, writerOf, written)),
    async keyed(keyed, prepare, failed = failedAnswer) {
      if (keeper === null) {
        throw new PlatformError('UNPROCESSABLE_ENTITY', 'Without the tables of the platform no answer can be kept.');
      }
      let work: Work | undefined;
      let ran = false;
      let latest: Transaction | undefined;
      try {
        const ready = await prepare();
        work = ready;
        const kept = await untilAhead(ready, () =>
          database.transaction(async (transaction) => {
            ran = false;
            latest = transaction;
            const stored = await keeper.claim(transaction, keyed);
            if (stored !== null) return { value: stored };
            ran = true;
            // The answer to keep must be known before the transaction ends.
            const body = await answerNow(transaction, finish(gate, writerOf, await ready.run(transaction)));
            const answer = { status: body === null ? 204 : 200, body };
            keeper.keep(transaction, keyed, answer);
            return { value: answer };
          }),
        );
        if (ran) await end(ready, latest);
        return kept;
      } catch (thrown) {
        const error = toPlatformError(tellViolation(thrown, work?.touched() ?? []));
        if (error.status >= 500 || error.status === 429) throw error;
        return keepFailure(database, keeper, keyed, failed(error));
      }
    },
  };
}

/** True if the request is at fault, so that nothing of it stays and it may run again. */
function isRefusal(error: unknown): boolean {
  return error instanceof PlatformError && error.status < 500;
}

function failedAnswer(error: PlatformError): KeptAnswer {
  return { status: error.status, body: Buffer.from(errorBody([error, ...error.others])) };
}

async function answerNow(
  transaction: Transaction,
  { value, last }: Outcome<() => Buffer | null>,
): Promise<Buffer | null> {
  if (last !== undefined) await transaction.run(last.statement, last.parameters, last.sink());
  return value();
}

/** Nothing of the request stays but its answer, unless another request has taken the key first. */
function keepFailure(
  database: PerformerOptions['database'],
  keeper: AnswerKeeper,
  keyed: KeyedRequest,
  answer: KeptAnswer,
): Promise<KeptAnswer> {
  return database.transaction(async (transaction) => {
    const stored = await keeper.claim(transaction, keyed);
    if (stored !== null) return { value: stored };
    keeper.keep(transaction, keyed, answer);
    return { value: answer };
  });
}

function rememberWriters(): WriterOf {
  const writers = new WeakMap<ReadPlan, AnswerWriter>();
  return function writerOf(plan) {
    const writer = writers.get(plan) ?? createAnswerWriter(plan);
    writers.set(plan, writer);
    return writer;
  };
}

/** Writes a job with its history. */
async function writeJob(
  { gate, history: keeper, wardens, dialect = postgres }: PerformerOptions,
  transaction: Transaction,
  { caller, sender, activity }: WriteRequest,
  { echo, work }: Job,
  watcher?: TreeWatcher,
): Promise<Written> {
  const history = keeper?.begin(transaction, gate, { user: caller.user, ...sender }, activity) ?? null;
  const keys = await work({
    transaction,
    caller,
    sender,
    dialect,
    gate,
    history,
    wardens,
    ...(watcher && { watcher }),
  });
  const kept = history?.finish();
  // Without a turn of the event loop where nothing has to be waited for: COMMIT goes with what was sent.
  if (kept !== undefined) await kept;
  return { echo, keys };
}

/** Returns the outcome of a transaction: the planned answer, read together with COMMIT. */
function finish(gate: Gate, writerOf: WriterOf, { echo, keys, rows: returned }: Written): Outcome<() => Buffer | null> {
  if (returned !== undefined) return { value: () => answerOf(returned) };
  if (echo === null) return { value: () => null };
  let rows = writerOf(echo.plan)();
  if (keys === null) return { value: () => rows.end() };
  gate(echo.plan.statement);
  const last = {
    statement: echo.plan.statement,
    parameters: echo.parameters(keys),
    sink() {
      rows = writerOf(echo.plan)();
      return rows;
    },
  };
  return { value: () => answerOf(rows), last };
}

/** Written items that the caller cannot read are not answered. */
function answerOf(rows: Answer): Buffer | null {
  return rows.items === 0 ? null : rows.end();
}

/** Holds the item still and compares what the caller reads of it with what he has read before. */
async function checkGuard(
  { wanted, collection, keys, read }: Guard,
  gate: Gate,
  writerOf: WriterOf,
  transaction: Transaction,
  dialect: SqlDialect = postgres,
): Promise<void> {
  if (read === null) throw forbidden();
  gate(read.plan.statement);
  const rows = writerOf(read.plan)();
  const locked = lockRows(transaction, dialect, collection.descriptor, keys, 'NO KEY UPDATE');
  await Promise.all([locked, transaction.run(read.plan.statement, read.parameters(keys), rows)]);
  if (rows.items === 0) throw forbidden();
  const etag = entityTag(rows.end());
  if (matchesTag(wanted, etag)) return;
  throw new PlatformError('UNPROCESSABLE_ENTITY', 'The item is not what "If-Match" says.', { etag });
}
