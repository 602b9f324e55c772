/** Checks one value of a payload: its type, and the limits of its field. Source: API specification, section 6. */

import { holdsHugeNumber } from '../language/exact-numbers.ts';
import { decodeValue, type FieldDescriptor, type JsonValue } from '../language/index.ts';
import { isSecret } from '../language/operators.ts';

/** The text form of a value that is written. */
export type Given =
  | { readonly ok: true; readonly value: string | null }
  /** The same secret again, which changes nothing. */
  | { readonly ok: true; readonly unchanged: true }
  /** Not a value of the type: INVALID_PAYLOAD. */
  | { readonly ok: false; readonly message: string }
  /** A value that the field does not take: FAILED_VALIDATION of that type. */
  | { readonly ok: false; readonly message: string; readonly type: string };

/** Text that a secret reads as; sent back, it means that the secret stays. */
const mask = '**********';
/** Bytes of a value that is hashed; more would only cost time. */
const longestHashed = 1_024;

/** Decodes the value of a field as it came; `create` tells that there is no earlier value to keep. */
export function decodeGiven(field: FieldDescriptor, value: JsonValue, create: boolean): Given {
  if (value === null) {
    const allowed = field.nullable && field.required !== true;
    return allowed ? { ok: true, value: null } : invalid('required', 'is required');
  }
  if (isSecret(field.type) && value === mask) {
    return create ? invalid('check', 'must not be the mask of a secret') : { ok: true, unchanged: true };
  }
  const decoded = decodeValue(field, value);
  if (!decoded.ok) return decoded.limit === undefined ? decoded : invalid(decoded.limit, decoded.message);
  if (decoded.value === null) return { ok: true, value: null };
  if (field.type === 'json' && holdsHugeNumber(value)) return { ok: false, message: 'holds a number out of range' };
  return limitOf(field, decoded.value) ?? { ok: true, value: decoded.value };
}

function invalid(type: string, message: string): Given {
  return { ok: false, type, message };
}

/** The limit that a text form breaks; undefined when it breaks none. */
function limitOf(field: FieldDescriptor, text: string): Given | undefined {
  switch (field.type) {
    case 'integer':
      return outOfSmall(field, text) ?? outOfList(field, text);
    case 'bigInteger':
      return outOfList(field, text);
    case 'decimal':
      return outOfDigits(field, text);
    case 'hash':
      return Buffer.byteLength(text) > longestHashed ? invalid('max_length', 'is too long') : undefined;
    case 'string':
    case 'text':
      return tooLong(field, text) ?? outOfList(field, text);
    case 'csv':
    case 'secret':
    case 'token':
      return tooLong(field, text);
    default:
      return undefined;
  }
}

function tooLong({ maxLength }: FieldDescriptor, text: string): Given | undefined {
  // A text has at least half as many characters as UTF-16 units, so most are not counted.
  if (maxLength === undefined || text.length <= maxLength || characters(text) <= maxLength) return undefined;
  return invalid('max_length', `must not have more than ${maxLength} characters`);
}

function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Lists of values; those of `char(n)` are padded, so they are left to the database. */
function outOfList({ values, native }: FieldDescriptor, text: string): Given | undefined {
  if (values === undefined || native === 'bpchar' || values.includes(text)) return undefined;
  return invalid('enum', 'is not one of the allowed values');
}

function outOfSmall({ native }: FieldDescriptor, text: string): Given | undefined {
  const number = Number(text);
  const small = native === 'int2' && (number < -32_768 || number > 32_767);
  return small ? invalid('range', 'is out of range') : undefined;
}

/** A number with more digits than the column keeps would be rounded, and so be another one. */
function outOfDigits({ precision, scale = 0 }: FieldDescriptor, text: string): Given | undefined {
  if (precision === undefined) return undefined;
  const { whole, fraction } = digitsOf(text);
  if (whole > precision - scale) return invalid('range', 'is out of range');
  return fraction > scale
    ? invalid('range', `must not have more than ${Math.max(scale, 0)} decimal places`)
    : undefined;
}

/** How many digits a number has in front of the point and behind it, exponents applied, zeros at the ends left out. */
function digitsOf(text: string): { readonly whole: number; readonly fraction: number } {
  const [, integer = '', decimals = '', exponent = '0'] = /^-?(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = integer + decimals;
  const leading = /^0*/.exec(digits)?.[0].length ?? 0;
  if (leading === digits.length) return { whole: 0, fraction: 0 };
  const point = integer.length + Number(exponent);
  return { whole: Math.max(point - leading, 0), fraction: Math.max(digits.replace(/0+$/, '').length - point, 0) };
}
