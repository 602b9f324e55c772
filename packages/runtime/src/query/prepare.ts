import { invalidQuery } from '../errors.ts';
import type { Condition } from '../language/index.ts';
import { type BoundedCache, longestCachedStatement } from '../language/values/bounded-cache.ts';
import { refuseUnknownFunctions } from '../sql/calls.ts';
import type { StatementBuilder } from '../sql/row.ts';
import { type CollectionScope, exportScope, type Scope } from '../sql/scope.ts';
import { authoriseCollection } from './authorise/collection.ts';
import { type ResolvedFields, resolveFields } from './authorise/fields.ts';
import {
  collectValues,
  type OpenValues,
  openValues,
  readFilter,
  refuseProblem,
  refuseRelations,
  refuseSize,
  relationsOf,
} from './authorise/filter.ts';
import {
  authoriseNested,
  checkNested,
  collectNested,
  isSound,
  type NestedAggregates,
  type NestedOrders,
  type NestedRead,
  type NestedReads,
  nestedRelationsOf,
  readNested,
  refuseNestedSyntax,
} from './authorise/nested.ts';
import { shapeOf } from './authorise/shape.ts';
import {
  checkSort,
  type OrderTerm,
  orderBySearch,
  refuseUnlimited,
  resolveSort,
  withSearch,
} from './authorise/sort.ts';
import { checkCursor } from './parse/cursor.ts';
import { usualLimit } from './parse/request.ts';
import { refuseCost } from './plan/cost.ts';
import type { ReadPlan, ReadQuery } from './plan/plan.ts';
import { boundValues } from './plan/plan-bounds.ts';
import { beyondOf, isStreamed, planRead, planTargets } from './plan/plan-read.ts';
import { isLarge, refuseRows, rowBound, topRows } from './plan/row-bound.ts';
import { prepareAggregate } from './prepare-aggregate.ts';
import type { NamedKeys, Prepared, RequestedRead } from './prepared.ts';

/** The conditions of a read: its filter, and those of `deep`. */
type Conditions = ReturnType<typeof readConditions>;

/** The names of a read, looked up. */
interface AuthorisedNames extends ResolvedFields {
  readonly order: readonly OrderTerm[];
}

/** Inputs from which a shape is planned. */
interface Planned {
  readonly sourceIndex: number;
  readonly names: AuthorisedNames;
  readonly orders: NestedOrders;
  readonly aggregates: NestedAggregates;
  readonly open: OpenValues;
  readonly positions: ReadonlyMap<NestedRead, number>;
  readonly keys: NamedKeys;
  readonly condition: Condition;
}

/**
 * The stages after the syntax of single parameters, in the order of the specification (1.5). These are the syntax of
 * filters, names and values; then the plan of the request's shape, from the cache or new.
 *
 * The values are those of filter and search, of nested lists, of the keys, then limit and offset, as `planRead` expects
 * them.
 */
export function prepareRead(plans: BoundedCache<ReadPlan>, requested: RequestedRead): Prepared {
  const { exported, aggregate } = requested.request;
  const scope = exported === undefined ? requested.scope : exportScope(requested.scope);
  const desired = { ...requested, scope };
  if (aggregate !== undefined) return prepareAggregate(plans, desired, aggregate);
  const conditions = readConditions(desired);
  const { filter, nested } = conditions;
  checkSyntax(desired, conditions);
  const collection = authoriseCollection(scope, desired.collection, desired.selector, desired.request.archived);
  const keys = desired.keys?.(collection) ?? { values: [], count: 0 };
  const isOne = collection.descriptor.singleton || desired.source?.many === false;
  const request = isOne ? { ...desired.request, limit: 1, offset: 0 } : desired.request;
  const condition = withSearch(filter.condition, collection, request.search);
  const plain = shapeOf(desired.selector, desired.collection, request, condition, nested, keys.count);
  const { source } = desired;
  const shape = source === undefined ? plain : `${source.form} ${plain}`;
  // A shape that has a plan has names that were looked up, so nothing but its values is left to judge.
  const cached = filter.problems.length === 0 && isSound(nested) ? plans.get(shape) : undefined;
  const names = cached ?? authoriseNames(desired, collection, nested, condition);
  const orders = authoriseNested(scope, nested);
  const aggregates = checkConditions(scope, conditions, orders);
  const open = openValues();
  collectValues(open, scope, collection, condition);
  const positions = collectNested(open, scope, nested);
  const sourceIndex = open.values.length;
  if (source !== undefined) open.values.push(...source.values);
  if (cached === undefined) refuseRelations(relationsOf(condition) + nestedRelationsOf(nested), desired.limits);
  refuseSize(open, desired.limits);
  const plan =
    'statement' in names
      ? names
      : planNew({ ...desired, request }, collection, {
          sourceIndex,
          names,
          orders,
          aggregates,
          open,
          positions,
          keys,
          condition,
        });
  refuseCost(plan.cost, desired.limits.maxCost);
  const { limit, offset, cursor } = request;
  const usual = usualLimit(desired.limits);
  const maxRows = rowBound(topRows(desired.selector, limit, keys.count, usual), plan.nested ?? [], nested, usual);
  refuseRows(maxRows, desired.limits);
  const behind = cursor === undefined || plan.cursor === undefined ? [] : checkCursor(plan.cursor, cursor);
  if (cached === undefined && plan.statement.text.length <= longestCachedStatement) plans.set(shape, plan);
  const bounds = desired.selector === 'key' ? [] : boundValues({ limit, offset, beyond: beyondOf(cursor) });
  const values = [...open.values, ...keys.values, ...behind, ...bounds];
  return { plan, values, open, ...(cursor && { size: limit }), ...(isLarge(maxRows) && { large: true }) };
}

