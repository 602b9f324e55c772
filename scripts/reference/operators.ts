/** What the declarations of types and operators say: TypeScript types of filters, and a table of the guide. */
import {
  type Comparison,
  definitions,
  type Operator,
  type OperatorDefinition,
  operandForm,
  operatorsOf,
  types,
  vectorMetrics,
} from '../../packages/runtime/src/language/index.ts';
import { code, table } from './markdown.ts';

/** Interfaces of operators: each has those of one comparison that its base does not have. */
const interfaces = [
  { name: 'NullOperators', has: 'presence', says: 'Operators of every field.' },
  { name: 'EqualOperators<Value>', base: 'presence', has: 'choice', says: 'Fields that are equal or not: uuid, enum.' },
  {
    name: 'BooleanOperators',
    base: 'presence',
    has: 'boolean',
    value: 'boolean',
    says: 'Fields that are true or false.',
  },
  {
    name: 'OrderOperators<Value>',
    base: 'choice',
    has: 'number',
    says: 'Fields with an order: numbers, dates, times, intervals.',
  },
  {
    name: 'TextOperators<Value extends string | readonly string[] = string>',
    base: 'choice',
    has: 'text',
    says: 'Fields of text, and lists of texts. The forms with `i` ignore case.',
  },
  {
    name: 'ElementOperators<Value>',
    base: 'presence',
    has: 'json',
    says: 'Looks for elements; the forms with `n` are their negations.',
  },
  {
    name: 'ArrayOperators<Value>',
    base: 'json',
    has: 'array',
    says: 'Fields that are arrays: as a whole, and by their elements.',
  },
  { name: 'GeometryOperators', base: 'presence', has: 'geometry', value: 'Geometry', says: 'Fields of geometries.' },
  { name: 'VectorOperators', base: 'presence', has: 'vector', value: 'number', says: 'Fields of vectors.' },
  { name: 'RangeOperators<Value>', base: 'presence', has: 'range', says: 'Fields that are ranges, or several ranges.' },
] as const satisfies readonly {
  readonly name: string;
  readonly has: Comparison;
  readonly base?: Comparison;
  readonly value?: string;
  readonly says: string;
}[];

const head = `/**
 * The TypeScript types of values and filters, printed of the declarations in \`language/operators\`: \`npm run golden\`
 * prints them anew. Source: API specification, sections 5.2 and 5.3.
 */

/** A floating-point number as JSON sends it. */
export type FloatValue = number | 'NaN' | 'Infinity' | '-Infinity';

/** An array as it is written: of elements, or of arrays of these where it has several dimensions. */
export type ArrayValue<Value> = readonly (Value | null | ArrayValue<Value>)[];

/** A value that the server fills in when it runs the filter: \`$NOW(-1 day)\`, \`$CURRENT_USER\`. */
export type DynamicValue = \`$\${string}\`;

/** Longitude and latitude, or a pair of numbers of a plane. */
export type Position = readonly [x: number, y: number];

/** A geometry of GeoJSON (RFC 7946). */
export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: Position }
  | { readonly type: 'MultiPoint' | 'LineString'; readonly coordinates: readonly Position[] }
  | { readonly type: 'MultiLineString' | 'Polygon'; readonly coordinates: readonly (readonly Position[])[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly (readonly Position[])[])[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] };

/** Measure of the distance between vectors; \`inner\` is the negative inner product. */
export type DistanceMetric = ${vectorMetrics.map((metric) => `'${metric}'`).join(' | ')};

/** From the first value up to the second, which is left out; null is no end. */
export type Span<Value> = readonly [Value | null, Value | null];
`;

function tail(): string {
  return `/** Values within JSON that can be compared. */
export type JsonScalar = string | number | boolean;

/** Fields of JSON, and values in it by their JSON Pointer: \`'/address/city'\`. */
export interface JsonOperators extends ElementOperators<JsonScalar> {
  readonly [path: \`/\${string}\`]: JsonValueOperators | JsonScalar | null;
}

/** Fields that are objects of a type of the database, and their members by path: \`'/city'\`. */
export interface CompositeOperators extends NullOperators {
  readonly [path: \`/\${string}\`]: JsonValueOperators | JsonScalar | null;
}

/** A value within JSON: it is compared as what stands beside the operator. */
export type JsonValueOperators = JsonOperators &
  OrderOperators<JsonScalar> &
  Omit<TextOperators, keyof OrderOperators<string> | ${printUnion(notInside())}>;

/** Relations to many items: some related item matches, or none does. */
export interface ManyOperators<Filter> {
  readonly _some?: Filter;
  readonly _none?: Filter;
}
`;
}

/** Operators of text that values within JSON do not have. */
function notInside(): readonly Operator[] {
  const inside = operatorsOf('inside');
  return operatorsOf('text').filter((operator) => !inside.includes(operator));
}

function printUnion(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(' | ');
}

/** The types of filters that generated servers and clients share. */
export function printFilterTypes(): string {
  return [head, ...interfaces.map(printInterface), tail()].join('\n');
}

function printInterface(declared: (typeof interfaces)[number]): string {
  const base = 'base' in declared ? declared.base : undefined;
  const parent = interfaces.find(({ has }) => has === base)?.name.replace(/ extends .*>/, '>');
  const inherited = base === undefined ? [] : operatorsOf(base);
  const own = operatorsOf(declared.has).filter((operator) => !inherited.includes(operator));
  const value = 'value' in declared ? declared.value : 'Value';
  const members = own.map((operator) => `  readonly ${operator}?: ${operandType(operator, declared.has, value)};`);
  const head = `export interface ${declared.name}${parent === undefined ? '' : ` extends ${parent}`}`;
  return `/** ${declared.says} */\n${head} {\n${members.join('\n')}\n}\n`;
}

function operandType(operator: Operator, comparison: Comparison, value: string): string {
  const definition: OperatorDefinition = definitions[operator];
  const { ofElements } = definition;
  const sent = comparison === 'geometry' ? value : `${value} | DynamicValue`;
  switch (operandForm(definition, comparison)) {
    case 'flag':
      return 'boolean';
    case 'same':
      return comparison === 'array' ? `ArrayValue<${value}> | null` : `${sent} | null`;
    case 'value':
      return sent;
    case 'text':
      return 'string';
    case 'list':
      return `readonly (${sent})[]${ofElements === true ? '' : ' | DynamicValue'}`;
    case 'pair':
      return `readonly [${sent}, ${sent}]`;
    case 'span':
      return `Span<${value}>`;
    case 'box':
      return `${value} | readonly [west: number, south: number, east: number, north: number]`;
    case 'near':
      if (comparison === 'vector')
        return '{ readonly to: readonly number[]; readonly metric?: DistanceMetric; readonly within?: number }';
      return `{ readonly to: Position | ${value}; readonly within: number }`;
  }
}

/** Every type with its operators, those of one comparison in a row. */
export function printOperators(): string {
  const rows = Map.groupBy(Object.entries(types), ([, { comparison }]) => comparison);
  return table(
    ['Types', 'Operators'],
    [...rows].map(([comparison, named]) => [
      named.map(([name]) => code(name)).join(' '),
      comparison === null ? 'none' : operatorsOf(comparison).map(code).join(' '),
    ]),
  );
}
