/** List of texts, stored as one text with commas. */
import type { JsonValue } from '../values/parse-text.ts';
import { decodeText, refuse, tooLong } from './decoding.ts';
import type { BrokenLimit, Decoded, TypeDefinition, ValueFacts } from './definition.ts';

function decode(value: JsonValue): Decoded {
  if (!Array.isArray(value)) return decodeText(value);
  const parts = value.map((part) => (typeof part === 'string' && !part.includes(',') ? part : undefined));
  return parts.includes(undefined) ? refuse('must be a list of texts without commas') : decodeText(parts.join(','));
}

/** Labels of a `set` are those of its parts; a check of the database may list whole texts. */
function limit(facts: ValueFacts, text: string): BrokenLimit | undefined {
  const { values } = facts;
  const isListed = values === undefined || text === '' || values.includes(text);
  if (isListed || text.split(',').every((part) => values.includes(part))) return tooLong(facts, text);
  return { type: 'enum', message: 'has a value that is not one of the allowed ones' };
}

export const csv: TypeDefinition = {
  decode,
  limit,
  family: 'text',
  comparison: 'list',
  typescript: { value: 'string', list: true, also: 'string' },
  schema: { type: 'array', items: { type: 'string' } },
  input: { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }] },
  graphql: { value: '[String]', filter: 'string' },
  readFrom: ['string', 'text'],
  forms: {
    binary: { native: 'text', comparison: '::text', wire: { kind: 'csv', cast: '::text' } },
    text: { native: 'text', wire: { kind: 'csv' } },
  },
};
