/** One of the labels of an enum. */
import type { JsonValue } from '../values/parse-text.ts';
import { beyond, decodeText, mustBeText, refuse } from './decoding.ts';
import type { Decoded, TypeDefinition, ValueFacts } from './definition.ts';
import { string } from './string.ts';

function decode(value: JsonValue, { values }: ValueFacts): Decoded {
  if (typeof value !== 'string') return refuse(mustBeText);
  if (values !== undefined && !values.includes(value)) return beyond('enum', 'is not one of the allowed values');
  return decodeText(value);
}

export const enumeration: TypeDefinition = {
  decode,
  family: 'text',
  comparison: 'choice',
  typescript: { value: 'string' },
  schema: string.schema,
  graphql: { value: 'String', filter: 'enum' },
  hasFewValues: true,
  isListable: true,
  isKept: true,
  forms: {
    binary: { native: 'text', wire: { kind: 'text' } },
    text: { native: 'text', wire: { kind: 'text' } },
  },
};
