/** Identifier of 128 bits. */
import { fromText } from './decoding.ts';
import type { TypeDefinition } from './definition.ts';

const pattern = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** True for the text of an identifier, in any case. */
export function isUuid(text: string): boolean {
  return pattern.test(text);
}

export const uuid: TypeDefinition = {
  decode: fromText((text) => (isUuid(text) ? text.toLowerCase() : undefined), 'a uuid'),
  family: 'uuid',
  comparison: 'choice',
  typescript: { value: 'string' },
  schema: { type: 'string', format: 'uuid' },
  graphql: { value: 'String', key: 'ID', filter: 'id' },
  readFrom: ['string', 'text', 'uuid'],
  key: 'uuid',
  isKept: true,
  forms: {
    binary: { native: 'uuid', wire: { kind: 'uuid' } },
    text: { native: 'uuid', wire: { kind: 'text', cast: 'LOWER(CAST({} AS CHAR))' } },
  },
};
