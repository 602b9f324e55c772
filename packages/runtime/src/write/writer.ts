/** Write requests, from bodies to committed transactions. Source: API specification, sections 1.5, 1.6 and 4. */

import type { Database, Transaction } from '../database/database.ts';
import { sqlDialects } from '../dialects/index.ts';
import { forbidden } from '../errors.ts';
import type { JsonValue } from '../language/index.ts';
import { type CreateCache, createEmpty } from '../language/values/bounded-cache.ts';
import { findOrCreate } from '../language/values/once.ts';
import { parseArchived } from '../query/parse/parse-parameters.ts';
import { parseQueryString } from '../query/parse/parse-query-string.ts';
import { defaultReadLimits } from '../query/parse/parse-read.ts';
import type { ReadLimits } from '../query/parse/request.ts';
import type { ReadPlan } from '../query/plan/plan.ts';
import { withEveryRow } from '../sql/archived/other-rows.ts';
import { buildOpenScope } from '../sql/scope.ts';
import { defaultFieldLimits, type FieldLimits } from '../system/fields/field-rules.ts';
import { logPlaceOf } from '../system/place.ts';
import { archivedWrites, createWriteScopes, type WriteScope } from './access/scope.ts';
import { invitingApi, uploadingApi } from './access/system-access.ts';
import { createAnswerKeeper, type KeptAnswer, type KeyedRequest, keyRequest } from './execute/idempotency.ts';
import { type BatchResponses, runInOrder } from './execute/in-order.ts';
import type { SystemHooks } from './execute/running.ts';
import { clusterTurn } from './execute/targets.ts';
import type { TransactionBody } from './execute/transaction-body.ts';
import {
  createWriteExecutor,
  keeperOf,
  type WriteExecutor,
  type WriteExecutorOptions,
} from './execute/write-executor.ts';
import { createHistory } from './history/history.ts';
import type { AddedField } from './hooks/hook-calls.ts';
import { createHookedWriter, type HookedWriter, type HookOptions } from './hooks/hooked-writer.ts';
import type { StepPlans } from './plan/statement.ts';
import type { PreparedReturning, Returning, ReturningForm } from './returning.ts';
import { type PreparedCommand, prepareCommand, type WriteCommand } from './write-command.ts';
import {
  type CreateWriteSeams,
  judgedFirst,
  returningOf,
  type WriteContext,
  type WriteRequest,
  type WriteSeams,
} from './write-plan.ts';

/** The platform's part in writes to its own collections. */
export interface SystemWrites {
  readonly hooks: SystemHooks;
  /** Told of every transaction that was committed; the answer waits for what it gives. */
  readonly committed: (transaction: Transaction) => Promise<void> | undefined;
}

export interface WriterOptions extends HookOptions {
  readonly database: Pick<Database, 'transaction' | 'briefTransaction' | 'read'>;
  /** Receives fields of hooks because of which a write is refused. Default: they are not reported. */
  readonly reportRefused?: (added: AddedField) => void;
  /** Limits of the queries in addresses and bodies. Default: those of the API specification, section 16. */
  readonly limits?: Partial<ReadLimits>;
  /** Limits of the fields of users. Default: those of the API specification, section 16. */
  readonly fieldLimits?: Partial<FieldLimits>;
  /** The text of the regular expression that passwords of users must match. Default: none. */
  readonly passwordPattern?: () => Promise<string | null>;
  /** MAX_BATCH_MUTATION: items that one request writes at most. Default null: as many as its body holds. */
  readonly maxItems?: number | null;
  /** IDEMPOTENCY_TTL: how long the answer to a request with a key is kept, in milliseconds. Default: a day. */
  readonly answerTtlMs?: number;
  /** Default: nothing is kept. */
  readonly createCache?: CreateCache;
  /** Room for ways past the steps. Default: writes go step by step. */
  readonly createSeams?: CreateWriteSeams;
  /** The platform's part in writes to its own collections. Default: it has none. */
  readonly system?: SystemWrites;
}

/** A request that its key, where it has one, makes happen once; `collection` tells its address apart from others. */
export type OnceRequest = Pick<WriteRequest, 'caller' | 'sender' | 'collection' | 'query' | 'key'>;

/** Takes the key of a request in a transaction and keeps the answer under it, as an `AnswerKeeper` does. */
export interface KeepIn {
  claim(transaction: Transaction): Promise<KeptAnswer | null>;
  keep(transaction: Transaction, result: KeptAnswer): void;
}

