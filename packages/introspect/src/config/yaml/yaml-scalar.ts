import type { Scalar } from 'yaml';
import type { SourceScalar } from './source.ts';

/**
 * The value of a scalar. Numbers keep every digit: those that a JSON number would round are marked texts. Zeros
 * in front make a text, as in a code of a place or a thing.
 */
export function scalarValue({ value, source }: Scalar): Pick<SourceScalar, 'value' | 'digits'> {
  if (typeof value !== 'string' && source !== undefined && /^0\d+$/.test(source)) return { value: source };
  if (typeof value === 'bigint') return isSafe(value) ? { value: Number(value) } : written(value.toString());
  if (typeof value === 'number') return numberValue(value, source ?? String(value));
  return { value: typeof value === 'string' || typeof value === 'boolean' ? value : null };
}

function written(digits: string): Pick<SourceScalar, 'value' | 'digits'> {
  return { value: digits, digits: true };
}

function isSafe(value: bigint): boolean {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
}

function numberValue(value: number, source: string): Pick<SourceScalar, 'value' | 'digits'> {
  if (Number.isNaN(value)) return { value: 'NaN' };
  if (!Number.isFinite(value) && /^[-+]?\.i/i.test(source)) return { value: value > 0 ? 'Infinity' : '-Infinity' };
  const digits = source.replace(/e.*$/i, '').replaceAll(/[^\d]/g, '').replace(/^0+/, '');
  return digits.length > 15 || !Number.isFinite(value) ? written(asJson(source)) : { value };
}

/** A number as JSON writes it: YAML takes a plus, zeros before it, and a point at either end. */
function asJson(source: string): string {
  return source
    .replace(/^\+/, '')
    .replace(/^(-?)0+(?=\d)/, '$1')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?!\d)/, '');
}
