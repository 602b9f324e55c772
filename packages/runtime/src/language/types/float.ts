/** Floating-point number. */
import type { JsonValue } from '../values/parse-text.ts';
import { accept, beyond, infinite, numberPattern, orderOfRounded, refuse, writtenNumber } from './decoding.ts';
import { castToText, type Decoded, type TypeDefinition, type ValueFacts } from './definition.ts';

function decode(value: JsonValue, { native }: ValueFacts): Decoded {
  if (typeof value === 'string' && infinite.includes(value)) return accept(value);
  const isWritten = typeof value === 'number' || (typeof value === 'string' && writtenNumber.test(value));
  const number = isWritten ? Number(value) : Number.NaN;
  if (!Number.isFinite(number)) return refuse('must be a number');
  const isReal = native === 'float4' || native === 'pg_catalog.float4' || native === 'real';
  // The largest and the smallest real are printed rounded, so what decides is what they are rounded to.
  const fits = Number.isFinite(Math.fround(number)) && (number === 0 || Math.fround(number) !== 0);
  if (isReal && !fits) return beyond('range', 'is out of range');
  return accept(String(number));
}

/** A float of four bytes has at least six digits, of which the sixth may be rounded. */
function order(leftText: string, rightText: string): number | undefined {
  const [left, right] = [Number(leftText), Number(rightText)];
  const isNear = Math.abs(left - right) <= 1e-5 * Math.max(Math.abs(left), Math.abs(right));
  return isNear ? undefined : orderOfRounded(left, right);
}

export const float: TypeDefinition = {
  decode,
  order,
  family: 'number',
  comparison: 'number',
  typescript: { value: 'FloatValue' },
  schema: { anyOf: [{ type: 'number' }, { type: 'string', enum: infinite }] },
  input: { type: ['number', 'string'], pattern: `^(${numberPattern}|NaN|-?Infinity)$` },
  graphql: { value: 'Float', filter: 'number' },
  forms: {
    binary: { native: 'float8', wire: { kind: 'number', cast: '::text' } },
    text: { native: 'float8', wire: { kind: 'number', cast: castToText } },
  },
};
