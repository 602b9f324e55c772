import type { Caller } from '../caller.ts';
import type { Parameter, Statement } from '../database/database.ts';
import { ServerError } from '../database/errors.ts';
import type { Binder } from '../database/parameter-forms.ts';
import { runAs } from '../database/row-context.ts';
import { invalidQuery, missingCollection } from '../errors.ts';
import { type CollectionDescriptor, type CompiledApi, decodeValue, type JsonValue } from '../language/index.ts';
import { type BoundedCache, type CreateCache, createEmpty } from '../language/values/bounded-cache.ts';
import { findOrCreate } from '../language/values/once.ts';
import { accessOf, buildOpenScope, buildScope, type CollectionScope, type Scope, withoutRows } from '../sql/scope.ts';
import { parseKeySegment, parseKeys } from './parse/keys.ts';
import { parseQueryString, type QueryTree } from './parse/parse-query-string.ts';
import { defaultReadLimits, parseKeyRequest, parseListRequest, parseSearch } from './parse/parse-read.ts';
import type { ReadLimits, ReadRequest } from './parse/request.ts';
import type { ReadPlan } from './plan/plan.ts';
import type { ReadPass } from './plan/plan-read.ts';
import { prepareRead } from './prepare.ts';
import { bindRows, type FindPrepared, type NamedKeys, type ReadyRead, type RequestedSource } from './prepared.ts';

/** Options of a planner; everything has a default. */
export interface PlannerOptions {
  /** Limits of requests. Default: those of the API specification, section 16. */
  readonly limits?: Partial<ReadLimits>;
  /** Default: nothing is kept. */
  readonly createCache?: CreateCache;
  readonly passes?: readonly ReadPass[];
  /** Completes plans of lists. Default: nothing. */
  readonly listPass?: ListPass;
  /** Makes what finds the prepared reads of an access class. Default: each is prepared. */
  readonly createFinder?: () => FindPrepared;
}

/** Completes plans of lists, and specialises them by the parameters of a run. */
export interface ListPass {
  readonly complete: ReadPass;
  specialise(plan: ReadPlan, parameters: readonly Parameter[]): ReadPlan;
}

/** A read that is ready to run. */
export interface PlannedRead {
  readonly plan: ReadPlan;
  /** Statement of the plan as one of the caller. */
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
  /** Set when the request named items by key: how many there must be. Fewer are FORBIDDEN. */
  readonly rows?: number;
  /** Set when the list is paged by cursor: items of a page at most, -1 for all that remain. */
  readonly size?: number;
  /** Set where its limits let it read many rows: see `Prepared.large`. */
  readonly large?: true;
  /** For a read by key whose answer shared caches may keep: the texts of the key. */
  readonly key?: readonly string[];
}

/** A collection as a request names it: the planner looks the name up, so it may be one that does not exist. */
export interface NamedCollection extends Pick<CollectionDescriptor, 'name'> {
  /** Set when the collection cannot be scanned yet: it is read as one without rows. */
  readonly notPopulated?: true;
}

/**
 * Turns read requests into statements: parse, authorise, plan, print. Nothing here talks to a database.
 *
 * Every function throws `PlatformError`: INVALID_QUERY for syntax, then FORBIDDEN for names, then INVALID_QUERY for
 * values (API specification, 1.5). `query` is the raw text after the `?`, or an already parsed tree.
 */
export type Planner = ReturnType<typeof createPlanner>;

interface ClassPlans {
  readonly scope: Scope;
  readonly byShape: BoundedCache<ReadPlan>;
  readonly find: FindPrepared;
}

/** Reads of one API: its limits, and the plans of its access classes. */
interface Planning {
  readonly limits: ReadLimits;
  readonly passes: readonly ReadPass[];
  /** Passes of lists, and the plan of a run. */
  readonly lists: { readonly passes: readonly ReadPass[]; readonly specialise: ListPass['specialise'] };
  readonly plansOf: (caller: Caller) => ClassPlans;
}

const prepareEach: FindPrepared = (_selector, _collection, _query, prepare) => prepare();

