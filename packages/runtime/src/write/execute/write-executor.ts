/** Executes write plans as transactions, and reads their answers. Source: API specification, sections 1.2, 1.6 and 17. */

import type { Database, Outcome, Transaction } from '../../database/database.ts';
import { defaultSql, type SqlDialect } from '../../dialects/index.ts';
import type { DriftGuard } from '../../drift-watch.ts';
import { entityTag, matchesTag } from '../../entity-tag.ts';
import { errorBody, forbidden, PlatformError, toPlatformError } from '../../errors.ts';
import { derivedOnce } from '../../language/values/once.ts';
import { createWorkQueues } from '../../limits/work-queue.ts';
import { type Answer, type AnswerWriter, createAnswerWriter } from '../../query/answer.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import type { HistoryKeeper } from '../history/history.ts';
import type { Guard, WritePlan, WriteRequest, WriteSeams } from '../write-plan.ts';
import type { AnswerKeeper, KeptAnswer, KeyedRequest } from './idempotency.ts';
import { lockRows } from './lock-rows.ts';
import type { Running, SystemHooks, TreeWatcher } from './running.ts';
import { isRefusal, retryOnConflict, type TransactionBody, type Written } from './transaction-body.ts';
import { explainViolation } from './violation.ts';

export interface WriteExecutorOptions {
  readonly database: Pick<Database, 'transaction' | 'briefTransaction'>;
  /** SQL dialect. Default: `defaultSql`. */
  readonly dialect?: SqlDialect;
  /** Throws SERVICE_UNAVAILABLE for a statement about a collection that no longer fits the database. */
  readonly driftGuard: DriftGuard;
  /** Null where the platform's own tables are not installed. */
  readonly history: HistoryKeeper | null;
  readonly systemHooks: SystemHooks;
  readonly turn?: Running['turn'];
  readonly keeper: AnswerKeeper | null;
  /** Told of every transaction that was committed; the answer waits for what it gives. */
  readonly committed?: (transaction: Transaction) => Promise<void> | undefined;
  /** Wraps the bodies of transactions. Default: none is wrapped. */
  readonly wrapBody?: WriteSeams['wrapBody'];
}

export interface WriteExecutor {
  bodyOf(request: WriteRequest, plan: WritePlan): TransactionBody;
  /** Gives the bytes of the answer, null for none. */
  once(work: TransactionBody): Promise<Buffer | null>;
  /**
   * Returns the answer that is kept under the key, or does the work and keeps its answer. That may be an error, as
   * `failed` formats it: by default that of section 9.
   */
  keyed(
    keyed: KeyedRequest,
    prepare: () => Promise<TransactionBody>,
    failed?: (error: PlatformError) => KeptAnswer,
  ): Promise<KeptAnswer>;
  /** The answer that is kept under the key, without doing anything; null for none. */
  kept(keyed: KeyedRequest): Promise<KeptAnswer | null>;
  /** Reads the answer to a write while its transaction goes on. */
  answer(transaction: Transaction, written: Written): Promise<Buffer | null>;
  /** Judges what an item must be before it is written. */
  checkGuard(transaction: Transaction, guard: Guard): Promise<void>;
  /** Executes a plan whose guard was checked, with its history. */
  write(transaction: Transaction, request: WriteRequest, plan: WritePlan, watcher?: TreeWatcher): Promise<Written>;
}

/** Finds the writer of a plan's answers; each is made once. */
type WriterOf = (plan: ReadPlan) => AnswerWriter;

export function createWriteExecutor(options: WriteExecutorOptions): WriteExecutor {
  const { driftGuard, wrapBody = (body) => body } = options;
  const writerOf = derivedOnce(createAnswerWriter);
  const checkOf = (transaction: Transaction, guard: Guard) => checkGuard(options, guard, writerOf, transaction);
  // A request that is sent again before it is answered waits here, where it holds no connection to the database.
  const queueOfKey = createWorkQueues({ atOnce: 1, waiting: 64, longestWaitMs: 30_000 });

  return {
    bodyOf(request, plan) {
      const { attempt } = plan;
      let isRefused = attempt === undefined;
      const body: TransactionBody = {
        async run(transaction) {
          if (plan.guard !== undefined) await checkOf(transaction, plan.guard);
          const work = isRefused ? plan.work : (attempt ?? plan.work);
          return executePlan(options, transaction, request, { ...plan, work });
        },
        ...(request.caller.rowContext && { rowContext: request.caller.rowContext }),
        affected: () => plan.affected(),
        ...(plan.named && { named: plan.named }),
        isConflict(error) {
          if (isRefused || !isRefusal(error)) return plan.isConflict?.(error) === true;
          isRefused = true;
          return true;
        },
        ...(plan.isRace && { isRace: plan.isRace }),
        committed() {},
      };
      return wrapBody(body, plan, request);
    },
    checkGuard: checkOf,
    write: (transaction, request, plan, watcher) => executePlan(options, transaction, request, plan, watcher),
    once: (work) => runOnce(options, writerOf, work),
    answer: (transaction, written) => answerNow(transaction, finish(driftGuard, writerOf, written)),
    keyed: (keyed, prepare, failed) =>
      queueOfKey(`${keyed.caller} ${keyed.key}`).acquire(() => runKeyed(options, writerOf, keyed, prepare, failed)),
    kept: (keyed) =>
      options.database.transaction(async (transaction) => ({
        value: (await options.keeper?.find(transaction, keyed)) ?? null,
      })),
  };
}

