/** Duration. */
import { readDuration } from '../values/dates.ts';
import { fromText, textSchema } from './decoding.ts';
import { castToText, type TypeDefinition } from './definition.ts';

export const interval: TypeDefinition = {
  decode: fromText(readDuration, 'an ISO 8601 duration'),
  family: 'interval',
  comparison: 'time',
  typescript: { value: 'string' },
  schema: textSchema('(P[-0-9.YMWDTHS]+|-?infinity)'),
  input: { type: 'string', description: 'An ISO 8601 duration.' },
  graphql: { value: 'String', filter: 'time' },
  hasWiderTexts: true,
  forms: {
    binary: { native: 'interval', wire: { kind: 'text', cast: '::text' } },
    text: { native: 'text', comparison: castToText, wire: { kind: 'text', cast: castToText } },
  },
};
