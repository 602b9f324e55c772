/** The types of items. Source: API specification, section 14.2. */
import {
  type AggregateFunction,
  aggregateFits,
  aggregateFunctions,
  aggregateKind,
  graphqlFunctionsName,
  graphqlName,
  isMeasured,
} from '@tablewright/runtime/language';
import { type PrintedField, type SdlField, sdlField, sdlLine, sdlType, sdlUnion } from '../print/sdl.ts';
import type { RoleField, RoleRelation } from '../role-view/role-view.ts';
import { deprecationOf, type GraphqlCollection, type Referables } from './graphql-collections.ts';
import { distanceType, functionGroup, functionsType, nonNull, valueType } from './values.ts';

/** Prints the type of a collection's items, and the union of what its rows link. */
export function itemTypes(shown: GraphqlCollection, schema: Referables): readonly string[] {
  const { view, types, item } = shown;
  const lines = [
    ...view.fields.map((field) => fieldLines(field, shown, schema)),
    ...view.relations.map((relation) => relationLines(relation, schema)),
  ];
  const targets = item?.targets.map((name) => graphqlName(name)) ?? [];
  const union = targets.length > 0 ? [sdlUnion(types.union, targets)] : [];
  return [sdlType('type', types.item, lines, view.note), ...union];
}

function fieldLines(field: RoleField, shown: GraphqlCollection, schema: Referables): PrintedField {
  const { name, descriptor, note } = field;
  const deprecated = deprecationOf(field, field.filtered, schema);
  const group = descriptor.wire.kind === 'masked' ? null : functionGroup(descriptor.type);
  const line = sdlLine(graphqlName(name), fieldType(field, shown, schema), note, deprecated);
  if (isMeasured(descriptor.type)) return line + sdlLine(graphqlFunctionsName(name), distanceType(descriptor.type));
  return group === null ? line : line + sdlLine(graphqlFunctionsName(name), functionsType(group));
}

/** A key of a readable collection is printed as its item; a link row holds one of several. */
function fieldType(
  { name, descriptor, nullable, itemNullable, filtered, valuesType }: RoleField,
  shown: GraphqlCollection,
  schema: Referables,
): string {
  if (shown.item?.field === name) return shown.types.union;
  const target = filtered && schema.collections.get(filtered.collection);
  if (target) return nonNull(target.types.item, itemNullable !== false);
  const { key } = shown.descriptor;
  return nonNull(valueType(descriptor, key.length === 1 && key[0] === name, valuesType?.graphqlEnum), nullable);
}

function relationLines(relation: RoleRelation, schema: Referables): PrintedField {
  const { name, kind, nullable, itemNullable, target } = relation;
  const deprecated = deprecationOf(relation, target, schema);
  const types = schema.collections.get(target.collection)?.types;
  if (types === undefined) return '';
  if (kind === 'm2o') return sdlLine(graphqlName(name), nonNull(types.item, itemNullable !== false), null, deprecated);
  const filter = kind === 'm2a' ? types.linkFilter : types.filter;
  const type = nonNull(`[${types.item}!]`, nullable);
  const archived = schema.collections.get(target.collection)?.view.archived === true;
  const line = sdlField({ name: graphqlName(name), type, args: listArguments(filter, archived), deprecated });
  return line + sdlLine(graphqlFunctionsName(name), functionsType('count'));
}

export function listArguments(filter: string, archived: boolean): readonly SdlField[] {
  return [{ name: 'filter', type: filter }, ...otherArguments, ...(archived ? [archivedArgument] : [])];
}

/** `include` or `only`. */
const archivedArgument: SdlField = { name: 'archived', type: 'String' };

const otherArguments: readonly SdlField[] = [
  { name: 'sort', type: '[String]' },
  { name: 'limit', type: 'Int' },
  { name: 'offset', type: 'Int' },
  { name: 'page', type: 'Int' },
  { name: 'search', type: 'String' },
];

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
