/** Day and time without a zone. */
import { readDateTime } from '../values/dates.ts';
import { date } from './date.ts';
import {
  dayPattern,
  fromText,
  orderOfMoments,
  textSchema,
  timePattern,
  withinYears,
  withoutZeros,
} from './decoding.ts';
import { castToTime, datedFunctions, type TypeDefinition, timedFunctions } from './definition.ts';

export const dateTime: TypeDefinition = {
  ...date,
  decode: fromText(withinYears(readDateTime), 'a date and time without a zone'),
  order: orderOfMoments(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?$/, 'Z'),
  spelling: withoutZeros,
  family: 'dateTime',
  functions: [...datedFunctions, ...timedFunctions],
  schema: textSchema(`(${dayPattern}T${timePattern}( BC)?|-?infinity)`),
  input: { type: 'string', description: 'A date, or a date and time without a zone.' },
  forms: {
    binary: { native: 'timestamp', wire: { kind: 'timestamp' } },
    text: { native: 'timestamp', wire: { kind: 'text', cast: castToTime } },
  },
};
