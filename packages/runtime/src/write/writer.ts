/** Write requests, from bodies to committed transactions. Source: API specification, sections 1.5, 1.6 and 4. */
import type { CompiledApi, JsonValue } from '../contract/index.ts';
import type { Database, Outcome } from '../database/database.ts';
import { type AnswerWriter, createAnswerWriter } from '../json/answer.ts';
import { defaultReadLimits, type ReadLimits } from '../query/parse-read.ts';
import type { ReadPlan } from '../query/plan.ts';
import { createPlanCache } from '../query/plan-cache.ts';
import type { Planner } from '../query/planner.ts';
import { type Ask, prepareAsk } from './ask.ts';
import type { PreparedEcho } from './echo.ts';
import { createHookedWriter } from './hooked-writer.ts';
import type { Desk, Job, WriteRequest } from './job.ts';
import type { Keys } from './keys.ts';
import { createStepPlans } from './plans.ts';
import { createWriteScopes } from './scope.ts';
import { tellViolation } from './violation.ts';

/** What writing needs. */
export interface WriterOptions {
  readonly api: CompiledApi;
  readonly database: Pick<Database, 'transaction' | 'read'>;
  /** Plans the reads of hooks. */
  readonly planner: Planner;
  /** Milliseconds that one hook may take. */
  readonly patience: number;
  /** Takes what hooks throw when nobody can be answered any more. */
  readonly complain: (event: string, thrown: unknown) => void;
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
  /** Resolves when no hook runs any more that waited for a COMMIT. */
  settled(): Promise<void>;
}

/** Makes the writer of a compiled API. */
export function createWriter(options: WriterOptions): Writer {
  const open = createDesks(options);
  const writers = rememberWriters();
  const hooked = createHookedWriter({ ...options, open, finish: (job, keys) => finish(options, writers, job, keys) });
  async function perform(ask: Ask): Promise<Buffer | null> {
    const desk = open(ask.request);
    if (hooked.waitFor(ask)) return hooked.perform(ask);
    return performJob(options, writers, await prepareAsk(desk, ask, ask.body), ask.request);
  }
  return {
    create: (request, body) => perform({ action: 'create', request, body }),
    updateOne: (request, key, body) => perform({ action: 'update', request, key, body }),
    update: (request, body) => perform({ action: 'update', request, body }),
    updateSingleton: (request, body) => perform({ action: 'update', request, body, singleton: true }),
    async deleteOne(request, key) {
      await perform({ action: 'delete', request, key, body: undefined });
      return null;
    },
    async delete(request, body) {
      await perform({ action: 'delete', request, body });
      return null;
    },
    settled: hooked.settled,
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
  options: WriterOptions,
  writerOf: WriterOf,
  job: Job,
  { caller }: WriteRequest,
): Promise<Buffer | null> {
  const { database, gate } = options;
  try {
    const answer = await database.transaction(async (transaction) => {
      return finish(options, writerOf, job, await job.work({ transaction, caller, gate }));
    });
    return answer();
  } catch (error) {
    throw tellViolation(error, job.touched);
  }
}

/** What a transaction comes to whose job wrote these keys: the planned answer, read together with COMMIT. */
function finish(
  { gate }: WriterOptions,
  writerOf: WriterOf,
  { echo }: Job,
  keys: Keys | null,
): Outcome<() => Buffer | null> {
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
