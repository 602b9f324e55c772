/** Running jobs as transactions, and what is answered. Source: API specification, sections 1.2, 1.6 and 17. */
import type { Database, Outcome, Transaction } from '../database/database.ts';
import { entityTag, matchesTag } from '../entity-tag.ts';
import { errorBody, PlatformError, toPlatformError } from '../errors.ts';
import { type AnswerWriter, createAnswerWriter } from '../json/answer.ts';
import { forbidden } from '../query/invalid.ts';
import type { ReadPlan } from '../query/plan.ts';
import type { BeginHistory } from './history.ts';
import type { AnswerKeeper, KeptAnswer, KeyedRequest } from './idempotency.ts';
import type { Guard, Job, WriteRequest } from './job.ts';
import type { Keys } from './keys.ts';
import { lockRows } from './lock-rows.ts';
import { tellViolation } from './violation.ts';

/** What running jobs needs. */
export interface PerformerOptions {
  readonly database: Pick<Database, 'transaction'>;
  /** Throws SERVICE_UNAVAILABLE for a statement about a collection that no longer fits the database. */
  readonly gate: (statement: string) => void;
  /** Null where the platform's own tables are not installed. */
  readonly history: BeginHistory | null;
  readonly keeper: AnswerKeeper | null;
}

/** Runs jobs. */
export interface Performer {
  /** Gives the bytes of the answer, null for none. */
  once(request: WriteRequest, job: Job): Promise<Buffer | null>;
  /** Gives the answer that is kept under the key, or runs the job and keeps its answer, also when that is an error. */
  keyed(request: WriteRequest, keyed: KeyedRequest, prepare: () => Promise<Job>): Promise<KeptAnswer>;
}

/** Finds the writer of a plan's answers; each is made once. */
type WriterOf = (plan: ReadPlan) => AnswerWriter;

/** Makes what runs jobs. */
export function createPerformer(options: PerformerOptions): Performer {
  const { database, keeper } = options;
  const writerOf = rememberWriters();
  return {
    async once(request, job) {
      try {
        const answer = await untilAhead(job, () =>
          database.transaction((transaction) => runJob(options, writerOf, transaction, request, job)),
        );
        return answer();
      } catch (error) {
        throw tellViolation(error, job.touched);
      }
    },
    async keyed(request, keyed, prepare) {
      if (keeper === null) {
        throw new PlatformError('UNPROCESSABLE_ENTITY', 'Without the tables of the platform no answer can be kept.');
      }
      let job: Job | undefined;
      try {
        const ready = await prepare();
        job = ready;
        return await untilAhead(ready, () =>
          database.transaction(async (transaction) => {
            const known = await keeper.claim(transaction, keyed);
            if (known !== null) return { value: known };
            const { value, last } = await runJob(options, writerOf, transaction, request, ready);
            // What is kept must be known before the transaction ends.
            if (last !== undefined) await transaction.run(last.statement, last.parameters, last.sink());
            const body = value();
            const answer = { status: body === null ? 204 : 200, body };
            keeper.keep(transaction, keyed, answer);
            return { value: answer };
          }),
        );
      } catch (thrown) {
        const error = toPlatformError(tellViolation(thrown, job?.touched ?? []));
        if (error.status >= 500 || error.status === 429) throw error;
        return keepFailure(database, keeper, keyed, error);
      }
    },
  };
}

/** How often a job runs again that others have overtaken: afterwards it is told so. */
const mostOvertaken = 3;

async function untilAhead<T>({ overtaken }: Job, run: () => Promise<T>): Promise<T> {
  for (let again = 0; ; again++) {
    try {
      return await run();
    } catch (error) {
      if (again >= mostOvertaken || overtaken?.(error) !== true) throw error;
    }
  }
}

/** Nothing of the request stays but its answer, unless another request has taken the key first. */
function keepFailure(
  database: PerformerOptions['database'],
  keeper: AnswerKeeper,
  keyed: KeyedRequest,
  error: PlatformError,
): Promise<KeptAnswer> {
  return database.transaction(async (transaction) => {
    const known = await keeper.claim(transaction, keyed);
    if (known !== null) return { value: known };
    const answer = { status: error.status, body: Buffer.from(errorBody([error, ...error.others])) };
    keeper.keep(transaction, keyed, answer);
    return { value: answer };
  });
}

function rememberWriters(): WriterOf {
  const writers = new WeakMap<ReadPlan, AnswerWriter>();
  return function writerOf(plan) {
    const known = writers.get(plan) ?? createAnswerWriter(plan);
    writers.set(plan, known);
    return known;
  };
}

/** Writes, and says how the answer is read. */
async function runJob(
  { gate, history: begin }: PerformerOptions,
  writerOf: WriterOf,
  transaction: Transaction,
  { caller, sender }: WriteRequest,
  { echo, guard, work }: Job,
): Promise<Outcome<() => Buffer | null>> {
  if (guard !== undefined) await checkGuard(guard, gate, writerOf, transaction);
  const history = begin?.(transaction, gate, { user: caller.user, ...sender }) ?? null;
  const keys: Keys | null = await work({ transaction, caller, gate, history });
  history?.finish();
  if (echo === null) return { value: () => null };
  let rows = writerOf(echo.plan)();
  if (keys === null) return { value: () => rows.end() };
  gate(echo.plan.statement.text);
  const last = {
    statement: echo.plan.statement,
    parameters: echo.parameters(keys),
    sink() {
      rows = writerOf(echo.plan)();
      return rows;
    },
  };
  // What was written and cannot be read is not answered.
  return { value: () => (rows.items === 0 ? null : rows.end()), last };
}

/** Holds the item still and compares what the caller reads of it with what he has read before. */
async function checkGuard(
  { wanted, collection, keys, read }: Guard,
  gate: PerformerOptions['gate'],
  writerOf: WriterOf,
  transaction: Transaction,
): Promise<void> {
  if (read === null) throw forbidden();
  gate(read.plan.statement.text);
  const rows = writerOf(read.plan)();
  const locked = lockRows(transaction, collection.descriptor, keys);
  await Promise.all([locked, transaction.run(read.plan.statement, read.parameters(keys), rows)]);
  if (rows.items === 0) throw forbidden();
  const etag = entityTag(rows.end());
  if (matchesTag(wanted, etag)) return;
  throw new PlatformError('UNPROCESSABLE_ENTITY', 'The item is not what "If-Match" says.', { etag });
}
