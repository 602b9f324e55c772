/** A write request prepared for execution, before any database access. */
import type { Caller } from '../caller.ts';
import type { NamedRows, Noted } from '../database/database.ts';
import type { DriftGuard } from '../drift-watch.ts';
import { forbidden, PlatformError } from '../errors.ts';
import type { FilterObject } from '../language/conditions/filter-syntax.ts';
import type { BoundedCache, CreateCache } from '../language/values/bounded-cache.ts';
import type { ReadLimits } from '../query/parse/request.ts';
import type { ReadPlan } from '../query/plan/plan.ts';
import { batchKey } from '../query/plan/plan-keys.ts';
import type { PlannedRead } from '../query/planner.ts';
import { readElements } from '../sql/array-text.ts';
import type { CollectionScope } from '../sql/scope.ts';
import type { Granted, WritableCollection, WriteScope } from './access/scope.ts';
import type { Written } from './checks/check.ts';
import { brokenRules, type KnownOthers } from './checks/known-values.ts';
import type { Batch } from './decode/batch.ts';
import { asMany, type Keys } from './decode/keys.ts';
import type { JudgedPayload } from './execute/run.ts';
import type { RequestOrigin, Running, Step } from './execute/running.ts';
import { isRefusal, Retry, type TransactionBody } from './execute/transaction-body.ts';
import { type AffectedConstraints, isOfRows, keysInBatch } from './execute/violation.ts';
import type { ReturnedImages } from './history/history.ts';
import {
  hasChecksFirst,
  hasChecksLate,
  mayBreakLate,
  plansOf,
  type StepForm,
  type StepPlanCache,
  writtenColumns,
} from './plan/plans.ts';
import type { CompleteStep, StepPlans } from './plan/statement.ts';
import {
  type PreparedReturning,
  prepareReturning,
  prepareSingletonRead,
  type Returning,
  type ReturningForm,
} from './returning.ts';
import type { DecodedTree, Group } from './tree/parse/group.ts';

/** A request that writes, apart from its body. */
export interface WriteRequest {
  readonly caller: Caller;
  /** As the address names it, so it may not exist. */
  readonly collection: string;
  /** Raw text of the address after the question mark. */
  readonly query: string;
  /** Origin of the request, as activity records it. */
  readonly sender: RequestOrigin;
  /** For a POST: the key under which its answer is kept. */
  readonly key?: string;
  /** For a request by key or of a singleton: the entity tags that the item may have. */
  readonly ifMatch?: string;
  /** Action that activity records for items not made or changed by an ordinary write. */
  readonly activity?: 'revert' | 'upload';
  /** True for the write of an invitation: it has its own rules, and no answer is prepared. */
  readonly inviting?: true;
  /** Written by an upload: the fields that the server fills in. */
  readonly uploading?: readonly string[];
  /** True for a part of a transaction whose owner makes it anew when it runs again. */
  readonly isPart?: true;
  /** True where the transaction of a part runs again, so that its rows are judged before they are written. */
  readonly judgesFirst?: boolean;
  /** The answer, where the query does not say it: prepared elsewhere, or null for none. */
  readonly returning?: (form: ReturningForm) => Returning | null;
}

/** A request with what it is judged by. */
export interface WriteContext extends WriteRequest {
  readonly scope: WriteScope;
  readonly limits: ReadLimits;
  /** Items that one request writes at most; null: as many as its body holds. */
  readonly maxItems: number | null;
  /** The text of the regular expression that passwords of users must match; null for none. */
  readonly passwordPattern: () => Promise<string | null>;
  readonly reads: BoundedCache<ReadPlan>;
  readonly echoes: BoundedCache<PreparedReturning>;
  readonly steps: StepPlanCache;
  /** Default: writes go step by step. */
  readonly seams?: WriteSeams;
  /** Errors in values of the address, reported unless names in the body are wrong. */
  readonly complaints: PlatformError[];
  /** Rows that history wants writes to return. Null where no history is kept, so that writes can return their items. */
  readonly images: ReturnedImages | null;
}

/** A request that is ready to run. */
export interface WritePlan extends Noted {
  /** Null when there is nothing to answer. */
  readonly returning: Returning | null;
  readonly guard?: Guard;
  /** Collections and names by which errors of the database are explained. */
  readonly affected: () => readonly AffectedConstraints[];
  /** True if an error only means that another request was faster, so that the plan runs again from the start. */
  readonly isConflict?: (error: unknown) => boolean;
  /** As `TransactionBody.isRace`. */
  readonly isRace?: (error: unknown) => boolean;
  /** Plans of its only step. Default: it may have several, which are noted as they run. */
  readonly step?: () => StepPlans;
  /** Plans of the steps of its last run. */
  readonly steps?: () => readonly StepPlans[];
  /** Stored items that it changes, where these are known and no others of their table change. */
  readonly named?: () => NamedRows | null;
  /** Does the same by fewer statements, or is refused. Then `work` runs in its place, and explains why. */
  readonly attempt?: (running: Running) => Promise<Keys | null>;
  /** Writes everything and gives the keys to answer, null for none. Runs again from the start when the transaction does. */
  readonly work: (running: Running) => Promise<Keys | null>;
}

