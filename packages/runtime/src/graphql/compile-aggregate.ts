/** Selection of a document from aggregated rows. Source: API specification, sections 5.5 and 14.2. */
import { type GraphQLObjectType, getNamedType, isObjectType, type SelectionSetNode } from 'graphql';
import { aggregateFits, isAggregateFunction } from '../contract/aggregates.ts';
import type { GraphqlCollection } from '../contract/index.ts';
import type { Aggregate, AggregatePart } from '../query/aggregate.ts';
import type { CollectionScope } from '../query/scope.ts';
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
  function shared(of: Aggregate): Aggregate {
    const name = JSON.stringify([of.function, of.field?.descriptor.name ?? null]);
    const known = values.get(name) ?? of;
    values.set(name, known);
    return known;
  }
  const parts = collectFields(to, type, sets).map((field): AggregatePart => {
    const { key, name } = field;
    if (name === 'group') return { kind: 'groups', key };
    if (name === 'countAll') return { kind: 'value', key, of: shared({ function: name, field: null }) };
    if (!isAggregateFunction(name)) return constantOf(type, field) ?? refuse(field);
    const inner = getNamedType(type.getFields()[name]?.type);
    if (!isObjectType(inner)) return refuse(field);
    const below = collectFields(to, inner, setsOf(field)).map((one): AggregatePart => {
      const of = collection.fields.get(names.output.get(one.name)?.name ?? '');
      if (of === undefined) return constantOf(inner, one) ?? refuse(one);
      if (!aggregateFits(name, of.descriptor.type)) return refuse(one);
      return { kind: 'value', key: one.key, of: shared({ function: name, field: of }) };
    });
    return { kind: 'values', key, parts: below };
  });
  return { parts, values: [...values.values()] };
}

function refuse({ name }: CollectedField): never {
  throw unknownName(name);
}
