import type { Condition } from '../contract/index.ts';
import { PlatformError } from '../errors.ts';
import type { Row } from '../sql/row.ts';
import { refuseUnknownFunctions } from './calls.ts';
import { type ResolvedFields, resolveFields } from './fields.ts';
import {
  collectValues,
  type OpenValues,
  type ReadFilter,
  readFilter,
  refuseCallerPaths,
  refuseProblem,
  relationsOf,
} from './filter.ts';
import { forbidden, invalidQuery } from './invalid.ts';
import {
  authoriseNested,
  checkNested,
  collectNested,
  isSound,
  type NestedOrders,
  type NestedRead,
  type NestedReads,
  nestedRelationsOf,
  readNested,
  refuseNestedSyntax,
} from './nested.ts';
import type { ReadLimits, ReadRequest } from './parse-read.ts';
import type { ReadPlan } from './plan.ts';
import { boundValues } from './plan-bounds.ts';
import { longestCachedStatement, type PlanCache } from './plan-cache.ts';
import { isStreamed, planRead, planTargets, type ReadQuery } from './plan-read.ts';
import { prepareAggregate } from './prepare-aggregate.ts';
import { type CollectionScope, exportScope, type Scope } from './scope.ts';
import { withSearch } from './search.ts';
import { type Selector, shapeOf } from './shape.ts';
import { checkSort, type OrderTerm, resolveSort } from './sort.ts';

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
  /** For `targets`: which rows may be written. */
  readonly permitted?: (row: Row) => string;
}

/** More values than this do not fit into the parameters of one statement beside those of rules. */
const mostValues = 32_000;

/** The conditions of a read: its filter, and those of `deep`. */
interface Conditions {
  readonly filter: ReadFilter;
  readonly nested: NestedReads;
}

/** The names of a read, looked up. */
interface AuthorisedNames extends ResolvedFields {
  readonly order: readonly OrderTerm[];
}

/** What a shape is planned from. */
interface Planned {
  readonly names: AuthorisedNames;
  readonly orders: NestedOrders;
  readonly open: OpenValues;
  readonly positions: ReadonlyMap<NestedRead, number>;
  readonly keys: NamedKeys;
  readonly condition: Condition;
}

/**
 * The stages behind the syntax of single parameters, in the order of the specification (1.5): the syntax of filters,
 * names, values; then the plan of the request's shape, from the cache or new.
 *
 * The values are those of filter and search, of nested lists, of the keys, then limit and offset, as `planRead` expects
 * them.
 */
export function prepareRead(plans: PlanCache<ReadPlan>, asked: WantedRead): Prepared {
  const { exported, aggregate } = asked.request;
  const scope = exported === undefined ? asked.scope : exportScope(asked.scope);
  const wanted = { ...asked, scope };
  if (aggregate !== undefined) return prepareAggregate(plans, wanted, aggregate);
  const conditions = readConditions(wanted);
  const { filter, nested } = conditions;
  checkSyntax(wanted, conditions);
  const collection = authoriseCollection(wanted);
  const keys = wanted.keys?.(collection) ?? { values: [], count: 0 };
  const request = collection.descriptor.singleton ? { ...wanted.request, limit: 1, offset: 0 } : wanted.request;
  const condition = withSearch(filter.condition, collection, request.search);
  const shape = shapeOf(wanted.selector, wanted.collection, request, condition, nested, keys.count);
  // A shape that has a plan has names that were looked up, so nothing but its values is left to judge.
  const known = filter.problems.length === 0 && isSound(nested) ? plans.get(shape) : undefined;
  const names = known ?? authoriseNames(wanted, collection, nested);
  const orders = authoriseNested(scope, nested);
  checkConditions(conditions, orders);
  const open: OpenValues = { operands: new Map(), values: [] };
  collectValues(open, scope, collection, condition);
  const positions = collectNested(open, scope, nested);
  if (known === undefined && relationsOf(condition) + nestedRelationsOf(nested) > wanted.limits.filterRelations) {
    throw invalidQuery('The filters look through too many relations.');
  }
  if (open.values.length > mostValues) throw invalidQuery('The query has too many values.');
  const plan =
    'statement' in names
      ? names
      : planNew({ ...wanted, request }, collection, { names, orders, open, positions, keys, condition });
  if (known === undefined && plan.statement.text.length <= longestCachedStatement) plans.set(shape, plan);
  const bounds = wanted.selector === 'key' ? [] : boundValues(request.limit, request.offset);
  return { plan, values: [...open.values, ...keys.values, ...bounds] };
}

function readConditions({ scope, collection, request, limits }: WantedRead): Conditions {
  const top = { collection: scope.collections.get(collection), aliases: request.alias };
  return {
    filter: readFilter(scope, collection, request.filter, limits),
    nested: readNested(scope, top, request.deep, limits),
  };
}

function checkSyntax({ scope, request }: WantedRead, { filter, nested }: Conditions): void {
  refuseProblem(filter.problems, 'syntax');
  refuseUnknownFunctions(scope, request.fields, 'fields', request.alias);
  const sorted = request.sort.map((term) => term.path);
  refuseUnknownFunctions(scope, sorted, 'sort');
  refuseNestedSyntax(scope, nested, request.alias);
}

/** A singleton has no items to name, and a collection without a key none that could be named. */
function authoriseCollection({ scope, collection: name, selector }: WantedRead): CollectionScope {
  const collection = scope.collections.get(name);
  if (collection === undefined) throw forbidden();
  if (selector === 'list') return collection;
  if (collection.descriptor.singleton && selector !== 'written') throw new PlatformError('ROUTE_NOT_FOUND');
  if (collection.descriptor.key.length === 0) throw forbidden();
  return collection;
}

function authoriseNames(
  { scope, request, limits }: WantedRead,
  collection: CollectionScope,
  reads: NestedReads,
): AuthorisedNames {
  const fields = resolveFields({ scope, collection, aliases: request.alias, reads, limits }, request.fields);
  return { ...fields, order: resolveSort(scope, collection, request.sort) };
}

function checkConditions({ filter, nested }: Conditions, orders: NestedOrders): void {
  refuseProblem(filter.problems, 'name');
  refuseCallerPaths(filter.condition);
  refuseProblem(filter.problems, 'value');
  checkNested(nested, orders);
}

function planNew(
  { scope, selector, request, limits, permitted }: WantedRead,
  { descriptor }: CollectionScope,
  of: Planned,
): ReadPlan {
  const { names, orders, open, positions, keys, condition } = of;
  for (const problem of names.late) throw problem;
  checkSort(names.order);
  const { limit, offset, meta } = request;
  const query: ReadQuery = {
    scope,
    selection: names.selection,
    condition,
    order: names.order,
    limit,
    offset,
    meta,
    selector,
    many: selector !== 'key' && (!descriptor.singleton || request.exported !== undefined),
    streamed: selector !== 'key' && isStreamed(limit, selector === 'keys' ? keys.count : undefined),
    nested: { limit: Math.min(limits.defaultLimit, limits.maxLimit ?? limits.defaultLimit), positions, orders },
    ...(request.exported && { exported: { format: request.exported, name: descriptor.name } }),
    operands: open.operands,
    values: open.values.length,
  };
  return permitted === undefined ? planRead(query) : planTargets(query, permitted);
}
