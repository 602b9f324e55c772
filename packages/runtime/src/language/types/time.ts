/** Time of the day. */
import { readTime } from '../values/dates.ts';
import { fromText, textSchema, timePattern } from './decoding.ts';
import { castToText, type TypeDefinition, timedFunctions } from './definition.ts';

const plain = textSchema(timePattern);
const zoned = textSchema(`${timePattern}([+-][0-9]{2}(:[0-9]{2}){0,2})?`);

export const time: TypeDefinition = {
  decode: fromText((text, { native }) => readTime(text, native?.endsWith('timetz') === true), 'a time (HH:MM:SS)'),
  family: 'time',
  comparison: 'time',
  functions: timedFunctions,
  typescript: { value: 'string' },
  schema: ({ wire }) => (wire?.kind === 'time' ? plain : zoned),
  input: { type: 'string', description: 'HH:MM:SS' },
  graphql: { value: 'String', filter: 'time' },
  isMoment: true,
  hasWiderTexts: true,
  forms: {
    binary: { native: 'time', wire: { kind: 'time' } },
    text: { native: 'time', wire: { kind: 'text', cast: castToText } },
  },
};
