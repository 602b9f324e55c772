/** List of texts, stored as one text with commas. */
import type { JsonValue } from '../values/parse-text.ts';
import { decodeText, refuse, tooLong } from './decoding.ts';
import type { Decoded, TypeDefinition } from './definition.ts';

function decode(value: JsonValue): Decoded {
  if (!Array.isArray(value)) return decodeText(value);
  const parts = value.map((part) => (typeof part === 'string' && !part.includes(',') ? part : undefined));
  return parts.includes(undefined) ? refuse('must be a list of texts without commas') : decodeText(parts.join(','));
}

export const csv: TypeDefinition = {
  decode,
  limit: tooLong,
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
