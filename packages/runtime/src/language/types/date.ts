/** Day of a calendar. */
import { readDate } from '../values/dates.ts';
import { dayPattern, fromText, orderOfMoments, textSchema, withinYears } from './decoding.ts';
import { castToText, datedFunctions, type TypeDefinition } from './definition.ts';

export const date: TypeDefinition = {
  decode: fromText(withinYears(readDate), 'a date (YYYY-MM-DD)'),
  order: orderOfMoments(/^\d{4}-\d\d-\d\d$/, 'T00:00:00Z'),
  family: 'date',
  comparison: 'time',
  functions: datedFunctions,
  typescript: { value: 'string' },
  schema: textSchema(`(${dayPattern}( BC)?|-?infinity)`),
  input: { type: 'string', description: 'YYYY-MM-DD' },
  graphql: { value: 'Date', filter: 'date' },
  isMoment: true,
  hasWiderTexts: true,
  forms: {
    binary: { native: 'date', wire: { kind: 'date' } },
    text: { native: 'date', wire: { kind: 'text', cast: castToText } },
  },
};
