import type { Condition } from '../contract/index.ts';
import { checkCalls, resolveAggregate } from './aggregate.ts';
import { refuseUnknownFunctions } from './calls.ts';
import { resolveFields } from './fields.ts';
import {
  collectValues,
  type OpenValues,
  type ReadFilter,
  readFilter,
  refuseCallerPaths,
  refuseProblem,
} from './filter.ts';
import { collectHaving, readHaving, visitHaving } from './having.ts';
import { forbidden, invalidQuery } from './invalid.ts';
import { authoriseNested, checkNested, readNested, refuseNestedSyntax } from './nested.ts';
import type { AggregateRequest } from './parse-aggregate.ts';
import type { ReadPlan } from './plan.ts';
import { planAggregate } from './plan-aggregate.ts';
import { boundValues } from './plan-bounds.ts';
import { longestCachedStatement, type PlanCache } from './plan-cache.ts';
import { isStreamed } from './plan-read.ts';
import type { Prepared, WantedRead } from './prepare.ts';
import type { CollectionScope } from './scope.ts';
import { withSearch } from './search.ts';
import { conditionShape, limitShape } from './shape.ts';

/**
 * The stages of an aggregation behind the syntax of single parameters, in the order of the specification (1.5).
 *
 * The values are those of the filter, then of `having`, then limit and offset, as `planAggregate` expects them.
 */
export function prepareAggregate(
  plans: PlanCache<ReadPlan>,
  wanted: WantedRead,
  aggregate: AggregateRequest,
): Prepared {
  const { scope, request, limits } = wanted;
  const filter = readFilter(scope, wanted.collection, request.filter, limits);
  const having = readHaving(scope.collections.get(wanted.collection), aggregate.having, limits);
  const nested = readNested(
    scope,
    { collection: scope.collections.get(wanted.collection), aliases: request.alias },
    request.deep,
    limits,
  );
  checkSyntax(wanted, aggregate, filter, having);
  refuseNestedSyntax(scope, nested, request.alias);
  const collection = scope.collections.get(wanted.collection);
  if (collection === undefined) throw forbidden();
  refuseProblem(filter.problems, 'name');
  refuseHaving(having, 'name');
  refuseCallerPaths(filter.condition);
  refuseCallerPaths(having.condition);
  // They select nothing here, but a hidden name is forbidden in every parameter.
  const { late } = resolveFields({ scope, collection, aliases: request.alias, reads: nested, limits }, request.fields);
  const orders = authoriseNested(scope, nested);
  const names = resolveAggregate(collection, aggregate);
  refuseProblem(filter.problems, 'value');
  checkHaving(collection, having);
  checkNested(nested, orders);
  for (const problem of late) throw problem;
  const condition = withSearch(filter.condition, collection, request.search);
  const open: OpenValues = { operands: new Map(), values: [] };
  collectValues(open, scope, collection, condition);
  const behind = collectHaving(collection, having.condition, open.values.length);
  const { limit, offset, meta } = request;
  const values = [...open.values, ...behind.values];
  const shape = shapeOf(wanted, aggregate, condition, having.condition);
  const plan =
    plans.get(shape) ??
    planAggregate({
      scope,
      collection,
      names,
      condition,
      having: having.condition,
      limit,
      offset,
      meta,
      streamed: names.groups.length > 0 && isStreamed(limit, undefined),
      exported: request.exported === undefined ? undefined : { format: request.exported, name: wanted.collection },
      operands: new Map([...open.operands, ...behind.operands]),
      values: values.length,
    });
  if (plan.statement.text.length <= longestCachedStatement) plans.set(shape, plan);
  return { plan, values: [...values, ...boundValues(limit, offset)] };
}

function checkSyntax(
  { scope, collection, selector, request }: WantedRead,
  aggregate: AggregateRequest,
  filter: ReadFilter,
  having: ReadFilter,
): void {
  if (selector === 'keys')
    throw invalidQuery('"keys" name items, which are not aggregated; filter by the key instead.');
  refuseProblem(filter.problems, 'syntax');
  refuseHaving(having, 'syntax');
  refuseUnknownFunctions(scope, request.fields, 'fields', request.alias);
  checkCalls(scope.collections.get(collection), aggregate);
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