/** Input of a plan: one step, whose items are made where `keys` is null, or a tree. */
type PreparedWrite =
  | { readonly kind: 'step'; readonly prepare: (plan?: ReadPlan) => PreparedStep; readonly keys: Keys | null }
  /** `ready` is absent where stored items decide what is written; `linked` is set where they are only linked. */
  | {
      readonly kind: 'tree';
      readonly root: Group;
      readonly ready: DecodedTree | undefined;
      readonly linked: LinkedStep | undefined;
      readonly many: boolean;
    };

/** The items at the top of a tree as one step, where the tree only links stored items below them. */
export interface LinkedStep {
  readonly prepare: (plan?: ReadPlan) => PreparedStep;
  readonly keys: Keys | null;
}

/** Room for ways past the steps of a write. */
export interface WriteSeams {
  complete(context: WriteContext, plan: WritePlan, prepared: PreparedWrite): WritePlan | Promise<WritePlan>;
  /** Completes a plan of new items that have not been looked at; undefined where they have to be. */
  recall(
    context: WriteContext,
    made: { readonly writable: WritableCollection; readonly items: readonly FilterObject[] },
    plan: WritePlan,
  ): WritePlan | undefined;
  readonly completeStep?: CompleteStep;
  /** Wraps the body of a transaction that runs a plan. */
  wrapBody(body: TransactionBody, plan: WritePlan, request: WriteRequest): TransactionBody;
}

export type CreateWriteSeams = (parts: {
  readonly driftGuard: DriftGuard;
  readonly createCache: CreateCache;
}) => WriteSeams;

/** Condition on an item before it is written (If-Match). Source: API specification, section 17. */
export interface Guard {
  /** Entity tags, one of which it must have, or `*`. */
  readonly expected: string;
  readonly collection: CollectionScope;
  /** Those of the item; for a singleton what finds them in its turn, null before its first write. */
  readonly keys: Keys | FindKeys;
  /** Read of a GET on the same address; null when the caller may read nothing. */
  readonly read: Pick<PlannedRead, 'plan' | 'statement' | 'parameters'> | null;
  readonly caller: Caller;
}

/** Finds keys in a transaction. */
export type FindKeys = (
  running: Pick<Running, 'transaction' | 'dialect' | 'driftGuard' | 'caller' | 'turn'>,
) => Promise<Keys | null>;

/** The collection that a request names. Throws FORBIDDEN where it has no key, or the class cannot write it at all. */
export function writableOf({ scope, collection }: WriteContext): WritableCollection {
  const writable = scope.collections.get(collection);
  if (writable === undefined || writable.collection.descriptor.key.length === 0) throw forbidden();
  return writable;
}

/** Prepares the answer of a request. */
export function returningOf(context: WriteContext, form: ReturningForm): Returning | null {
  if (context.inviting === true) return null;
  if (context.returning !== undefined) return context.returning(form);
  return prepareReturning({ ...readingOf(context), form, texts: context.echoes });
}

/** Input of a read at the address of a request, whose wrong values are reported later. */
function readingOf({ scope, caller, collection, query, limits, reads, complaints }: WriteContext) {
  const reportError = (error: PlatformError) => void complaints.push(error);
  return { scope, caller, collection, query, limits, plans: reads, reportError };
}

/** The guard of a request for a singleton, where it wants one. */
export function guardOfSingleton(
  context: WriteContext,
  collection: CollectionScope,
  keys: FindKeys,
): Pick<WritePlan, 'guard'> {
  const { ifMatch: expected, caller } = context;
  if (expected === undefined) return {};
  return { guard: { expected, collection, keys, read: prepareSingletonRead(readingOf(context)), caller } };
}

/** The guard of a request by key, where it wants one. */
export function guardOf(
  { ifMatch, caller }: WriteContext,
  collection: CollectionScope,
  keys: Keys,
  read: () => Returning | null,
): Pick<WritePlan, 'guard'> {
  if (ifMatch === undefined) return {};
  const returning = read();
  const planned = returning && { ...returning, parameters: returning.parameters(keys) };
  return { guard: { expected: ifMatch, collection, keys, read: planned, caller } };
}

/** Items that most answers by key are of, at most; more count as all of their table. */
const maxNamed = 128;

/** The items of keys, where these have one text each. */
export function namedItems(collection: CollectionScope, keys: Keys): Pick<WritePlan, 'named'> {
  return {
    named() {
      if (batchKey(collection) === undefined || keys.count > maxNamed) return null;
      return { table: collection.descriptor.table, keys: readElements(asMany(keys).values[0] ?? '{}').map(String) };
    },
  };
}

