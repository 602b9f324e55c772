/** The types of items. Source: API specification, section 14.2. */
import { graphqlFunctionsName, graphqlName } from '@platform/runtime/contract';
import type { ViewField, ViewRelation } from '../openapi/view.ts';
import { type SdlField, sdlType, sdlUnion } from '../print/sdl.ts';
import { functionGroup, functionsType } from './functions.ts';
import { deprecationOf, type Neighbours, type Shown } from './surface.ts';
import { nonNull, valueType } from './values.ts';

/** Prints the type of a collection's items, and the union of what its rows link. */
export function itemTypes(shown: Shown, surface: Neighbours): readonly string[] {
  const { view, types, item } = shown;
  const fields = [
    ...view.fields.flatMap((field) => fieldsOf(field, shown, surface)),
    ...view.relations.flatMap((relation) => relationFields(relation, surface)),
  ];
  const targets = item?.targets.map((name) => graphqlName(name)) ?? [];
  const union = targets.length > 0 ? [sdlUnion(types.union, targets)] : [];
  return [sdlType('type', types.item, fields, view.note), ...union];
}

function fieldsOf(field: ViewField, shown: Shown, surface: Neighbours): readonly SdlField[] {
  const { name, descriptor, note } = field;
  const deprecated = deprecationOf(field, field.filtered, surface);
  const group = descriptor.wire.kind === 'masked' ? null : functionGroup(descriptor.type);
  return [
    { name: graphqlName(name), type: fieldType(field, shown, surface), note, deprecated },
    ...(group === null ? [] : [{ name: graphqlFunctionsName(name), type: functionsType(group) }]),
  ];
}

/** A key of a collection that can be read is its item; what a link row holds is one of several. */
function fieldType({ name, descriptor, nullable, filtered }: ViewField, shown: Shown, surface: Neighbours): string {
  if (shown.item?.field === name) return shown.types.union;
  const target = filtered && surface.collections.get(filtered.collection);
  if (target) return nonNull(target.types.item, nullable);
  const { key } = shown.descriptor;
  return nonNull(valueType(descriptor, key.length === 1 && key[0] === name), nullable);
}

function relationFields(relation: ViewRelation, surface: Neighbours): readonly SdlField[] {
  const { name, kind, nullable, target } = relation;
  const deprecated = deprecationOf(relation, target, surface);
  const types = surface.collections.get(target.collection)?.types;
  if (types === undefined) return [];
  if (kind === 'm2o') return [{ name: graphqlName(name), type: nonNull(types.item, nullable), deprecated }];
  const filter = kind === 'm2a' ? types.linkFilter : types.filter;
  return [
    { name: graphqlName(name), type: nonNull(`[${types.item}!]`, nullable), args: listArguments(filter), deprecated },
    { name: graphqlFunctionsName(name), type: functionsType('count') },
  ];
}

/** The arguments of everything that lists items. */
export function listArguments(filter: string): readonly SdlField[] {
  return [
    { name: 'filter', type: filter },
    { name: 'sort', type: '[String]' },
    { name: 'limit', type: 'Int' },
    { name: 'offset', type: 'Int' },
    { name: 'page', type: 'Int' },
    { name: 'search', type: 'String' },
  ];
}
