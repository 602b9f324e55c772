/** Integers: of at most 32 bits, and of 64 bits as text. */
import { decodeInteger, digitsPattern, orderOf, outOfList, textSchema } from './decoding.ts';
import { type BrokenLimit, castToDigits, type Schema, type TypeDefinition, type ValueFacts } from './definition.ts';

/** `FieldDescriptor.native` of integers that need 32 bits without a sign. */
export const unsignedInteger = 'uint4';

/** That of integers without a sign that outgrow the usual type, by the base of their column. */
export const unsignedNatives: ReadonlyMap<string, string> = new Map([
  ['int unsigned', unsignedInteger],
  ['bigint unsigned', 'uint8'],
]);

/** Smallest and largest values of columns that hold fewer integers than usual ones, by the base of their type. */
export const narrowIntegers: Readonly<Record<string, readonly [number, number]>> = {
  int2: [-32_768, 32_767],
  tinyint: [-128, 127],
  'tinyint unsigned': [0, 255],
  'smallint unsigned': [0, 65_535],
  mediumint: [-8_388_608, 8_388_607],
  'mediumint unsigned': [0, 16_777_215],
  // And two digits, which are another year.
  year: [1901, 2155],
};

function limit(facts: ValueFacts, text: string): BrokenLimit | undefined {
  const limits = facts.limits ?? narrowIntegers[facts.native ?? ''];
  const number = Number(text);
  const isOut = limits !== undefined && (number < 0 || number > 99) && (number < limits[0] || number > limits[1]);
  return isOut ? { type: 'range', message: 'is out of range' } : outOfList(facts, text);
}

/** Integers without a sign reach beyond 32 bits. */
function format({ native }: ValueFacts): 'int32' | 'int64' {
  return native === unsignedInteger ? 'int64' : 'int32';
}

function schema(facts: ValueFacts): Schema {
  return { type: 'integer', format: format(facts) };
}

function input(facts: ValueFacts): Schema {
  return { type: ['integer', 'string'], format: format(facts), pattern: digitsPattern };
}

export const integer: TypeDefinition = {
  decode: (value, { native }) =>
    decodeInteger(value, -2_147_483_648n, native === unsignedInteger ? 4_294_967_295n : 2_147_483_647n),
  limit,
  order: (left, right) => orderOf(BigInt(left), BigInt(right)),
  // Columns of some servers are filled with zeros.
  spelling: (text) => text.replace(/^(-?)0+(?=\d)/, '$1'),
  family: 'number',
  comparison: 'number',
  typescript: { value: 'number' },
  schema,
  input,
  graphql: { value: 'Int', filter: 'number' },
  key: 'integer',
  isKept: true,
  forms: {
    binary: { native: 'int4', wire: { kind: 'i4' } },
    text: { native: 'int4', wire: { kind: 'number', cast: castToDigits } },
  },
};

const signed = textSchema('-?[0-9]{1,19}');
const unsigned = textSchema('[0-9]{1,20}');

const smallest = -(2n ** 63n);
const largest = 2n ** 63n - 1n;
const largestUnsigned = 2n ** 64n - 1n;

export const bigInteger: TypeDefinition = {
  ...integer,
  decode: (value, { native }) => decodeInteger(value, smallest, native === 'uint8' ? largestUnsigned : largest),
  limit: outOfList,
  typescript: { value: 'string', also: 'number' },
  schema: ({ native }) => (native === 'uint8' ? unsigned : signed),
  input: { type: ['string', 'integer'], pattern: digitsPattern },
  graphql: { value: 'GraphQLBigInt', filter: 'big_int' },
  forms: {
    binary: { native: 'int8', wire: { kind: 'i8' } },
    text: { native: 'int8', wire: { kind: 'text', cast: castToDigits } },
  },
};
