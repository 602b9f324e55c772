/** True or false. */
import type { JsonValue } from '../values/parse-text.ts';
import { accept, refuse } from './decoding.ts';
import type { Decoded, TypeDefinition } from './definition.ts';

function decode(value: JsonValue): Decoded {
  if (value === true || value === 1 || value === 'true' || value === '1') return accept('true');
  if (value === false || value === 0 || value === 'false' || value === '0') return accept('false');
  return refuse('must be true or false');
}

export const boolean: TypeDefinition = {
  decode,
  family: 'boolean',
  comparison: 'boolean',
  typescript: { value: 'boolean' },
  schema: { type: 'boolean' },
  input: { anyOf: [{ type: 'boolean' }, { enum: [1, 0, 'true', 'false', '1', '0'] }] },
  graphql: { value: 'Boolean', filter: 'boolean' },
  readFrom: ['boolean', 'integer'],
  hasFewValues: true,
  isKept: true,
  forms: {
    binary: { native: 'bool', wire: { kind: 'bool' } },
    text: {
      native: 'bool',
      comparison: '({} <> 0)',
      wire: { kind: 'bool', cast: "ELT(({} <> 0) + 1, _binary X'00', _binary X'01')" },
    },
  },
};
