/** Aggregations that documents ask for: the selection of one, and its read, planned once per shape. Source: API specification, section 14.2. */

import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { invalidQuery } from '../../errors.ts';
import { aggregateFits, isAggregateFunction } from '../../language/descriptors/aggregates.ts';
import type { GraphqlCollection } from '../../language/index.ts';
import { findOrCreate } from '../../language/values/once.ts';
import {
  type Aggregate,
  type AggregateNames,
  type AggregatePart,
  resolveAggregate,
} from '../../query/authorise/aggregate.ts';
import { parseArchived, parseFilterParameter, parseSearchText, readNames } from '../../query/parse/parse-parameters.ts';
import type { QueryTree } from '../../query/parse/parse-query-string.ts';
import { parseBounds, parseOrder } from '../../query/parse/parse-read.ts';
import type { AggregateRequest, ReadLimits } from '../../query/parse/request.ts';
import { prepareAggregate } from '../../query/prepare-aggregate.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import { collectFields, type Sets } from '../compile/collect.ts';
import { type Compiling, constantOf, sentField, setsOf, unknownPart } from '../compile/compile-selection.ts';
import type { Input, Variables } from '../compile/input.ts';
import type { PreparedRead, ReadSetting } from './item-read.ts';
import { argumentTree } from './list-read.ts';

/** Prepares an aggregation of a collection; `name` stands for it among all plans. */
export function prepareAggregated(
  { index, scope, limits, plans }: ReadSetting,
  name: string,
  collection: string,
  selection: AggregateSelection,
  inputs: ReadonlyMap<string, Input>,
  variables: Variables,
): PreparedRead {
  const tree = argumentTree(index, index.byName(collection), inputs, variables);
  const archived = parseArchived(tree);
  const aggregate = requestOf(selection, tree, limits);
  if (aggregate.groups.length > limits.arrayLimit) throw invalidQuery('"groupBy" has too many elements.');
  const request = {
    ...{ fields: [], alias: new Map<string, never>(), deep: new Map<string, never>(), sort: [], meta: [] },
    ...parseBounds(tree, limits, aggregate),
    search: parseSearchText(tree, limits),
    filter: parseFilterParameter(tree),
    ...(archived && { archived }),
  };
  const requested = { scope, limits, selector: 'list', collection, request } as const;
  const resolve: typeof resolveAggregate = (...named) => arranged(resolveAggregate(...named), selection);
  const { plan, values } = prepareAggregate(plans, requested, aggregate, { name, resolve });
  return { plan, values, bounds: [] };
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
