/** Integer of 64 bits, as text. */
import { decodeInteger, digitsPattern, outOfList, textSchema } from './decoding.ts';
import { castToDigits, type TypeDefinition } from './definition.ts';
import { integer } from './integer.ts';

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
