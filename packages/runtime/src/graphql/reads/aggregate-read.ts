/** Aggregations that documents ask for: the selection of one, and its read, planned once per shape. Source: API specification, section 14.2. */

import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { longestCachedStatement } from '../../database/plan-cache.ts';
import { invalidQuery } from '../../errors.ts';
import { aggregateFits, isAggregateFunction } from '../../language/descriptors/aggregates.ts';
import type { GraphqlCollection } from '../../language/index.ts';
import { findOrCreate } from '../../language/values/once.ts';
import {
  type Aggregate,
  type AggregateNames,
  type AggregatePart,
  authoriseAggregate,
  checkCalls,
  resolveAggregate,
} from '../../query/authorise/aggregate.ts';
import {
  collectValues,
  openValues,
  readFilter,
  refuseProblem,
  refuseRelations,
  refuseSize,
  relationsOf,
} from '../../query/authorise/filter.ts';
import { checkHaving, collectHaving, readHaving, refuseHaving } from '../../query/authorise/having.ts';
import { aggregateShape, conditionShape, limitShape } from '../../query/authorise/shape.ts';
import { withSearch } from '../../query/authorise/sort.ts';
import { parseArchived, parseFilterParameter, parseSearchText, readNames } from '../../query/parse/parse-parameters.ts';
import type { QueryTree } from '../../query/parse/parse-query-string.ts';
import { parseBounds, parseOrder } from '../../query/parse/parse-read.ts';
import type { AggregateRequest, ReadLimits } from '../../query/parse/request.ts';
import { refuseCost } from '../../query/plan/cost.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import { planAggregate } from '../../query/plan/plan-aggregate.ts';
import { boundValues } from '../../query/plan/plan-bounds.ts';
import { isStreamed } from '../../query/plan/plan-read.ts';
import { authoriseRows } from '../../sql/archived/other-rows.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import { collectFields, type Sets } from '../compile/collect.ts';
import { type Compiling, constantOf, sentField, setsOf, unknownPart } from '../compile/compile-selection.ts';
import type { Input, Variables } from '../compile/input.ts';
import { type PreparedRead, type PrepareRead, type ReadSetting, rememberReads } from './item-read.ts';
import { argumentTree } from './list-read.ts';

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
  const having = readHaving(scope, collection, request.having, limits);
  refuseProblem(filter.problems, 'syntax');
  refuseHaving(having, 'syntax');
  checkCalls(scope, collection, request);
  refuseProblem(filter.problems, 'name');
  refuseHaving(having, 'name');
  authoriseAggregate(scope, collection, request);
  refuseProblem(filter.problems, 'value');
  const names = arranged(resolveAggregate(scope, collection, request), selection);
  checkHaving(collection, having);
  const condition = withSearch(filter.condition, collection, search);
  refuseRelations(relationsOf(condition) + relationsOf(having.condition), limits);
  const open = openValues();
  collectValues(open, scope, collection, condition);
  collectHaving(open, collection, having.condition);
  refuseSize(open, limits);
  const parts = [
    aggregateShape(request, having.condition),
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
      having: having.condition,
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
    having: tree.get('having'),
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

/** The parts of aggregated rows, and every value among them once. */
type AggregateSelection = ReturnType<typeof compileAggregate>;

/** Compiles what is selected of the aggregated rows of a collection. */
export function compileAggregate(
  to: Compiling,
  names: GraphqlCollection,
  collection: CollectionScope,
  type: GraphQLObjectType,
  sets: Sets,
) {
  const values = new Map<string, Aggregate>();
  function shared(aggregate: Aggregate): Aggregate {
    const name = JSON.stringify([aggregate.function, aggregate.field?.descriptor.name ?? null]);
    return findOrCreate(values, name, () => aggregate);
  }
  const parts = collectFields(to, type, sets).map((field): AggregatePart => {
    const { key, name } = field;
    if (name === 'group') return { kind: 'groups', key };
    if (name === 'countAll') return { kind: 'value', key, of: shared({ function: name, field: null }) };
    if (!isAggregateFunction(name)) return constantOf(type, field) ?? unknownPart(field);
    const inner = getNamedType(type.getFields()[name]?.type);
    if (!isObjectType(inner)) return unknownPart(field);
    const below = collectFields(to, inner, setsOf(field)).map((member): AggregatePart => {
      const operand = collection.fields.get(names.output.get(member.name)?.name ?? '');
      if (operand === undefined) return constantOf(inner, member) ?? unknownPart(member);
      if (!aggregateFits(name, operand.descriptor.type)) return unknownPart(member);
      return { kind: 'value', key: member.key, of: shared({ function: name, field: sentField(operand) }) };
    });
    return { kind: 'values', key, parts: below };
  });
  return { parts, values: [...values.values()] };
}
