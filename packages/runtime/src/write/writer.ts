/** Write requests, from bodies to committed transactions. Source: API specification, sections 1.5, 1.6 and 4. */
import type { CompiledApi, JsonValue } from '../contract/index.ts';
import type { Database, Outcome, Transaction } from '../database/database.ts';
import { type AnswerWriter, createAnswerWriter } from '../json/answer.ts';
import { defaultReadLimits, type ReadLimits } from '../query/parse-read.ts';
import type { ReadPlan } from '../query/plan.ts';
import { createPlanCache } from '../query/plan-cache.ts';
import { buildOpenScope } from '../query/scope.ts';
import type { PreparedEcho } from './echo.ts';
import { type BeginHistory, createHistory } from './history.ts';
import type { Desk, Job, WriteRequest } from './job.ts';
import { createStepPlans } from './plans.ts';
import { prepareCreate } from './prepare-create.ts';
import { prepareDelete, prepareDeleteOne } from './prepare-delete.ts';
import { prepareUpdate, prepareUpdateOne, prepareUpdateSingleton } from './prepare-update.ts';
import { createWriteScopes } from './scope.ts';
import { tellViolation } from './violation.ts';

/** What writing needs. */
export interface WriterOptions {
  readonly api: CompiledApi;
  readonly database: Pick<Database, 'transaction'>;
  /** Throws SERVICE_UNAVAILABLE for a statement about a collection that no longer fits the database. */
  readonly gate: (statement: string) => void;
  /** Limits of the queries in addresses and bodies. Default: those of the API specification, section 16. */
  readonly limits?: Partial<ReadLimits>;
  /** MAX_BATCH_MUTATION: items that one request writes at most. Default null: as many as its body holds. */
  readonly mostItems?: number | null;
  /** Plans kept per access class. Default 1,000. */
  readonly plans?: number;
}

/**
 * Runs write requests, each as one transaction. Every function gives the bytes of the answer, null when there is nothing
 * that the caller may read, and throws `PlatformError`.
 */
export interface Writer {
  create(request: WriteRequest, body: JsonValue | undefined): Promise<Buffer | null>;
  /** `key` is the segment of the path as it was sent. */
  updateOne(request: WriteRequest, key: string, body: JsonValue | undefined): Promise<Buffer | null>;
  update(request: WriteRequest, body: JsonValue | undefined): Promise<Buffer | null>;
  updateSingleton(request: WriteRequest, body: JsonValue | undefined): Promise<Buffer | null>;
  deleteOne(request: WriteRequest, key: string): Promise<null>;
  delete(request: WriteRequest, body: JsonValue | undefined): Promise<null>;
}

/** Makes the writer of a compiled API. */
export function createWriter(options: WriterOptions): Writer {
  const open = createDesks(options);
  const limits: ReadLimits = { ...defaultReadLimits, ...options.limits };
  const begin = createHistory(options.api, buildOpenScope(options.api), limits);
  const writers = rememberWriters();
  const perform = (job: Job, request: WriteRequest) => performJob(options, begin, writers, job, request);
  return {
    create: async (request, body) => perform(await prepareCreate(open(request), body), request),
    updateOne: async (request, key, body) => perform(await prepareUpdateOne(open(request), key, body), request),
    update: async (request, body) => perform(await prepareUpdate(open(request), body), request),
    updateSingleton: async (request, body) => perform(await prepareUpdateSingleton(open(request), body), request),
    async deleteOne(request, key) {
      await perform(prepareDeleteOne(open(request), key), request);
      return null;
    },
    async delete(request, body) {
      await perform(prepareDelete(open(request), body), request);
      return null;
    },
  };
}

/** Gives each request the scope and the caches of its access class. */
function createDesks({ api, limits, mostItems = null, plans = 1_000 }: WriterOptions): (request: WriteRequest) => Desk {
  const scopes = createWriteScopes(api);
  const all: ReadLimits = { ...defaultReadLimits, ...limits };
  const classes = new Map<string, Pick<Desk, 'scope' | 'reads' | 'echoes' | 'steps'>>();
  return function openDesk(request) {
    const { accessClass } = request.caller;
    const known = classes.get(accessClass) ?? {
      scope: scopes(accessClass),
      reads: createPlanCache<ReadPlan>(plans),
      echoes: createPlanCache<PreparedEcho>(plans),
      steps: createStepPlans(plans),
    };
    classes.set(accessClass, known);
    return { ...request, ...known, limits: all, mostItems };
  };
}

/** Finds the writer of a plan's answers; each is made once. */
type WriterOf = (plan: ReadPlan) => AnswerWriter;

function rememberWriters(): WriterOf {
  const writers = new WeakMap<ReadPlan, AnswerWriter>();
  return function writerOf(plan) {
    const known = writers.get(plan) ?? createAnswerWriter(plan);
    writers.set(plan, known);
    return known;
  };
}

/** Runs a job in a transaction and writes its answer. */
async function performJob(
  { database, gate }: WriterOptions,
  begin: BeginHistory | null,
  writerOf: WriterOf,
  { echo, touched, work }: Job,
  { caller, sender }: WriteRequest,
): Promise<Buffer | null> {
  async function run(transaction: Transaction): Promise<Outcome<() => Buffer | null>> {
    const history = begin?.(transaction, gate, { user: caller.user, ...sender }) ?? null;
    const keys = await work({ transaction, caller, gate, history });
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
  try {
    const answer = await database.transaction(run);
    return answer();
  } catch (error) {
    throw tellViolation(error, touched);
  }
}