/** Creates the planner of a compiled API. Scopes are built once per access class, when it is first asked for. */
export function createPlanner(
  api: Pick<CompiledApi, 'collections' | 'access' | 'dialect'>,
  options: PlannerOptions = {},
) {
  const limits: ReadLimits = { ...defaultReadLimits, ...options.limits };
  const { passes = [], listPass } = options;
  const lists = {
    passes: listPass === undefined ? passes : [listPass.complete, ...passes],
    specialise: listPass?.specialise ?? ((plan: ReadPlan) => plan),
  };
  const planning: Planning = { limits, passes, lists, plansOf: rememberClasses(api, options) };
  return {
    /** `GET /items/:collection`. A singleton gives one item (`plan.many` false): its row, or its defaults. */
    list: (caller: Caller, named: NamedCollection, query: string | QueryTree): PlannedRead =>
      planList(planning, caller, named, query),
    /** `GET /items/:collection/:key`; `key` is the path segment as it was sent, still percent-encoded. */
    read: (caller: Caller, named: NamedCollection, key: string, query: string | QueryTree): PlannedRead =>
      planItem(planning, caller, named, key, query),
    /** Items of a collection among the rows of another source. */
    rows: (caller: Caller, collection: string, source: RequestedSource, query: QueryTree): PlannedRead =>
      planRows(planning, caller, collection, source, query),
    /** `SEARCH /items/:collection`; `body` is undefined when it was empty. INVALID_PAYLOAD for a body of another form. */
    search: (caller: Caller, named: NamedCollection, body: JsonValue | undefined): PlannedRead =>
      planSearch(planning, caller, named, body),
  };
}

function rememberClasses(
  api: Pick<CompiledApi, 'collections' | 'access' | 'dialect'>,
  { createCache = createEmpty, createFinder = () => prepareEach }: PlannerOptions,
): Planning['plansOf'] {
  const open = buildOpenScope(api);
  const classes = new Map<string, ClassPlans>();
  return function plansOf({ accessClass }) {
    return findOrCreate(classes, accessClass, () => {
      const scope = buildScope(api, accessOf(api, accessClass), open);
      return { scope, byShape: createCache<ReadPlan>('reads'), find: createFinder() };
    });
  };
}

/** Plans over a view that is about to be filled are not worth keeping. */
function plansOver({ plansOf }: Planning, caller: Caller, { name, notPopulated }: NamedCollection): ClassPlans {
  const plans = plansOf(caller);
  if (notPopulated !== true) return plans;
  const scope = withoutRows(plans.scope, name);
  return { scope, byShape: createEmpty<ReadPlan>(null), find: prepareEach };
}

function parse(query: string | QueryTree, limits: ReadLimits): QueryTree {
  return typeof query === 'string' ? parseQueryString(query, limits) : query;
}

function planList(planning: Planning, caller: Caller, named: NamedCollection, query: string | QueryTree): PlannedRead {
  const { limits, lists } = planning;
  const collection = named.name;
  const { scope, byShape, find } = plansOver(planning, caller, named);
  const prepared = find('list', collection, query, () => {
    const request = parseListRequest(parse(query, limits), limits);
    return prepareRead(byShape, { scope, limits, selector: 'list', collection, request, passes: lists.passes });
  });
  return bindList(planning, prepared, caller);
}

/** A read of many items with its values, by the plan that these values want. */
function bindList({ lists }: Planning, { plan, values, size, large }: ReadyRead, caller: Caller): PlannedRead {
  const parameters = bind(plan.binders, values, caller);
  const specialised = lists.specialise(plan, parameters);
  return {
    plan: specialised,
    statement: runAs(specialised.statement, caller),
    parameters,
    ...(size !== undefined && { size }),
    ...(large && { large }),
  };
}

