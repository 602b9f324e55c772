/** Text that is written plain and read masked. */
import { decodeText, tooLong } from './decoding.ts';
import type { TypeDefinition } from './definition.ts';

export const secret: TypeDefinition = {
  decode: decodeText,
  limit: tooLong,
  comparison: null,
  typescript: { value: 'string' },
  schema: { type: 'string', enum: ['**********'] },
  input: { type: 'string', writeOnly: true },
  graphql: { value: 'Hash', filter: null },
  readFrom: ['string', 'text'],
  forms: {
    binary: { native: 'text', comparison: '::text', wire: { kind: 'masked', cast: '::text' } },
    text: { native: 'text', wire: { kind: 'masked' } },
  },
};

/** Secret that signs its user in. */
export const token: TypeDefinition = secret;
