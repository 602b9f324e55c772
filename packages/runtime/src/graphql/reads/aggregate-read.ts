/** Aggregations that documents ask for, planned once per shape. Source: API specification, sections 5.5 and 14.2. */
import { longestCachedStatement } from '../../database/plan-cache.ts';
import { invalidQuery } from '../../errors.ts';
import { always } from '../../language/index.ts';
import {
  type AggregateNames,
  authoriseAggregate,
  checkCalls,
  resolveAggregate,
} from '../../query/authorise/aggregate.ts';
import { authoriseRows } from '../../query/authorise/archived-rows.ts';
import {
  collectValues,
  openValues,
  readFilter,
  refuseProblem,
  refuseRelations,
  refuseSize,
  relationsOf,
} from '../../query/authorise/filter.ts';
import { withSearch } from '../../query/authorise/search.ts';
import { aggregateShape, conditionShape, limitShape } from '../../query/authorise/shape.ts';
import { parseBounds, parseOrder } from '../../query/parse/parse-aggregate.ts';
import { readNames } from '../../query/parse/parse-json.ts';
import { parseArchived, parseFilterParameter, parseSearchText } from '../../query/parse/parse-parameters.ts';
import type { QueryTree } from '../../query/parse/parse-query-string.ts';
import type { AggregateRequest, ReadLimits } from '../../query/parse/request.ts';
import { refuseCost } from '../../query/plan/cost.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import { planAggregate } from '../../query/plan/plan-aggregate.ts';
import { boundValues } from '../../query/plan/plan-bounds.ts';
import { isStreamed } from '../../query/plan/plan-read.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import type { AggregateSelection } from '../compile/compile-aggregate.ts';
import type { Input, Variables } from '../compile/input.ts';
import type { ReadSetting } from './item-read.ts';
import { argumentTree } from './list-read.ts';
import { type PreparedRead, type PrepareRead, rememberReads } from './remember-reads.ts';

/** Collection to aggregate, and the selection from the result. */
interface AggregateRead {
  readonly collection: CollectionScope;
  readonly selection: AggregateSelection;
  readonly arguments: ReadonlyMap<string, Input>;
}

/** Makes what prepares an aggregation; `name` stands for it among all plans. */
export function createAggregate(setting: ReadSetting, name: string, read: AggregateRead): PrepareRead {
  const inputs = [...read.arguments.values()];
  return rememberReads(setting.reads, name, inputs, (variables) => prepareAggregated(setting, name, read, variables));
}

function prepareAggregated(
  setting: ReadSetting,
  name: string,
  { collection: live, selection, arguments: inputs }: AggregateRead,
  variables: Variables,
): PreparedRead {
  const { index, scope, limits, plans } = setting;
  const tree = argumentTree(index, index.byName(live.descriptor.name), inputs, variables);
  const archived = parseArchived(tree);
  const collection = authoriseRows(live, archived);
  const request = requestOf(selection, tree, limits);
  if (request.groups.length > limits.arrayLimit) throw invalidQuery('"groupBy" has too many elements.');
  const bounds = parseBounds(tree, limits, request);
  const search = parseSearchText(tree, limits);
  const filter = readFilter(scope, collection.descriptor.name, parseFilterParameter(tree), limits);
  refuseProblem(filter.problems, 'syntax');
  checkCalls(scope, collection, request);
  refuseProblem(filter.problems, 'name');
  authoriseAggregate(scope, collection, request);
  refuseProblem(filter.problems, 'value');
  const names = arranged(resolveAggregate(scope, collection, request), selection);
  const condition = withSearch(filter.condition, collection, search);
  refuseRelations(relationsOf(condition), limits);
  const open = openValues();
  collectValues(open, scope, collection, condition);
  refuseSize(open, limits);
  const parts = [
    aggregateShape(request, always),
    conditionShape(condition),
    limitShape(bounds.limit),
    bounds.offset > 0,
    archived ?? '',
  ];
  const shape = `${name} ${JSON.stringify(parts)}`;
  const cached = plans.get(shape);
  const plan: ReadPlan =
    cached ??
    planAggregate({
      scope,
      collection,
      names,
      condition,
      having: always,
      ...bounds,
      meta: [],
      selector: 'list',
      streamed: names.groups.length > 0 && isStreamed(bounds.limit, undefined),
      exported: undefined,
      operands: open.operands,
      values: open.values.length,
    });
  refuseCost(plan.cost, limits.maxCost);
  if (cached === undefined && plan.statement.text.length <= longestCachedStatement) plans.set(shape, plan);
  return { plan, values: open.values, bounds: boundValues(bounds) };
}

function requestOf({ values }: AggregateSelection, tree: QueryTree, limits: ReadLimits): AggregateRequest {
  return {
    values: values.map(({ function: aggregate, field }) => ({
      function: aggregate,
      field: field?.descriptor.name ?? null,
    })),
    groups: [...new Set(readNames(tree.get('groupBy'), 'groupBy'))],
    having: undefined,
    sort: parseOrder(tree, limits),
  };
}

/** The rows as the document selects them; without groups there is no object of them. */
function arranged(names: AggregateNames, { parts }: AggregateSelection): AggregateNames {
  return {
    ...names,
    parts: parts.map((part) =>
      part.kind === 'groups' && names.groups.length === 0 ? { kind: 'constant', key: part.key, json: 'null' } : part,
    ),
  };
}
