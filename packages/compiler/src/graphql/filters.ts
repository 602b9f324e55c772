/** The inputs that choose items. Source: API specification, sections 5.2 and 14.2. */
import {
  graphqlFilterName,
  graphqlFunctionsName,
  graphqlItemFilterName,
  graphqlName,
  graphqlTypeNames,
} from '@tablewright/runtime/language';
import type { Lookup } from '../cache/remember.ts';
import { type PrintedField, type SdlField, sdlLine, sdlType } from '../print/sdl.ts';
import type { RoleField, RoleRelation } from '../role-view/role-view.ts';
import {
  deprecationOf,
  type GraphqlCollection,
  type GraphqlCollections,
  type ReferableCollections,
} from './graphql-collections.ts';
import { type OperatorGroup, operatorFields, operatorGroup, operatorsName } from './operators.ts';
import { functionGroup, functionsFilter } from './values.ts';

/** Prints the filter of a collection, and those in which it stands below relations. */
export function filterTypes(
  shown: GraphqlCollection,
  schema: ReferableCollections,
  keys: Lookup<ReadonlySet<OperatorGroup>>,
): readonly string[] {
  const { view, types, links } = shown;
  const { filter, quantifier, linkFilter, linkQuantifier } = types;
  const filters = [
    ...view.fields.map((field) => fieldFilters(field, schema)),
    ...view.relations.map((relation) => relationFilters(relation, schema)),
  ];
  const below = keys.get(view.name) ?? [];
  const targets = [...new Set(links.flatMap(({ allowed }) => allowed))].filter(
    (name) => schema.collections.get(name)?.view.readable === true,
  );
  const items = targets.map((name) => ({ name: graphqlItemFilterName(name), type: graphqlFilterName(name) }));
  return [
    filterType(filter, filters),
    ...[...below].map((group) => filterType(keyFilterName(view.name, group), [...operatorFields(group), ...filters])),
    quantifierType(quantifier, filter, filters),
    ...(links.length > 0
      ? [
          filterType(linkFilter, [...filters, ...items]),
          quantifierType(linkQuantifier, linkFilter, [...filters, ...items]),
        ]
      : []),
  ];
}

/** By collection: how the keys are compared that many-to-ones lead to it by. */
type KeyFilters = ReadonlyMap<string, ReadonlySet<OperatorGroup>>;

/** Gathers which filters stand below many-to-ones. */
export function keyFilters({ collections }: GraphqlCollections): KeyFilters {
  const all = [...collections.values()].flatMap(({ view }) =>
    view.fields.flatMap((field) => {
      const { filtered } = field;
      const group = operatorGroup(field);
      return filtered === null || group === null ? [] : [[filtered.collection, group] as const];
    }),
  );
  return new Map(
    [...Map.groupBy(all, ([name]) => name)].map(([name, some]) => [name, groupsOf(some.map(([, group]) => group))]),
  );
}

/** One set for the same groups in the same order, so that who asks again gets the same answer. */
function groupsOf(groups: readonly OperatorGroup[]): ReadonlySet<OperatorGroup> {
  const set = new Set(groups);
  const text = [...set].join(' ');
  const cached = sets.get(text) ?? set;
  sets.set(text, cached);
  return cached;
}

const sets = new Map<string, ReadonlySet<OperatorGroup>>();

/** `authors_filter_with_number_operators`: filter of the item that a key leads to, or of the key itself. */
export function keyFilterName(collection: string, group: OperatorGroup): string {
  return `${graphqlFilterName(collection)}_with_${group}_operators`;
}

type FilterFields = readonly (SdlField | PrintedField)[];

function filterType(name: string, fields: FilterFields): string {
  return sdlType('input', name, [...fields, ...combined(name)]);
}

/** Fields beside `_some` and `_none` mean what they mean below `_some`, except that `_null` of a key asks for no item. */
function quantifierType(name: string, filter: string, fields: FilterFields): string {
  return sdlType('input', name, [...fields, ...combined(filter), sdlLine('_some', filter), sdlLine('_none', filter)]);
}

function combined(filter: string): readonly PrintedField[] {
  const list = `[${filter}]`;
  return [sdlLine('_and', list), sdlLine('_or', list)];
}

function fieldFilters(field: RoleField, schema: ReferableCollections): PrintedField {
  const { name, descriptor, filtered } = field;
  const group = operatorGroup(field);
  if (group === null) return '';
  const functions = functionGroup(descriptor.type);
  const type = filtered === null ? operatorsName(group) : keyFilterName(filtered.collection, group);
  const line = sdlLine(graphqlName(name), type, null, deprecationOf(field, filtered, schema));
  return functions === null ? line : line + sdlLine(graphqlFunctionsName(name), functionsFilter(functions));
}

function relationFilters(relation: RoleRelation, schema: ReferableCollections): PrintedField {
  const { name, kind, target } = relation;
  const deprecated = deprecationOf(relation, target, schema);
  const { filter, quantifier, linkQuantifier } = graphqlTypeNames(target.collection);
  if (kind === 'm2o') return sdlLine(graphqlName(name), filter, null, deprecated);
  const line = sdlLine(graphqlName(name), kind === 'm2a' ? linkQuantifier : quantifier, null, deprecated);
  return line + sdlLine(graphqlFunctionsName(name), functionsFilter('count'));
}
