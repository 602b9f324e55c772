/** Type without a portable form, read as text. */
import { decodeText } from './decoding.ts';
import type { TypeDefinition } from './definition.ts';

export const unknown: TypeDefinition = {
  decode: decodeText,
  comparison: 'presence',
  typescript: { value: 'string' },
  schema: { type: 'string' },
  graphql: { value: 'String', filter: 'null' },
  isUnordered: true,
};
