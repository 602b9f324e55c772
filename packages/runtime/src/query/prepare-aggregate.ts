import type { Condition } from '../language/index.ts';
import { type BoundedCache, longestCachedStatement } from '../language/values/bounded-cache.ts';
import { refuseUnknownFunctions } from '../sql/calls.ts';
import type { CollectionScope } from '../sql/scope.ts';
import { authoriseAggregate, checkCalls, type resolveAggregate, resolveFlatAggregate } from './authorise/aggregate.ts';
import { authoriseCollection } from './authorise/collection.ts';
import { resolveFields } from './authorise/fields.ts';
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
import { checkHaving, collectHaving, readHaving, refuseHaving } from './authorise/having.ts';
import { authoriseNested, checkNested, readNested, refuseNestedSyntax } from './authorise/nested.ts';
import { aggregateShape, conditionShape, limitShape } from './authorise/shape.ts';
import { withSearch } from './authorise/sort.ts';
import type { AggregateRequest } from './parse/request.ts';
import { refuseCost } from './plan/cost.ts';
import type { ReadPlan } from './plan/plan.ts';
import { type AggregateQuery, planAggregate } from './plan/plan-aggregate.ts';
import { boundValues } from './plan/plan-bounds.ts';
import { isStreamed } from './plan/plan-read.ts';
import type { Prepared, RequestedRead } from './prepared.ts';

/** The conditions of an aggregation: its filter, its `having`, and those of `deep`. */
type Conditions = ReturnType<typeof readConditions>;

type Planned = Pick<AggregateQuery, 'collection' | 'names' | 'condition' | 'having'>;

/** The part of an aggregation that depends on the form of its answer. */
interface AnsweredRows {
  /** Tells it apart from others of the same shape. */
  readonly name: string;
  readonly resolve: typeof resolveAggregate;
}

const flatRows: AnsweredRows = { name: '', resolve: resolveFlatAggregate };

/**
 * The stages of an aggregation after the syntax of single parameters, in the order of the specification (1.5).
 *
 * The values are those of filter and search, of `having`, of the keys, then limit and offset, as `planAggregate` expects
 * them.
 */
export function prepareAggregate(
  plans: BoundedCache<ReadPlan>,
  requested: RequestedRead,
  aggregate: AggregateRequest,
  rows: AnsweredRows = flatRows,
): Prepared {
  const { scope, request, selector } = requested;
  const conditions = readConditions(requested, aggregate);
  checkSyntax(requested, aggregate, conditions);
  const collection = authoriseCollection(scope, requested.collection, selector, request.archived);
  const keys = requested.keys?.(collection).values ?? [];
  checkNames(requested, aggregate, collection, conditions);
  const names = rows.resolve(scope, collection, aggregate);
  checkHaving(collection, conditions.having);
  const condition = withSearch(conditions.filter.condition, collection, request.search);
  const having = conditions.having.condition;
  refuseRelations(relationsOf(condition) + relationsOf(having), requested.limits);
  const open = openValues();
  collectValues(open, scope, collection, condition);
  collectHaving(open, collection, having);
  refuseSize(open, requested.limits);
  const shape = rows.name + shapeOf(requested, aggregate, condition, having);
  const plan = plans.get(shape) ?? planNew(requested, { collection, names, condition, having }, open);
  refuseCost(plan.cost, requested.limits.maxCost);
  if (plan.statement.text.length <= longestCachedStatement) plans.set(shape, plan);
  return { plan, values: [...open.values, ...keys, ...boundValues(request)], open };
}

function readConditions({ scope, collection, request, limits }: RequestedRead, aggregate: AggregateRequest) {
  const level = scope.collections.get(collection);
  return {
    filter: readFilter(scope, collection, request.filter, limits),
    having: readHaving(scope, level, aggregate.having, limits),
    nested: readNested(scope, { collection: level, aliases: request.alias }, request.deep, limits),
  } as const;
}

function checkSyntax(
  { scope, collection, request }: RequestedRead,
  aggregate: AggregateRequest,
  { filter, having, nested }: Conditions,
): void {
  refuseProblem(filter.problems, 'syntax');
  refuseHaving(having, 'syntax');
  refuseUnknownFunctions(scope, request.fields, 'fields', request.alias);
  checkCalls(scope, scope.collections.get(collection), aggregate);
  refuseNestedSyntax(scope, nested, request.alias);
}

/** Names, then values. `fields`, `alias` and `deep` select nothing here, but what is hidden is so in every parameter. */
function checkNames(
  { scope, request, limits }: RequestedRead,
  aggregate: AggregateRequest,
  collection: CollectionScope,
  { filter, having, nested }: Conditions,
): void {
  refuseProblem(filter.problems, 'name');
  refuseHaving(having, 'name');
  const { late } = resolveFields({ scope, collection, aliases: request.alias, reads: nested, limits }, request.fields);
  const orders = authoriseNested(scope, nested);
  authoriseAggregate(scope, collection, aggregate);
  refuseProblem(filter.problems, 'value');
  checkNested(scope, nested, orders);
  for (const problem of late) throw problem;
}

function planNew(
  { scope, request, collection: name, selector }: RequestedRead,
  planned: Planned,
  open: OpenValues,
): ReadPlan {
  const { limit, offset, meta, exported } = request;
  const { groups } = planned.names;
  return planAggregate({
    ...planned,
    scope,
    limit,
    offset,
    meta,
    selector,
    // Named items are counted before the first byte leaves.
    streamed: selector === 'list' && groups.length > 0 && isStreamed(limit, undefined),
    exported: exported === undefined ? undefined : { format: exported, name },
    operands: open.operands,
    values: open.values.length,
  });
}

function shapeOf(
  { collection, request, selector }: RequestedRead,
  aggregate: AggregateRequest,
  condition: Condition,
  having: Condition,
): string {
  return JSON.stringify([
    'aggregate',
    selector,
    collection,
    aggregateShape(aggregate, having),
    conditionShape(condition),
    limitShape(request.limit),
    request.offset > 0,
    request.meta,
    request.exported ?? '',
    request.archived ?? '',
  ]);
}
