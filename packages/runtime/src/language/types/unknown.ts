/** Type without a portable form, read as text. */
import { decodeText } from './decoding.ts';
import { castToText, type TypeDefinition } from './definition.ts';

export const unknown: TypeDefinition = {
  decode: decodeText,
  comparison: 'presence',
  typescript: { value: 'string' },
  schema: { type: 'string' },
  graphql: { value: 'String', filter: 'null' },
  isUnordered: true,
  forms: {
    binary: { native: 'text', comparison: '::text', wire: { kind: 'text', cast: '::text' } },
    text: { native: 'text', comparison: castToText, wire: { kind: 'text', cast: castToText } },
  },
};
