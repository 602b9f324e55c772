import { PlatformError } from '../errors.ts';
import { refuseCalls, resolveFields, type Selection } from './fields.ts';
import {
  collectValues,
  type OpenValues,
  type ReadFilter,
  readFilter,
  refuseCallerPaths,
  refuseProblem,
} from './filter.ts';
import { forbidden } from './invalid.ts';
import type { ReadLimits, ReadRequest } from './parse-read.ts';
import type { ReadPlan } from './plan.ts';
import type { PlanCache } from './plan-cache.ts';
import { boundValues, isStreamed, planRead } from './plan-read.ts';
import type { CollectionScope, Scope } from './scope.ts';
import { type Selector, shapeOf } from './shape.ts';
import { checkSort, type NamedTerm, resolveSort } from './sort.ts';

/** A plan with the values that its request left open. */
export interface Prepared {
  readonly plan: ReadPlan;
  readonly values: readonly string[];
}

/** Keys that a request names: their parameters, and how many items they are. */
export interface NamedKeys {
  readonly values: readonly string[];
  readonly count: number;
}

/** A read whose parameters are well formed. */
export interface WantedRead {
  readonly scope: Scope;
  readonly limits: ReadLimits;
  readonly selector: Selector;
  readonly collection: string;
  readonly request: ReadRequest;
  /** Reads the keys that the request names; called at the stage of names. Absent for plain lists. */
  readonly keys?: (collection: CollectionScope) => NamedKeys;
}

/** Longer statements are rare and planned every time, so that the cache is bounded in bytes too. */
const longestCachedStatement = 65_536;

/** The names of a read, looked up. */
interface AuthorisedNames {
  readonly selection: Selection;
  readonly order: readonly NamedTerm[];
}

/**
 * The stages behind the syntax of single parameters, in the order of the specification (1.5): the filter's syntax, names,
 * values; then the plan of the request's shape, from the cache or new.
 *
 * The values are those of the filter, then of the keys, then limit and offset, as `planRead` expects them.
 */
export function prepareRead(plans: PlanCache<ReadPlan>, wanted: WantedRead): Prepared {
  const filter = readFilter(wanted.scope, wanted.collection, wanted.request.filter, wanted.limits);
  checkSyntax(wanted, filter);
  const collection = authoriseCollection(wanted);
  const keys = wanted.keys?.(collection) ?? { values: [], count: 0 };
  const request = collection.descriptor.singleton ? { ...wanted.request, limit: 1, offset: 0 } : wanted.request;
  const shape = shapeOf(wanted.selector, wanted.collection, request, filter.condition, keys.count);
  // A shape that has a plan has names that were looked up, so nothing but its values is left to judge.
  const known = filter.problems.length === 0 ? plans.get(shape) : undefined;
  const names = known ?? authoriseNames(wanted, collection);
  checkFilter(filter);
  const open = collectValues(wanted.scope, collection, filter.condition);
  const plan = 'statement' in names ? names : planNew({ ...wanted, request }, collection, names, filter, open, keys);
  if (known === undefined && plan.statement.text.length <= longestCachedStatement) plans.set(shape, plan);
  const bounds = wanted.selector === 'key' ? [] : boundValues(request.limit, request.offset);
  return { plan, values: [...open.values, ...keys.values, ...bounds] };
}

function checkSyntax({ scope, request }: WantedRead, filter: ReadFilter): void {
  refuseProblem(filter.problems, 'syntax');
  refuseCalls(scope, request.fields, 'fields');
  const sorted = request.sort.map((term) => term.path);
  refuseCalls(scope, sorted, 'sort');
}

/** A singleton has no items to name, and a collection without a key none that could be named. */
function authoriseCollection({ scope, collection: name, selector }: WantedRead): CollectionScope {
  const collection = scope.collections.get(name);
  if (collection === undefined) throw forbidden();
  if (selector === 'list') return collection;
  if (collection.descriptor.singleton) throw new PlatformError('ROUTE_NOT_FOUND');
  if (collection.descriptor.key.length === 0) throw forbidden();
  return collection;
}

function authoriseNames({ scope, request, limits }: WantedRead, collection: CollectionScope): AuthorisedNames {
  const selection = resolveFields(scope, collection, request.fields, limits);
  return { selection, order: resolveSort(scope, collection, request.sort) };
}

function checkFilter({ problems, condition }: ReadFilter): void {
  refuseProblem(problems, 'name');
  refuseCallerPaths(condition);
  refuseProblem(problems, 'value');
}

function planNew(
  { scope, selector, request, limits }: WantedRead,
  { descriptor }: CollectionScope,
  { selection, order }: AuthorisedNames,
  { condition }: ReadFilter,
  open: OpenValues,
  keys: NamedKeys,
): ReadPlan {
  const { limit, offset, meta } = request;
  return planRead({
    scope,
    selection,
    condition,
    order: checkSort(order),
    limit,
    offset,
    meta,
    selector,
    many: selector !== 'key' && !descriptor.singleton,
    streamed: selector !== 'key' && isStreamed(limit, selector === 'keys' ? keys.count : undefined),
    nestedLimit: Math.min(limits.defaultLimit, limits.maxLimit ?? limits.defaultLimit),
    operands: open.operands,
    values: open.values.length,
  });
}
