/** Moment. */
import { readTimestamp } from '../values/dates.ts';
import { dateTime } from './date-time.ts';
import { dayPattern, fromText, orderOfMoments, textSchema, timePattern, withinYears } from './decoding.ts';
import { castToTime, type TypeDefinition } from './definition.ts';

/** The moment in UTC, without zeros at the end of a fraction. */
function spelling(_: string, date: string, clock: string, fraction = '', offset = ''): string {
  const [day, time] = new Date(`${date}T${clock}${offset}`).toISOString().slice(0, -5).split('T');
  return `${day} ${time}${fraction === '' ? '' : `.${fraction}`}+00:00`;
}

export const timestamp: TypeDefinition = {
  ...dateTime,
  decode: fromText(withinYears(readTimestamp), 'a date, or a date and time'),
  order: orderOfMoments(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d:\d\d$/, ''),
  spelling: (text) =>
    text.replace(/^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.(\d*?)0*)?([+-]\d{2}:\d{2})$/, spelling),
  family: 'timestamp',
  schema: textSchema(`(${dayPattern}T${timePattern}\\+00:00( BC)?|-?infinity)`),
  input: { type: 'string', description: 'A date, or a date and time with an offset, Z, or none, which means UTC.' },
  forms: {
    binary: { native: 'timestamptz', wire: { kind: 'timestamptz' } },
    text: { native: 'timestamptz', wire: { kind: 'text', cast: `CONCAT(${castToTime}, '+00:00')` } },
  },
};
