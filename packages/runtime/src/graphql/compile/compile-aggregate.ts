/** Selection of a document from aggregated rows. Source: API specification, sections 5.5 and 14.2. */
import { type GraphQLObjectType, getNamedType, isObjectType, type SelectionSetNode } from 'graphql';
import { aggregateFits, isAggregateFunction } from '../../language/descriptors/aggregates.ts';
import type { GraphqlCollection } from '../../language/index.ts';
import type { Aggregate, AggregatePart } from '../../query/authorise/aggregate.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import { type CollectedField, collectFields } from './collect.ts';
import { type Compiling, constantOf, setsOf, unknownName } from './compile-selection.ts';

/** The parts of aggregated rows, and every value among them once. */
export interface AggregateSelection {
  readonly parts: readonly AggregatePart[];
  readonly values: readonly Aggregate[];
}

/** Compiles what is selected of the aggregated rows of a collection. */
export function compileAggregate(
  to: Compiling,
  names: GraphqlCollection,
  collection: CollectionScope,
  type: GraphQLObjectType,
  sets: readonly (SelectionSetNode | undefined)[],
): AggregateSelection {
  const values = new Map<string, Aggregate>();
  function shared(aggregate: Aggregate): Aggregate {
    const name = JSON.stringify([aggregate.function, aggregate.field?.descriptor.name ?? null]);
    const cached = values.get(name) ?? aggregate;
    values.set(name, cached);
    return cached;
  }
  const parts = collectFields(to, type, sets).map((field): AggregatePart => {
    const { key, name } = field;
    if (name === 'group') return { kind: 'groups', key };
    if (name === 'countAll') return { kind: 'value', key, of: shared({ function: name, field: null }) };
    if (!isAggregateFunction(name)) return constantOf(type, field) ?? refuse(field);
    const inner = getNamedType(type.getFields()[name]?.type);
    if (!isObjectType(inner)) return refuse(field);
    const below = collectFields(to, inner, setsOf(field)).map((member): AggregatePart => {
      const operand = collection.fields.get(names.output.get(member.name)?.name ?? '');
      if (operand === undefined) return constantOf(inner, member) ?? refuse(member);
      if (!aggregateFits(name, operand.descriptor.type)) return refuse(member);
      return { kind: 'value', key: member.key, of: shared({ function: name, field: operand }) };
    });
    return { kind: 'values', key, parts: below };
  });
  return { parts, values: [...values.values()] };
}

function refuse({ name }: CollectedField): never {
  throw unknownName(name);
}
