/** The types of aggregate rows. Source: API specification, sections 5.5 and 14.2. */
import {
  type AggregateFunction,
  aggregateFits,
  aggregateFunctions,
  aggregateKind,
  type FieldDescriptor,
  graphqlName,
} from '@tablewright/runtime/language';
import { type PrintedField, sdlLine, sdlType } from '../print/sdl.ts';
import type { GraphqlCollection } from './graphql-collections.ts';
import { valueType } from './values.ts';

/** Prints the types of a collection's aggregate rows. */
export function aggregateTypes({ view, types }: GraphqlCollection): readonly string[] {
  const fields = view.fields.map(({ descriptor }) => descriptor).filter(({ wire }) => wire.kind !== 'masked');
  const kinds = [
    { name: types.counts, example: 'count', resultOf: () => 'Int' },
    { name: types.sums, example: 'sum', resultOf: sumType },
    { name: types.means, example: 'avg', resultOf: sumType },
    { name: types.values, example: 'min', resultOf: (field: FieldDescriptor) => valueType(field, false) },
  ] as const;
  const printed = new Map<string, string>();
  for (const { name, example, resultOf } of kinds) {
    const taken = fields.filter(({ type }) => aggregateFits(example, type));
    const lines = taken.map((field) => sdlLine(graphqlName(field.name), resultOf(field)));
    if (lines.length > 0) printed.set(name, sdlType('type', name, lines));
  }
  const functions = aggregateFunctions.map((name): PrintedField => {
    const type = resultType(name, types);
    return name === 'countAll' || printed.has(type) ? sdlLine(name, type) : '';
  });
  const row = sdlType('type', types.aggregated, [sdlLine('group', 'JSON'), ...functions]);
  return [row, ...printed.values()];
}

function resultType(name: AggregateFunction, { counts, sums, means, values }: GraphqlCollection['types']): string {
  if (name === 'countAll') return 'Int';
  const kind = aggregateKind(name);
  if (kind === 'count') return counts;
  if (kind === 'sum') return sums;
  return kind === 'avg' ? means : values;
}

/** Sums of integers outgrow GraphQL's integers; exact types stay exact. */
function sumType({ type }: FieldDescriptor): string {
  return type === 'integer' || type === 'float' ? 'Float' : 'Decimal';
}
