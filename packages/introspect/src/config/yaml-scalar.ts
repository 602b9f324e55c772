import type { Scalar } from 'yaml';

/** The value of a scalar. Numbers keep every digit: those that a JSON number would round are given as their text. */
export function scalarValue({ value, source }: Scalar): string | number | boolean | null {
  if (typeof value === 'bigint') return isSafe(value) ? Number(value) : value.toString();
  if (typeof value === 'number') return numberValue(value, source ?? String(value));
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

function isSafe(value: bigint): boolean {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
}

function numberValue(value: number, source: string): number | string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return /^[-+]?\./.test(source) ? (value > 0 ? 'Infinity' : '-Infinity') : source;
  const digits = source.replace(/e.*$/i, '').replaceAll(/[^\d]/g, '').replace(/^0+/, '');
  return digits.length > 15 ? source.replace(/^\+/, '') : value;
}
