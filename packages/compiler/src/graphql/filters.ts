/** The inputs that choose items and compare values. Source: API specification, sections 5.2 and 14.2. */

import type { GraphqlEnum } from '@tablewright/introspect/schema';
import {
  type Comparison,
  comparisonOf,
  definitions,
  findOrCreate,
  flags,
  graphqlFilterName,
  graphqlForms,
  graphqlFunctionsName,
  graphqlItemFilterName,
  graphqlName,
  graphqlTypeNames,
  listed,
  type Operator,
  operandForm,
  operatorsOf,
} from '@tablewright/runtime/language';
import type { Lookup } from '../cache/memo-cache.ts';
import { createFacts } from '../cache/same.ts';
import { type PrintedField, type SdlField, sdlEnum, sdlLine, sdlScalar, sdlType } from '../print/sdl.ts';
import {
  hasType,
  type RoleCollection,
  type RoleField,
  type RoleRelation,
  type RoleView,
} from '../role-view/role-view.ts';
import {
  deprecationOf,
  type GraphqlCollection,
  type GraphqlCollections,
  type Referables,
} from './graphql-collections.ts';
import { distanceType, functionGroup, functionsFilter } from './values.ts';

/** Prints the filter of a collection, and those in which it stands below relations. */
export function filterTypes(
  shown: GraphqlCollection,
  schema: Referables,
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

/** Gathers which filters stand below many-to-ones. By collection: how the keys are compared that these lead to it by. */
export function keyFilters({ collections }: GraphqlCollections): ReadonlyMap<string, ReadonlySet<OperatorGroup>> {
  const all = [...collections.values()].flatMap(({ view }) => comparedKeys(view, () => findComparedKeys(view)));
  return new Map(
    [...Map.groupBy(all, ([name]) => name)].map(([name, some]) => [name, groupsOf(some.map(([, group]) => group))]),
  );
}

type ComparedKey = readonly [collection: string, group: OperatorGroup];

const comparedKeys = createFacts<RoleCollection, readonly ComparedKey[]>();

function findComparedKeys({ fields }: RoleCollection): readonly ComparedKey[] {
  return fields.flatMap((field): readonly ComparedKey[] => {
    const { filtered } = field;
    const group = operatorGroup(field);
    return filtered === null || group === null ? [] : [[filtered.collection, group]];
  });
}

/** One set for the same groups in the same order, so that who asks again gets the same answer. */
function groupsOf(groups: readonly OperatorGroup[]): ReadonlySet<OperatorGroup> {
  const set = new Set(groups);
  return findOrCreate(sets, [...set].join(' '), () => set);
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

function fieldFilters(field: RoleField, schema: Referables): PrintedField {
  const { name, descriptor, filtered } = field;
  const group = operatorGroup(field);
  if (group === null) return '';
  const functions = functionGroup(descriptor.type);
  const type = filtered === null ? operatorsName(group) : keyFilterName(filtered.collection, group);
  const line = sdlLine(graphqlName(name), type, null, deprecationOf(field, filtered, schema));
  return functions === null ? line : line + sdlLine(graphqlFunctionsName(name), functionsFilter(functions));
}

function relationFilters(relation: RoleRelation, schema: Referables): PrintedField {
  const { name, kind, target } = relation;
  const deprecated = deprecationOf(relation, target, schema);
  const { filter, quantifier, linkQuantifier } = graphqlTypeNames(target.collection);
  if (kind === 'm2o') return sdlLine(graphqlName(name), filter, null, deprecated);
  const line = sdlLine(graphqlName(name), kind === 'm2a' ? linkQuantifier : quantifier, null, deprecated);
  return line + sdlLine(graphqlFunctionsName(name), functionsFilter('count'));
}

/** One row per input: the comparison that has its operators, and the scalar that they compare with. */
const groups = [
  { name: 'string', comparison: 'text', operand: 'String' },
  { name: 'enum', comparison: 'choice', operand: 'String' },
  { name: 'id', comparison: 'choice', operand: 'ID' },
  { name: 'number', comparison: 'number', operand: 'GraphQLStringOrFloat' },
  { name: 'big_int', comparison: 'number', operand: 'GraphQLBigInt' },
  { name: 'decimal', comparison: 'number', operand: 'Decimal' },
  { name: 'boolean', comparison: 'boolean', operand: 'Boolean' },
  { name: 'date', comparison: 'time', operand: 'Date' },
  { name: 'time', comparison: 'time', operand: 'String' },
  { name: 'json', comparison: 'json', operand: 'JSON' },
  { name: 'array', comparison: 'array', operand: 'JSON' },
  { name: 'range', comparison: 'range', operand: 'JSON' },
  { name: 'geometry', comparison: 'geometry', operand: 'GeoJSON' },
  { name: 'vector', comparison: 'vector', operand: 'Vector' },
  { name: 'composite', comparison: 'composite', operand: 'JSON' },
  { name: 'null', comparison: 'presence', operand: 'JSON' },
] as const satisfies readonly { readonly name: string; readonly comparison: Comparison; readonly operand: string }[];

/** The beginning of the name of an input: `number` of `number_filter_operators`, or that of an enum. */
type OperatorGroup = FixedGroup | `${string}_enum`;

type FixedGroup = (typeof groups)[number]['name'];

/** Groups of operators that every schema has. */
export const operatorGroups: readonly FixedGroup[] = groups.map(({ name }) => name);

/** The input that compares a field; null for a secret, which nothing does. */
function operatorGroup({
  descriptor: field,
  valuesType,
}: Pick<RoleField, 'descriptor' | 'valuesType'>): OperatorGroup | null {
  if (field.wire.kind === 'masked') return null;
  const named = valuesType?.graphqlEnum?.name;
  if (named !== undefined && field.type !== 'array') return enumGroup(named);
  const comparison = comparisonOf(field);
  const name =
    comparison === 'range'
      ? 'range'
      : comparison === 'presence'
        ? 'null'
        : graphqlForms(field.type, field.native).filter;
  return operatorGroups.find((group) => group === name) ?? null;
}

/** The group of values of an enum; the names of all enums end so. */
export function enumGroup(name: string): OperatorGroup {
  return `${name.replace(/_enum$/, '')}_enum`;
}

/** `number_filter_operators` */
export function operatorsName(group: OperatorGroup): string {
  return `${group}_filter_operators`;
}

/** Over REST values within JSON are compared by their pointers, which are no names of GraphQL. */
const within: SdlField = { name: '_at', type: 'JSON', note: 'Operators of values within, by their JSON Pointers.' };

const fieldsByGroup: ReadonlyMap<OperatorGroup, readonly SdlField[]> = new Map(
  groups.map(({ name, comparison, operand }) => {
    const fields = comparedWith(comparison, operand);
    return [name, name === 'json' || name === 'composite' ? [...fields, within] : fields];
  }),
);

function comparedWith(comparison: Comparison, operand: string): readonly SdlField[] {
  return operatorsOf(comparison).map((operator) => ({
    name: operator,
    type: operandType(operator, comparison, operand),
  }));
}

export function operatorFields(group: OperatorGroup): readonly SdlField[] {
  return fieldsByGroup.get(group) ?? comparedWith('choice', group);
}

function operandType(operator: Operator, comparison: Comparison, operand: string): string {
  if (flags.has(operator)) return 'Boolean';
  const form = operandForm(definitions[operator], comparison);
  // A box may be four numbers, and a neighbourhood is an object of its own.
  if (form === 'box' || form === 'near') return 'JSON';
  return form !== 'value' && listed.has(operator) ? `[${operand}]` : operand;
}

/** The inputs that compare, without those of types that few databases have. */
export function operatorTypes(): string {
  return operatorGroups
    .flatMap((group) => (measured.has(group) || group === 'composite' ? [] : operatorInput(group)))
    .join('\n');
}

/** Scalars of types that have distances, and what these are. */
const measured: ReadonlyMap<string, readonly [scalar: SdlScalar, distance: string]> = new Map([
  [
    'geometry',
    [
      ['GeoJSON', 'A geometry of GeoJSON (RFC 7946).'],
      'To the geometry of the one `_near` on this field, in metres or units of the plane.',
    ],
  ],
  ['vector', [['Vector', 'A list of numbers.'], 'To the vector of the one `_near` on this field, in its metric.']],
]);

type SdlScalar = Parameters<typeof sdlScalar>;

/** Types that only fields with distances need. */
export function measuredTypes(view: RoleView): readonly string[] {
  return (['geometry', 'vector'] as const).flatMap((type) => {
    const found = measured.get(type);
    if (found === undefined || !hasType(view, type)) return [];
    const [scalar, distance] = found;
    const functions = sdlType('type', distanceType(type), [{ name: 'distance', type: 'Float', note: distance }]);
    return [[functions, operatorInput(type), sdlScalar(...scalar)].join('\n')];
  });
}

export function operatorInput(group: OperatorGroup): string {
  return sdlType('input', operatorsName(group), operatorFields(group));
}

/** Prints the enums that something of a schema has, sorted by name. */
export function enumTypes({ collections, functions }: RoleView): readonly string[] {
  const enums = collections.map((collection) => enumsIn(collection, () => findEnums(collection)));
  const read = enums.flatMap((found) => found.read);
  const all = new Set([
    ...enums.flatMap((found) => found.all),
    ...functions.flatMap(({ graphqlEnums }) => graphqlEnums.map(({ type }) => type)),
  ]);
  const compared = new Set(read);
  return [...all]
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .map((found) => {
      const input = compared.has(found) ? [operatorInput(enumGroup(found.name))] : [];
      return [sdlEnum(found.name, found.labels), ...input].join('\n');
    });
}

interface CollectionEnums {
  readonly all: readonly GraphqlEnum[];
  /** Enums that can be compared. */
  readonly read: readonly GraphqlEnum[];
}

const enumsIn = createFacts<RoleCollection, CollectionEnums>();

function findEnums(collection: RoleCollection): CollectionEnums {
  const single = collection.fields.filter(({ descriptor }) => descriptor.type !== 'array');
  return { all: enumsOf(fieldsOf(collection)), read: enumsOf(single) };
}

/** Fields of an item, and those of its payloads: some can only be written. */
function fieldsOf({ fields, key, writes }: RoleCollection) {
  return [
    ...fields,
    ...key,
    ...(writes?.key ?? []),
    ...(writes?.create?.fields ?? []),
    ...(writes?.update?.fields ?? []),
  ];
}

function enumsOf(fields: readonly Pick<RoleCollection['fields'][number], 'valuesType'>[]): readonly GraphqlEnum[] {
  return fields.flatMap(({ valuesType }) => valuesType?.graphqlEnum ?? []);
}
