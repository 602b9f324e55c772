/** Checks one value of a payload: its type, and the limits of its field. Source: API specification, section 6. */

import { decodeValue, type FieldDescriptor, type JsonValue } from '../../language/index.ts';
import { isSecret, types } from '../../language/types/index.ts';
import { holdsHugeNumber } from '../../language/values/exact-numbers.ts';

/** The text form of a value that is written. */
export type DecodedValue =
  | { readonly ok: true; readonly value: string | null }
  /** The same secret again, which changes nothing. */
  | { readonly ok: true; readonly unchanged: true }
  /** Not a value of the type: INVALID_PAYLOAD. */
  | { readonly ok: false; readonly message: string }
  /** A value that the field does not take: FAILED_VALIDATION of that type. */
  | { readonly ok: false; readonly message: string; readonly type: string };

/** Text that a secret reads as; sent back, it means that the secret stays. */
const mask = '**********';

/** Decodes the value of a field as it came; `create` tells that there is no earlier value to keep. */
export function decodeInput(field: FieldDescriptor, value: JsonValue, create: boolean): DecodedValue {
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
  const broken = types[field.type].limit?.(field, decoded.value);
  return broken ? invalid(broken.type, broken.message) : { ok: true, value: decoded.value };
}

function invalid(type: string, message: string): DecodedValue {
  return { ok: false, type, message };
}
