/** Field types → GraphQL types. Source: API specification, section 6. */
import type { GraphqlEnum } from '@tablewright/introspect/schema';
import {
  type Attribute,
  type FieldDescriptor,
  functionsOf,
  graphqlForms,
  graphqlName,
  isPortableType,
  type PortableType,
  splitQualified,
  types,
} from '@tablewright/runtime/language';
import { sdlScalar, sdlType } from '../print/sdl.ts';
import type { RoleView } from '../role-view/role-view.ts';

/** Facts that the type of values follows from. Results of functions have no `native`: they are numbers as over REST. */
type Valued = Pick<FieldDescriptor, 'type' | 'element' | 'wire' | 'composite'> & { readonly native?: string };

/** The type of a field's values, null aside; `key`: it is all of the key. `input`: the type of values to write. */
export function valueType(
  { type, element = 'unknown', wire, composite, native }: Valued,
  key: boolean,
  graphqlEnum: GraphqlEnum | null = null,
  input = false,
): string {
  if (wire.kind === 'masked') return 'Hash';
  if (composite !== undefined) {
    const name = compositeName(composite, input);
    return type === 'array' ? `[${name}]` : name;
  }
  if (graphqlEnum !== null) return type === 'array' ? `[${graphqlEnum.name}]` : graphqlEnum.name;
  const graphql = graphqlForms(type, native);
  if (type !== 'array') return key ? (graphql.key ?? graphql.value) : graphql.value;
  const { value } = types[element].graphql;
  // Lists within lists have no type of their own.
  return element === 'array' || value.startsWith('[') ? graphql.value : `[${value}]`;
}

/** `address_composite`, and `address_composite_input`: the types of values of `public.address`. */
export function compositeName(composite: string, input: boolean): string {
  const { schema, name } = splitQualified(composite);
  const full = schema === 'public' ? name : `${schema}_${name}`;
  return graphqlName(`${full}_composite${input ? '_input' : ''}`);
}

/** With an exclamation mark where null does not stand. */
export function nonNull(type: string, nullable: boolean): string {
  return nullable ? type : `${type}!`;
}

/** The scalars that GraphQL does not have of itself. */
export function scalarTypes(): string {
  return [
    sdlScalar('Date', 'A date, or a date and time, as text in ISO 8601.'),
    sdlScalar('Decimal', 'A number with a fraction, exact: text that is sent, text or a number that is taken.'),
    sdlScalar('GraphQLBigInt', 'A whole number of 64 bits: text that is sent, text or a whole number that is taken.'),
    sdlScalar('GraphQLStringOrFloat', 'A number, or text that stands for one.'),
    sdlScalar('Hash', 'A secret. It is written plain and read masked.'),
    sdlScalar('JSON', 'Any JSON value.'),
    sdlScalar('Void', 'Nothing: always null.'),
  ].join('');
}

/** Groups of functions of a field: it has a date, a time, both, or elements to count. */
type FunctionGroup = 'date' | 'time' | 'datetime' | 'count';

/** The functions of a field; null where there are none. */
export function functionGroup(type: PortableType): FunctionGroup | null {
  const functions = functionsOf(type);
  if (functions.includes('count')) return 'count';
  const dated = functions.includes('year');
  if (functions.includes('hour')) return dated ? 'datetime' : 'time';
  return dated ? 'date' : null;
}

/** `datetime_functions`: type of their results. */
export function functionsType(group: FunctionGroup): string {
  return `${group}_functions`;
}

/** `datetime_function_filter_operators`: filter of their results. */
export function functionsFilter(group: FunctionGroup): string {
  return `${group}_function_filter_operators`;
}

/** Type of what is computed of a type that has distances: `geometry_functions`. */
export function distanceType(type: PortableType): string {
  return `${type}_functions`;
}

const examples = { date: 'date', time: 'time', datetime: 'timestamp', count: 'json' } as const;

export function functionTypes(): string {
  const all = (['date', 'time', 'datetime', 'count'] as const).map((group) => {
    const names = functionsOf(examples[group]);
    return [
      sdlType(
        'type',
        functionsType(group),
        names.map((name) => ({ name, type: 'Int' })),
      ),
      sdlType(
        'input',
        functionsFilter(group),
        names.map((name) => ({ name, type: 'number_filter_operators' })),
      ),
    ];
  });
  return all.flat().join('\n');
}

type Composite = Pick<FieldDescriptor, 'attributes' | 'composite'>;

/** The composite types among values, and those within them, by their names in the database. */
export function compositesOf(values: Iterable<Composite>): ReadonlyMap<string, readonly Attribute[]> {
  const found = new Map<string, readonly Attribute[]>();
  const add = ({ attributes = [], composite }: Composite): void => {
    if (composite === undefined || found.has(composite)) return;
    found.set(composite, attributes);
    for (const attribute of attributes) add(attribute);
  };
  for (const value of values) add(value);
  return found;
}

/** Prints the composite types that something of a schema has, sorted by name. */
export function compositeTypes({ collections, functions }: RoleView): readonly string[] {
  const results = functions.flatMap(({ returns }): readonly Composite[] => {
    if (returns.kind === 'value') return [returns.value];
    return returns.kind === 'objects' ? returns.members : [];
  });
  const read = collections.flatMap(({ fields }) => fields.map(({ descriptor }) => descriptor));
  const written = collections.flatMap(({ writes }) =>
    [writes?.create, writes?.update].flatMap((payload) => payload?.fields.map(({ descriptor }) => descriptor) ?? []),
  );
  const taken = functions.flatMap(({ arguments: args }) => args);
  return [
    ...[...compositesOf([...read, ...results])].map(([name, attributes]) => printComposite(name, attributes, false)),
    ...[...compositesOf([...written, ...taken])].map(([name, attributes]) => printComposite(name, attributes, true)),
  ].sort();
}

function printComposite(name: string, attributes: readonly Attribute[], input: boolean): string {
  const members = attributes.map(({ name: member, type, element, composite }) => {
    const portable = (text = 'unknown') => (isPortableType(text) ? text : 'unknown');
    const facts = { element: portable(element), wire: { kind: 'text' }, ...(composite && { composite }) } as const;
    return { name: graphqlName(member), type: valueType({ type: portable(type), ...facts }, false, null, input) };
  });
  return sdlType(input ? 'input' : 'type', compositeName(name, input), members);
}