/** Runs write requests, each a transaction. They give the answer's bytes, null where nothing is readable, or throw. */
export interface Writer {
  /** The answer has a status of its own, because one that was kept may be that of an error. */
  create(request: WriteRequest, body: JsonValue | undefined): Promise<KeptAnswer>;
  /** `key` is the segment of the path as it was sent. */
  updateOne(request: WriteRequest, key: string, body: JsonValue | undefined): Promise<Buffer | null>;
  update(request: WriteRequest, body: JsonValue | undefined): Promise<Buffer | null>;
  updateSingleton(request: WriteRequest, body: JsonValue | undefined): Promise<Buffer | null>;
  deleteOne(request: WriteRequest, key: string): Promise<null>;
  delete(request: WriteRequest, body: JsonValue | undefined): Promise<null>;
  /** A write as part of another transaction, whose owner must report when it was committed. */
  workOf(command: WriteCommand): Promise<TransactionBody>;
  /** Tells that a transaction with such writes was committed; the answer waits for what it gives. */
  committed: SystemWrites['committed'];
  /** Runs several writes in order, as one transaction; `answer` and `failure` build the response, kept under a key. */
  inOrder(
    commands: readonly (WriteCommand | PreparedCommand)[],
    responses: BatchResponses,
    keyed?: KeyedRequest,
  ): Promise<Buffer>;
  /** Prepares a work and runs it in one transaction. `payload` is what the key of the request stands for. */
  once(
    request: OnceRequest,
    payload: JsonValue | undefined,
    prepare: () => Promise<TransactionBody>,
  ): Promise<KeptAnswer>;
  /** Keeps the answer of a transaction that runs elsewhere, under the key of its request; undefined without a key. */
  keepIn(request: OnceRequest, payload: JsonValue | undefined): KeepIn | undefined;
  /** The answer that `once` would repeat, for a work that is costly to prepare; null where there is none. */
  kept(request: OnceRequest, payload: JsonValue | undefined): Promise<KeptAnswer | null>;
  /** Prepares the answer of a write that is done elsewhere; null when the caller may read nothing of it. */
  returning(request: WriteRequest, form: ReturningForm): Returning | null;
  /** Read and write access for the code of a route. */
  openFor: HookedWriter['openFor'];
  /** Resolves when no hook runs any more that waited for a COMMIT. */
  settled(): Promise<void>;
}

export function createWriter(options: WriterOptions): Writer {
  const performing = executorOptions(options);
  const seams = options.createSeams?.({
    driftGuard: options.driftGuard,
    createCache: options.createCache ?? createEmpty,
  });
  const open = createContexts(options, performing.history?.images ?? null, seams);
  const executor = createWriteExecutor({ ...performing, ...(seams && { wrapBody: seams.wrapBody }) });
  const hooked = createHookedWriter({ ...options, open, executor });
  const workOf = async (command: WriteCommand): Promise<TransactionBody> =>
    hooked.waitFor(command)
      ? hooked.workOf(command)
      : executor.bodyOf(
          command.request,
          judgedFirst(await prepareCommand(open(command.request), command, command.body), command.request.judgesFirst),
        );
  const execute = async (command: WriteCommand) => executor.once(await workOf(command));
  const byKey = createOnce(executor, performing);
  return {
    ...byKey,
    create: (request, body) => byKey.once(request, body, () => workOf({ action: 'create', request, body })),
    updateOne: (request, item, body) => execute({ action: 'update', request, item, body }),
    update: (request, body) => execute({ action: 'update', request, body }),
    updateSingleton: (request, body) => execute({ action: 'update', request, body, singleton: true }),
    async deleteOne(request, item) {
      await execute({ action: 'delete', request, item, body: undefined });
      return null;
    },
    async delete(request, body) {
      await execute({ action: 'delete', request, body });
      return null;
    },
    workOf,
    committed: (transaction) => options.system?.committed(transaction),
    inOrder: (commands, responses, keyed) =>
      runInOrder(
        executor,
        (command) => ('prepare' in command ? command.prepare() : workOf(command)),
        commands,
        responses,
        keyed,
      ),
    returning(request, form) {
      const context = open(request);
      const returning = returningOf(context, form);
      const [problem] = context.complaints;
      if (problem !== undefined) throw problem;
      return returning;
    },
    openFor: hooked.openFor,
    settled: hooked.settled,
  };
}