function planItem(
  { limits, passes, plansOf }: Planning,
  caller: Caller,
  { name: collection }: NamedCollection,
  key: string,
  query: string | QueryTree,
): PlannedRead {
  const { scope, byShape, find } = plansOf(caller);
  let values: readonly string[] | undefined;
  const readKey = (collection: CollectionScope): NamedKeys => {
    values = parseKeySegment(collection, key);
    return { values: [], count: 1 };
  };
  const prepared = find('key', collection, query, () => {
    const request = parseKeyRequest(parse(query, limits), limits);
    return prepareRead(byShape, { scope, limits, selector: 'key', collection, request, keys: readKey, passes });
  });
  const named = values ?? parseKeySegment(collectionOf(scope, collection), key);
  return {
    plan: prepared.plan,
    statement: runAs(prepared.plan.statement, caller),
    parameters: bind(
      prepared.plan.binders,
      prepared.values.length === 0 ? named : [...prepared.values, ...named],
      caller,
    ),
    ...(prepared.large && { large: prepared.large }),
    ...(prepared.plan.statement.kept && { key: named }),
  };
}

function planRows(
  { limits, plansOf }: Planning,
  caller: Caller,
  collection: string,
  source: RequestedSource,
  query: QueryTree,
): PlannedRead {
  const { scope, byShape } = plansOf(caller);
  const request = parseListRequest(query, limits);
  if (request.aggregate !== undefined) throw invalidQuery('"aggregate" is for collections.');
  const requested = { scope, limits, selector: 'list', collection, request, source } as const;
  const { plan, values, size, large } = prepareRead(byShape, requested);
  const parameters = bind(plan.binders, values, caller);
  const statement = runAs(plan.statement, caller);
  return { plan, statement, parameters, ...(size !== undefined && { size }), ...(large && { large }) };
}

function planSearch(
  planning: Planning,
  caller: Caller,
  named: NamedCollection,
  body: JsonValue | undefined,
): PlannedRead {
  const { limits, lists } = planning;
  const collection = named.name;
  const { scope, byShape } = plansOver(planning, caller, named);
  const search = parseSearch(body, limits);
  let count: number | undefined;
  const readKeys = (collection: CollectionScope): NamedKeys => {
    const keys = parseKeys(collection, search.keys ?? []);
    count = keys.count;
    return keys;
  };
  const requested = { scope, limits, collection, request: search.request, passes: lists.passes } as const;
  const prepared =
    search.keys === undefined
      ? prepareRead(byShape, { ...requested, selector: 'list' })
      : prepareRead(byShape, { ...requested, selector: 'keys', keys: readKeys });
  const rows = count === undefined ? undefined : expectedRows(search.request, count);
  return { ...bindList(planning, prepared, caller), ...(rows !== undefined && { rows }) };
}

function collectionOf(scope: Scope, name: string): CollectionScope {
  const collection = scope.collections.get(name);
  if (collection === undefined) throw missingCollection(name);
  return collection;
}

/** Number of rows that named keys must bring, when nothing else in the request selects rows. */
function expectedRows(request: ReadRequest, count: number): number | undefined {
  const { filter, search, offset, limit, aggregate } = request;
  // Aggregations count the named items on their own.
  if (aggregate !== undefined) return count;
  return filter === undefined && search === undefined && offset === 0 && (limit === -1 || limit >= count)
    ? count
    : undefined;
}

/** Puts the values of a request and its caller into the order of a plan's parameters. */
export function bind(
  binders: readonly Binder[],
  values: readonly (string | null)[],
  caller: Caller,
): readonly Parameter[] {
  return binders.map((binder) => {
    if (binder.kind === 'fixed') return binder.value;
    if (binder.kind === 'value') return values[binder.index] ?? null;
    if (binder.kind === 'rows') return bindRows(binder, values);
    const value = binder.of === 'user' ? caller.user : caller.role;
    const decoded = value === null ? undefined : decodeValue(binder.type, value);
    return decoded?.ok === true ? decoded.value : null;
  });
}

/**
 * Makes the test of whether a read failed only because a materialized view was created `WITH NO DATA` and never refreshed.
 * The server refuses to scan it (55000, object_not_in_prerequisite_state); a list of it has no items yet.
 */
export function createPopulationTest(api: CompiledApi): (collection: string, error: unknown) => boolean {
  const views = new Set(
    api.fingerprint.objects.filter(({ kind }) => kind === 'm').flatMap(({ collections }) => collections),
  );
  return function isPopulationError(collection, error) {
    if (!views.has(collection) || !(error instanceof Error)) return false;
    return error.cause instanceof ServerError && error.cause.sqlstate === '55000';
  };
}
