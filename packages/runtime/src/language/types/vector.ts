/** List of numbers that stands for a point among many dimensions, such as an embedding. */
import type { JsonValue } from '../values/parse-text.ts';
import { accept, beyond, numberOf, refuse } from './decoding.ts';
import type { Decoded, TypeDefinition, ValueFacts } from './definition.ts';

/** Numbers of one value. */
const maxDimensions = 16_000;

/** Largest numbers of two bytes. */
const largestHalf = 65_504;

function decode(value: JsonValue, { vector }: ValueFacts): Decoded {
  const numbers = Array.isArray(value) ? value.map(numberOf) : [];
  if (numbers.length === 0 || numbers.includes(undefined)) return refuse('must be a list of numbers');
  const { dimensions, half } = vector ?? {};
  if (dimensions !== undefined && numbers.length !== dimensions) return refuse(`must have ${dimensions} numbers`);
  if (numbers.length > maxDimensions) return refuse(`must not have more than ${maxDimensions} numbers`);
  const fits = (number = 0): boolean =>
    half === true ? Math.abs(number) <= largestHalf : Number.isFinite(Math.fround(number));
  return numbers.every(fits) ? accept(JSON.stringify(numbers)) : beyond('range', 'has a number that is out of range');
}

export const vector: TypeDefinition = {
  decode,
  comparison: 'vector',
  typescript: { value: 'number', list: true },
  schema: ({ vector: { dimensions } = { metric: 'cosine' } }) => ({
    type: 'array',
    items: { type: 'number' },
    ...(dimensions !== undefined && { minItems: dimensions, maxItems: dimensions }),
  }),
  graphql: { value: 'Vector', filter: 'vector' },
  isUnordered: true,
  forms: {
    binary: { native: 'text', wire: { kind: 'json' } },
    text: { native: 'text', wire: { kind: 'json' } },
  },
};