async function runOnce(
  options: WriteExecutorOptions,
  writerOf: WriterOf,
  work: TransactionBody,
): Promise<Buffer | null> {
  const { database, driftGuard } = options;
  try {
    let latest: Transaction | undefined;
    const run = async (transaction: Transaction) => {
      latest = transaction;
      transaction.names?.(work.named?.() ?? null);
      return finish(driftGuard, writerOf, await work.run(transaction));
    };
    const result = await retryOnConflict(work, () => {
      const rows = work.brief?.();
      return rows === undefined
        ? database.transaction(run)
        : database.briefTransaction(async (transaction) => (await run(transaction)).value, rows, work.rowContext);
    });
    const following = end(options, work, latest);
    if (following !== undefined) await following;
    return result();
  } catch (error) {
    throw explainViolation(error, work.affected());
  }
}

async function runKeyed(
  options: WriteExecutorOptions,
  writerOf: WriterOf,
  keyed: KeyedRequest,
  prepare: () => Promise<TransactionBody>,
  failed: (error: PlatformError) => KeptAnswer = (error) => failedAnswer(error, keyed),
): Promise<KeptAnswer> {
  const { database, driftGuard } = options;
  const keeper = keeperOf(options);
  let work: TransactionBody | undefined;
  let ran = false;
  let latest: Transaction | undefined;
  try {
    const ready = await prepare();
    work = ready;
    const kept = await retryOnConflict(ready, () =>
      database.transaction(async (transaction) => {
        ran = false;
        latest = transaction;
        const stored = await keeper.claim(transaction, keyed);
        if (stored !== null) return { value: stored };
        ran = true;
        // The answer to keep must be known before the transaction ends.
        const body = await answerNow(transaction, finish(driftGuard, writerOf, await ready.run(transaction)));
        const response = { status: body === null ? 204 : 200, body };
        keeper.keep(transaction, keyed, response);
        return { value: response };
      }),
    );
    if (ran) await end(options, ready, latest);
    return kept;
  } catch (thrown) {
    const error = toPlatformError(explainViolation(thrown, work?.affected() ?? []));
    if (error.status >= 500 || error.status === 429) throw error;
    return keepFailure(database, keeper, keyed, failed(error));
  }
}

/** The keeper of answers. Throws UNPROCESSABLE_ENTITY where there is none. */
export function keeperOf({ keeper }: Pick<WriteExecutorOptions, 'keeper'>): AnswerKeeper {
  if (keeper !== null) return keeper;
  throw new PlatformError('UNPROCESSABLE_ENTITY', 'Without the tables of the platform no answer can be kept.');
}

/** Tells that a transaction was committed. The promise is there where the answer has to wait. */
function end(
  { committed }: WriteExecutorOptions,
  work: TransactionBody,
  transaction: Transaction | undefined,
): Promise<void> | undefined {
  const following = transaction === undefined ? undefined : committed?.(transaction);
  work.committed();
  return following;
}

function failedAnswer(error: PlatformError, { namesMissing }: KeyedRequest): KeptAnswer {
  return { status: error.status, body: Buffer.from(errorBody([error, ...error.others], namesMissing)) };
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
  database: WriteExecutorOptions['database'],
  keeper: AnswerKeeper,
  keyed: KeyedRequest,
  result: KeptAnswer,
): Promise<KeptAnswer> {
  return database.transaction(async (transaction) => {
    const stored = await keeper.claim(transaction, keyed);
    if (stored !== null) return { value: stored };
    keeper.keep(transaction, keyed, result);
    return { value: result };
  });
}

async function executePlan(
  { driftGuard, history: keeper, systemHooks, turn = null, dialect = defaultSql }: WriteExecutorOptions,
  transaction: Transaction,
  { caller, sender, activity }: WriteRequest,
  { returning, work }: WritePlan,
  watcher?: TreeWatcher,
): Promise<Written> {
  const history = keeper?.begin(transaction, driftGuard, { user: caller.user, ...sender }, caller, activity) ?? null;
  const keys = await work({
    transaction,
    caller,
    sender,
    dialect,
    driftGuard,
    history,
    systemHooks,
    turn,
    ...(watcher && { watcher }),
  });
  const kept = history?.finish();
  // Without a turn of the event loop where nothing has to be waited for: COMMIT goes with what was sent.
  if (kept !== undefined) await kept;
  return { returning, keys };
}

/** Returns the outcome of a transaction: the planned answer, read together with COMMIT. */
function finish(
  driftGuard: DriftGuard,
  writerOf: WriterOf,
  { returning, keys, rows: returned }: Written,
): Outcome<() => Buffer | null> {
  if (returned !== undefined) return { value: () => answerOf(returned) };
  if (returning === null) return { value: () => null };
  let rows = writerOf(returning.plan)();
  if (keys === null) return { value: () => rows.end() };
  driftGuard(returning.plan.statement);
  const last = {
    statement: returning.statement,
    parameters: returning.parameters(keys),
    sink() {
      rows = writerOf(returning.plan)();
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
  { driftGuard, dialect = defaultSql, turn = null }: WriteExecutorOptions,
  { expected: requested, collection, keys, read, caller }: Guard,
  writerOf: WriterOf,
  transaction: Transaction,
): Promise<void> {
  if (read === null) throw forbidden();
  driftGuard(read.plan.statement);
  const rows = writerOf(read.plan)();
  const { descriptor } = collection;
  const running = { transaction, dialect, driftGuard, caller, turn };
  const found = typeof keys === 'function' ? await keys(running) : keys;
  const locked =
    found && lockRows(transaction, dialect, { descriptor, keys: found, lock: 'NO KEY UPDATE', side: caller });
  await Promise.all([locked, transaction.run(read.statement, read.parameters, rows)]);
  if (rows.items === 0) throw forbidden();
  const etag = entityTag(rows.end());
  if (matchesTag(requested, etag)) return;
  throw new PlatformError('UNPROCESSABLE_ENTITY', 'The item is not what "If-Match" says.', { etag });
}
