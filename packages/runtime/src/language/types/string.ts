/** Short text. */
import { decodeText, outOfList, tooLong } from './decoding.ts';
import type { BrokenLimit, Schema, TypeDefinition, ValueFacts } from './definition.ts';

function schema({ maxLength }: ValueFacts): Schema {
  return { type: 'string', ...(maxLength !== undefined && { maxLength }) };
}

function limit(facts: ValueFacts, text: string): BrokenLimit | undefined {
  return tooLong(facts, text) ?? outOfList(facts, text);
}

export const string: TypeDefinition = {
  decode: decodeText,
  limit,
  family: 'text',
  comparison: 'text',
  typescript: { value: 'string' },
  schema,
  graphql: { value: 'String', filter: 'string' },
  isListable: true,
  isKept: true,
  forms: {
    binary: { native: 'text', wire: { kind: 'text' } },
    text: { native: 'text', wire: { kind: 'text' } },
  },
};

/** Text of any length. */
export const text: TypeDefinition = string;
