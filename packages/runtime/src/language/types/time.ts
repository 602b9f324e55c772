/** Time of the day. */
import { readLongTime, readTime } from '../values/dates.ts';
import { fromText, isCast, textSchema, timePattern, withoutZeros } from './decoding.ts';
import { castToText, type TypeDefinition, timedFunctions, type ValueFacts } from './definition.ts';

const plain = textSchema(timePattern);
const long = textSchema(timePattern.replace('[0-9]{2}', '-?[0-9]{2,3}'));
const zoned = textSchema(`${timePattern}([+-][0-9]{2}(:[0-9]{2}){0,2})?`);

/** Some servers take a time for a duration, which may be longer than a day. */
function readTimeOf(text: string, { native, wire }: ValueFacts): string | undefined {
  const zoned = native?.endsWith('timetz') === true;
  const isDuration = !zoned && wire !== undefined && isCast(wire);
  return readTime(text, zoned) ?? (isDuration ? readLongTime(text) : undefined);
}

export const time: TypeDefinition = {
  decode: fromText(readTimeOf, 'a time (HH:MM:SS)'),
  spelling: withoutZeros,
  family: 'time',
  comparison: 'time',
  functions: timedFunctions,
  typescript: { value: 'string' },
  schema: ({ wire }) => {
    if (wire !== undefined && isCast(wire)) return long;
    return wire?.kind === 'time' ? plain : zoned;
  },
  input: { type: 'string', description: 'HH:MM:SS' },
  graphql: { value: 'String', filter: 'time' },
  isMoment: true,
  hasWiderTexts: true,
  forms: {
    binary: { native: 'time', wire: { kind: 'time' } },
    text: { native: 'time', wire: { kind: 'text', cast: castToText } },
  },
};
