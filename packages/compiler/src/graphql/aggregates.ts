/** The types of aggregate rows. Source: API specification, sections 5.5 and 14.2. */
import {
  type AggregateFunction,
  aggregateFits,
  aggregateFunctions,
  aggregateKind,
  graphqlName,
} from '@tablewright/runtime/language';
import { type PrintedField, sdlLine, sdlType } from '../print/sdl.ts';
import type { RoleField } from '../role-view/role-view.ts';
import type { GraphqlCollection } from './graphql-collections.ts';
import { valueType } from './values.ts';

/** Prints the types of a collection's aggregate rows. */
export function aggregateTypes({ view, types }: GraphqlCollection): readonly string[] {
  const fields = view.fields.filter(({ descriptor: { wire } }) => wire.kind !== 'masked');
  const kinds = [
    { name: types.counts, example: 'count', resultOf: () => 'Int' },
    { name: types.sums, example: 'sum', resultOf: sumType },
    { name: types.means, example: 'avg', resultOf: sumType },
    {
      name: types.values,
      example: 'min',
      resultOf: ({ descriptor, valuesType }: RoleField) => valueType(descriptor, false, valuesType?.graphqlEnum),
    },
  ] as const;
  const printed = new Map<string, string>();
  for (const { name, example, resultOf } of kinds) {
    const taken = fields.filter(({ descriptor: { type } }) => aggregateFits(example, type));
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
function sumType({ descriptor: { type } }: RoleField): string {
  return type === 'integer' || type === 'float' ? 'Float' : 'Decimal';
}