/** The syntax of filters, names unseen: the first of the stages of `prepareRead`. Throws INVALID_QUERY. */
export function checkReadSyntax(requested: RequestedRead): void {
  checkSyntax(requested, readConditions(requested));
}

function readConditions({ scope, collection, request, limits }: RequestedRead) {
  const top = { collection: scope.collections.get(collection), aliases: request.alias };
  return {
    filter: readFilter(scope, collection, request.filter, limits),
    nested: readNested(scope, top, request.deep, limits),
  };
}

function checkSyntax({ scope, request }: RequestedRead, { filter, nested }: Conditions): void {
  refuseProblem(filter.problems, 'syntax');
  refuseUnknownFunctions(scope, request.fields, 'fields', request.alias);
  const sorted = request.sort.map((term) => term.path);
  refuseUnknownFunctions(scope, sorted, 'sort');
  refuseNestedSyntax(scope, nested, request.alias);
}

function authoriseNames(
  { scope, request, limits }: RequestedRead,
  collection: CollectionScope,
  reads: NestedReads,
  condition: Condition,
): AuthorisedNames {
  const names = { scope, collection, aliases: request.alias, reads, condition, limits };
  return { ...resolveFields(names, request.fields), order: resolveSort(scope, collection, request.sort, condition) };
}

function checkConditions(scope: Scope, { filter, nested }: Conditions, orders: NestedOrders): NestedAggregates {
  refuseProblem(filter.problems, 'name');
  refuseProblem(filter.problems, 'value');
  return checkNested(scope, nested, orders);
}

function planNew(
  { scope, selector, request, limits, targets, source, passes }: RequestedRead,
  collection: CollectionScope,
  planned: Planned,
): ReadPlan {
  const { names, orders, aggregates, open, positions, keys, condition } = planned;
  const { descriptor } = collection;
  const singleton = selector === 'list' && descriptor.singleton && source === undefined;
  for (const problem of names.late) throw problem;
  checkSort(names.order);
  const order = orderBySearch(names.order, condition, collection);
  if (selector !== 'key') refuseUnlimited(condition, request.limit);
  const { limit, offset, meta, cursor } = request;
  if (cursor !== undefined && descriptor.singleton) throw invalidQuery('"cursor" is for lists.');
  const query: ReadQuery = {
    scope,
    selection: names.selection,
    condition,
    order,
    limit,
    offset,
    ...(cursor && { cursor }),
    meta,
    selector,
    // A singleton's file has rows as every other, of which there is one.
    many: source?.many ?? (selector !== 'key' && (!descriptor.singleton || request.exported !== undefined)),
    singleton,
    streamed: selector !== 'key' && isStreamed(limit, selector === 'keys' ? keys.count : undefined),
    nested: { limit: usualLimit(limits), positions, orders, aggregates },
    ...(request.exported && { exported: { format: request.exported, name: descriptor.name } }),
    operands: open.operands,
    values: open.values.length,
    ...(source && { source: (statement: StatementBuilder) => source.print(statement, planned.sourceIndex) }),
  };
  return targets === undefined ? planRead(query, passes) : planTargets(query, targets);
}