interface StepSetting {
  readonly placeOf: JudgedPayload['placeOf'];
  /** Every collection that the request writes. Default: that of the step. */
  readonly collections?: ReadonlySet<string>;
  /** As `Written.named`. Default: none. */
  readonly named?: Written['named'];
  /** As `Written.postponed`. Default: false. */
  readonly postponed?: boolean;
  /** As `Written.made`. Default: none. */
  readonly made?: Written['made'];
  /** As `JudgedPayload.names`. Default: those of the batch. */
  readonly names?: JudgedPayload['names'];
  /** The answer that the write is to return itself, if it can. */
  readonly plan?: ReadPlan;
}

/** A step without the keys of its items. */
export type PreparedStep = Omit<Step, 'keys' | 'lenient'>;

/** A plan that runs again when it is refused, judging first: what refuses it first would tell of hidden rows. */
export function judgedFirst(unnoted: WritePlan, isAgain = false): WritePlan {
  const plan = notingSteps(unnoted);
  const retry = new Retry(isAgain);
  const isRace = (error: unknown): boolean => plan.isConflict?.(error) === true;
  return {
    ...plan,
    isRace,
    isConflict: (error) => retry.runsAgain(isRace(error), () => needsChecksFirst(plan, error)),
    work: (running) => plan.work(retry.judgesFirst ? { ...running, judgesFirst: true } : running),
  };
}

/** A plan that notes the steps of each run. */
export function notingSteps(plan: WritePlan): WritePlan {
  if (plan.step !== undefined) return plan;
  const steps = new Set<StepPlans>();
  const begin = (plans: StepPlans): void => void steps.add(plans);
  return {
    ...plan,
    steps: () => [...steps],
    work(running) {
      steps.clear();
      return plan.work({ ...running, begin });
    },
  };
}

/** True for a refusal that may have left out checks which can be made before rows are written. */
export function needsChecksFirst({ step, steps }: Pick<WritePlan, 'step' | 'steps'>, error: unknown): boolean {
  const ran = step === undefined ? (steps?.() ?? []) : [step()];
  // A tree with broken rules ends at the first step that a unique key might refuse.
  const mayEnd = isOfRows(error) ? mayBreakLate : ({ mayBeTaken }: StepPlans) => mayBeTaken === true;
  if (step === undefined && isRefusal(error) && ran.some(mayEnd)) return true;
  // Other steps may find rows missing, which come before what the database says.
  const findsOthers = ran.length > 1 && ran.some(({ planFound }) => planFound !== undefined);
  if (isOfRows(error)) return findsOthers || ran.some(hasChecksFirst);
  // FORBIDDEN comes first, unless an earlier step breaks a rule that ends the request before.
  const isFirst = step !== undefined && error instanceof PlatformError && error.code === 'FORBIDDEN';
  return isRefusal(error) && !isFirst && ran.some(hasChecksLate);
}

export function completed(
  context: WriteContext,
  plan: WritePlan,
  prepared: PreparedWrite,
): WritePlan | Promise<WritePlan> {
  const { keys = null } = prepared.kind === 'step' ? prepared : {};
  const named = keys === null ? plan : { ...plan, ...namedItems(writableOf(context).collection, keys) };
  return context.seams?.complete(context, named, prepared) ?? named;
}

export function prepareStep(
  context: WriteContext,
  { writable, grant, all }: Granted,
  action: Written['action'],
  batch: Batch,
  form: StepForm,
  { placeOf, collections, named, postponed, made, names, plan }: StepSetting,
): PreparedStep {
  const { name } = writable.collection.descriptor;
  const written: Written = {
    scope: context.scope,
    writable,
    grant,
    action,
    columns: writtenColumns(batch),
    named: named ?? [],
    collections: collections ?? new Set([name]),
    postponed: postponed ?? false,
    ...(made && { made }),
  };
  return {
    action,
    plans: plansOf(
      context.steps,
      written,
      all,
      form,
      plan ?? context.images?.(writable.collection.descriptor),
      plan === undefined,
      context.seams?.completeStep,
    ),
    batch,
    payload: { collection: name, placeOf, names: names ?? namesOf(batch), batch },
  };
}

/** Returns the context by which errors of the database are explained when a batch is written; `others` as rules see them. */
export function affectedBy(
  context: WriteContext,
  { writable, grant }: Granted,
  batch: Batch,
  placeOf: JudgedPayload['placeOf'],
  others?: () => KnownOthers,
): AffectedConstraints {
  const { collection } = writable;
  const keysOf = keysInBatch(batch);
  return {
    scope: context.scope,
    collection,
    names: namesOf(batch),
    writable: new Set(grant.fields.keys()),
    findKeys: keysOf,
    broken: (cause, names) => brokenRules(grant, { batch, placeOf, names, ...(others && { others: others() }) }, cause),
  };
}

/** The names that payloads have: not those that only the server fills. */
export function namesOf({ columns }: Batch, completed: readonly (string | undefined)[] = []): ReadonlySet<string> {
  const payloadColumns = columns.filter(({ linked, field }) => !linked || !completed.includes(field.descriptor.name));
  return new Set(payloadColumns.map(({ field }) => field.descriptor.name));
}
