/** Secrets: text that is written plain and read masked, and text that is stored as its hash. */
import { decodeText, tooLong } from './decoding.ts';
import type { BrokenLimit, TypeDefinition, ValueFacts } from './definition.ts';

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

/** Bytes of a value that is hashed; more would only cost time. */
const maxBytes = 1_024;

function limit(_: ValueFacts, text: string): BrokenLimit | undefined {
  return Buffer.byteLength(text) > maxBytes ? { type: 'max_length', message: 'is too long' } : undefined;
}

export const hash: TypeDefinition = { ...secret, limit };
