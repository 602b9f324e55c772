/** Bytes, as text in base64. */
import type { JsonValue } from '../values/parse-text.ts';
import { accept, refuse } from './decoding.ts';
import type { Decoded, TypeDefinition } from './definition.ts';

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decode(value: JsonValue): Decoded {
  if (typeof value !== 'string' || !base64.test(value)) return refuse('must be base64');
  return accept(`\\x${Buffer.from(value, 'base64').toString('hex')}`);
}

export const binary: TypeDefinition = {
  decode,
  comparison: 'presence',
  typescript: { value: 'string' },
  schema: { type: 'string', contentEncoding: 'base64' },
  graphql: { value: 'String', filter: 'null' },
  hasWiderTexts: true,
  forms: {
    binary: { native: 'bytea', wire: { kind: 'bytes' } },
    text: { native: 'bytea', wire: { kind: 'bytes' } },
  },
};
