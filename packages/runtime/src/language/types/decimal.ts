/** Exact number with a fraction, as text. */
import type { JsonValue } from '../values/parse-text.ts';
import {
  accept,
  hasInfinite,
  infinite,
  numberPattern,
  orderOfRounded,
  refuse,
  textSchema,
  writtenNumber,
} from './decoding.ts';
import {
  type BrokenLimit,
  castToText,
  type Decoded,
  type Schema,
  type TypeDefinition,
  type ValueFacts,
} from './definition.ts';

function decode(value: JsonValue, facts: ValueFacts): Decoded {
  if (typeof value === 'string' && infinite.includes(value) && hasInfinite(facts)) return accept(value);
  if (typeof value === 'string' && writtenNumber.test(value)) return accept(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return refuse('must be a decimal number');
  const text = String(value);
  const digits = text.replace(/e.*$/, '').replace(/^-?0*\.?0*|\.|0+$/g, '').length;
  // Beyond 2^53 and 15 digits the number that was written may have been another one.
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER && digits > 15)
    return refuse('must be written as text to keep its digits');
  return accept(text);
}

/** A number with more digits than the column keeps would be rounded, and so be another one. */
function limit({ precision, scale = 0 }: ValueFacts, text: string): BrokenLimit | undefined {
  if (precision === undefined) return undefined;
  if (text.endsWith('Infinity')) return { type: 'range', message: 'is out of range' };
  const { whole, fraction } = decimalDigits(text);
  if (whole.length > precision - scale) return { type: 'range', message: 'is out of range' };
  const lost = scale < 0 ? whole.slice(scale).replaceAll('0', '') + fraction : fraction.slice(scale);
  if (lost === '') return undefined;
  const form = scale < 0 ? `end in ${-scale} zeros` : `not have more than ${scale} decimal places`;
  return { type: 'range', message: `must ${form}` };
}

/** The digits of a number before its point and behind it, exponents applied, zeros at the ends left out. */
export function decimalDigits(text: string): Readonly<Record<'sign' | 'whole' | 'fraction', string>> {
  const [, sign = '', integer = '', decimals = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = integer + decimals;
  const point = integer.length + Number(exponent);
  const whole = digits.slice(0, Math.max(point, 0)).padEnd(point, '0');
  const fraction = '0'.repeat(Math.max(-point, 0)) + digits.slice(Math.max(point, 0));
  return { sign, whole: whole.replace(/^0+/, ''), fraction: fraction.replace(/0+$/, '') };
}

/** Without a precision a numeric can be infinite; with a scale it is always written to it. */
function schema({ precision, scale }: ValueFacts): Schema {
  if (precision === undefined) return textSchema('(-?[0-9]+(\\.[0-9]+)?|NaN|-?Infinity)');
  const digits = Math.max(scale ?? 0, 0);
  return textSchema(`(-?[0-9]+${digits === 0 ? '' : `\\.[0-9]{${digits}}`}|NaN)`);
}

/** Any number can be none, but only one without a precision can be infinite. */
function takenPattern(facts: ValueFacts): string {
  if (!hasInfinite(facts)) return numberPattern;
  return `(${numberPattern}|NaN${facts.precision === undefined ? '|-?Infinity' : ''})`;
}

function spelling(_: string, sign: string, whole: string, places = ''): string {
  const value = places === '' ? whole : `${whole}.${places}`;
  return value === '0' ? value : sign + value;
}

export const decimal: TypeDefinition = {
  decode,
  limit,
  order: (left, right) => orderOfRounded(Number(left), Number(right)),
  spelling: (text) => text.replace(/^(-?)\+?0*(\d+?)(?:\.(\d*?)0*)?$/, spelling),
  family: 'number',
  comparison: 'number',
  typescript: { value: 'string', also: 'number' },
  schema,
  input: (facts) => ({ type: ['string', 'number'], pattern: `^${takenPattern(facts)}$` }),
  graphql: { value: 'Decimal', filter: 'decimal' },
  hasWiderTexts: true,
  forms: {
    binary: { native: 'numeric', wire: { kind: 'text', cast: '::text' } },
    text: { native: 'numeric', wire: { kind: 'text', cast: castToText } },
  },
};