/** Requests that their keys make happen once. */
function createOnce(executor: WriteExecutor, options: WriteExecutorOptions): Pick<Writer, 'once' | 'kept' | 'keepIn'> {
  const nameOf = (request: OnceRequest, payload: JsonValue | undefined) =>
    request.key === undefined ? undefined : keyRequest({ ...request, key: request.key }, payload);
  return {
    async once(request, payload, prepare) {
      const keyed = nameOf(request, payload);
      if (keyed !== undefined) return executor.keyed(keyed, prepare);
      const result = await executor.once(await prepare());
      return { status: result === null ? 204 : 200, body: result };
    },
    async kept(request, payload) {
      const keyed = nameOf(request, payload);
      return keyed === undefined ? null : executor.kept(keyed);
    },
    keepIn(request, payload) {
      const keyed = nameOf(request, payload);
      if (keyed === undefined) return undefined;
      const keeper = keeperOf(options);
      return {
        claim: (transaction) => keeper.claim(transaction, keyed),
        keep: (transaction, result) => keeper.keep(transaction, keyed, result),
      };
    },
  };
}

function executorOptions({
  api,
  database,
  driftGuard,
  limits,
  answerTtlMs = 86_400_000,
  system,
}: WriterOptions): WriteExecutorOptions {
  const location = logPlaceOf(api);
  return {
    database,
    dialect: sqlDialects[api.dialect],
    driftGuard,
    systemHooks: system?.hooks ?? new Map(),
    turn: clusterTurn(api),
    ...(system && { committed: system.committed }),
    history: createHistory(api, withEveryRow(buildOpenScope(api)), { ...defaultReadLimits, ...limits }),
    keeper: location === null ? null : createAnswerKeeper(location, answerTtlMs),
  };
}

/** Gives each request the scope and the caches of its access class. */
function createContexts(
  {
    api,
    limits,
    fieldLimits,
    maxItems = null,
    createCache = createEmpty,
    passwordPattern = async () => null,
  }: WriterOptions,
  images: WriteContext['images'],
  seams: WriteSeams | undefined,
): (request: WriteRequest) => WriteContext {
  const all: ReadLimits = { ...defaultReadLimits, ...limits };
  type Class = Omit<WriteContext, keyof WriteRequest | 'complaints'>;
  const readings = new Map<
    string,
    { readonly scopes: ReturnType<typeof createWriteScopes>; readonly classes: Map<string, Class> }
  >();
  /** The API as a kind of request sees it. */
  function readingOf({ inviting, uploading }: WriteRequest) {
    const kind = inviting === true ? 'inviting' : (uploading?.join(',') ?? '');
    return findOrCreate(readings, kind, () => {
      const seen = inviting === true ? invitingApi(api) : uploading === undefined ? api : uploadingApi(api, uploading);
      const scopes = createWriteScopes(seen, { ...defaultFieldLimits, ...fieldLimits });
      return { scopes, classes: new Map<string, Class>() };
    });
  }
  return function openDesk(request) {
    const { accessClass } = request.caller;
    const { scopes, classes } = readingOf(request);
    const archived = asksArchived(request, all) ? request.collection : null;
    const name = archived === null ? accessClass : JSON.stringify([accessClass, archived]);
    const opened = findOrCreate(classes, name, () => ({
      scope: archived === null ? scopes(accessClass) : withArchivedItems(scopes(accessClass), archived),
      reads: createCache<ReadPlan>(null),
      echoes: createCache<PreparedReturning>(null),
      steps: createCache<StepPlans>('writes'),
      limits: all,
      maxItems,
      passwordPattern,
      images,
      ...(seams && { seams }),
    }));
    return { ...opened, ...request, complaints: [] };
  };
}

const archivedNames: ReadonlySet<string> = new Set(['archived']);

/** True if the address asks for archived items as well. */
function asksArchived({ query }: WriteRequest, limits: ReadLimits): boolean {
  if (!query.includes('archived') && !query.includes('%')) return false;
  return parseArchived(parseQueryString(query, limits, archivedNames)) !== undefined;
}

function withArchivedItems(scope: WriteScope, collection: string): WriteScope {
  const found = archivedWrites(scope, collection);
  if (found === undefined) throw forbidden();
  return found;
}
