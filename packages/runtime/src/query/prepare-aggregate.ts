import type { Condition } from '../contract/index.ts';
import { type AggregateNames, checkCalls, resolveAggregate } from './aggregate.ts';
import { refuseUnknownFunctions } from './calls.ts';
import { resolveFields } from './fields.ts';
import { collectValues, type OpenValues, type ReadFilter, readFilter, refuseProblem } from './filter.ts';
import { collectHaving, readHaving, visitHaving } from './having.ts';
import { forbidden, invalidQuery } from './invalid.ts';
import { authoriseNested, checkNested, type NestedReads, readNested, refuseNestedSyntax } from './nested.ts';
import type { AggregateRequest } from './parse-aggregate.ts';
import type { ReadPlan } from './plan.ts';
import { type AggregateQuery, planAggregate } from './plan-aggregate.ts';
import { boundValues } from './plan-bounds.ts';
import { longestCachedStatement, type PlanCache } from './plan-cache.ts';
import { isStreamed } from './plan-read.ts';
import type { Prepared, WantedRead } from './prepare.ts';
import type { CollectionScope } from './scope.ts';
import { withSearch } from './search.ts';
import { conditionShape, limitShape } from './shape.ts';

/** The conditions of an aggregation: its filter, its `having`, and those of `deep`. */
interface Conditions {
  readonly filter: ReadFilter;
  readonly having: ReadFilter;
  readonly nested: NestedReads;
}

/**
 * The stages of an aggregation behind the syntax of single parameters, in the order of the specification (1.5).
 *
 * The values are those of filter and search, then of `having`, then limit and offset, as `planAggregate` expects them.
 */
export function prepareAggregate(
  plans: PlanCache<ReadPlan>,
  wanted: WantedRead,
  aggregate: AggregateRequest,
): Prepared {
  const { scope, request } = wanted;
  const collection = scope.collections.get(wanted.collection);
  const conditions = readConditions(wanted, aggregate);
  checkSyntax(wanted, aggregate, conditions);
  if (collection === undefined) throw forbidden();
  const names = authorise(wanted, aggregate, collection, conditions);
  const condition = withSearch(conditions.filter.condition, collection, request.search);
  const having = conditions.having.condition;
  const open: OpenValues = { operands: new Map(), values: [] };
  collectValues(open, scope, collection, condition);
  collectHaving(open, collection, having);
  const shape = shapeOf(wanted, aggregate, condition, having);
  const plan = plans.get(shape) ?? planNew(wanted, { collection, names, condition, having }, open);
  if (plan.statement.text.length <= longestCachedStatement) plans.set(shape, plan);
  return { plan, values: [...open.values, ...boundValues(request.limit, request.offset)] };
}

function readConditions({ scope, collection, request, limits }: WantedRead, aggregate: AggregateRequest): Conditions {
  const level = scope.collections.get(collection);
  return {
    filter: readFilter(scope, collection, request.filter, limits),
    having: readHaving(scope, level, aggregate.having, limits),
    nested: readNested(scope, { collection: level, aliases: request.alias }, request.deep, limits),
  };
}

function checkSyntax(
  { scope, collection, selector, request }: WantedRead,
  aggregate: AggregateRequest,
  { filter, having, nested }: Conditions,
): void {
  if (selector === 'keys')
    throw invalidQuery('"keys" name items, which are not aggregated; filter by the key instead.');
  refuseProblem(filter.problems, 'syntax');
  refuseHaving(having, 'syntax');
  refuseUnknownFunctions(scope, request.fields, 'fields', request.alias);
  checkCalls(scope.collections.get(collection), aggregate);
  refuseNestedSyntax(scope, nested, request.alias);
}

/** Names, then values. `fields`, `alias` and `deep` select nothing here, but what is hidden is so in every parameter. */
function authorise(
  { scope, request, limits }: WantedRead,
  aggregate: AggregateRequest,
  collection: CollectionScope,
  { filter, having, nested }: Conditions,
): AggregateNames {
  refuseProblem(filter.problems, 'name');
  refuseHaving(having, 'name');
  const { late } = resolveFields({ scope, collection, aliases: request.alias, reads: nested, limits }, request.fields);
  const orders = authoriseNested(scope, nested);
  const names = resolveAggregate(collection, aggregate);
  refuseProblem(filter.problems, 'value');
  checkHaving(collection, having);
  checkNested(nested, orders);
  for (const problem of late) throw problem;
  return names;
}

function planNew(
  { scope, request, collection: name }: WantedRead,
  of: Pick<AggregateQuery, 'collection' | 'names' | 'condition' | 'having'>,
  open: OpenValues,
): ReadPlan {
  const { limit, offset, meta, exported } = request;
  return planAggregate({
    ...of,
    scope,
    limit,
    offset,
    meta,
    streamed: of.names.groups.length > 0 && isStreamed(limit, undefined),
    exported: exported === undefined ? undefined : { format: exported, name },
    operands: open.operands,
    values: open.values.length,
  });
}

function checkHaving(collection: CollectionScope, having: ReadFilter): void {
  refuseHaving(having, 'value');
  visitHaving(collection, having.condition, (_, found) => {
    if (found === undefined)
      throw invalidQuery('"having" uses a function that is not defined for the type of a field.');
  });
}

function refuseHaving({ problems }: ReadFilter, stage: 'syntax' | 'name' | 'value'): void {
  const problem = problems.find((candidate) => candidate.stage === stage);
  if (problem === undefined) return;
  if (stage === 'name') throw forbidden();
  throw invalidQuery(`"having" at "${problem.path.join('.')}" ${problem.message}.`);
}

function shapeOf(
  { collection, request }: WantedRead,
  { values, groups, sort }: AggregateRequest,
  condition: Condition,
  having: Condition,
): string {
  return JSON.stringify([
    'aggregate',
    collection,
    values.map((value) => [value.function, value.field]),
    groups,
    sort.map(({ name, descending }) => [descending, name]),
    conditionShape(condition),
    conditionShape(having),
    limitShape(request.limit),
    request.offset > 0,
    request.meta,
    request.exported ?? '',
  ]);
}
