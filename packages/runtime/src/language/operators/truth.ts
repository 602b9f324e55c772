/** Logic of three values: undefined where only the database can tell. */
import type { Truth } from './definition.ts';

/** True if some part is true. */
export function some(parts: readonly Truth[]): Truth {
  if (parts.includes(true)) return true;
  return parts.includes(undefined) ? undefined : false;
}

/** True if every part is true. */
export function every(parts: readonly Truth[]): Truth {
  return not(some(parts.map(not)));
}

/** The negation of a part. */
export function not(part: Truth): Truth {
  return part === undefined ? undefined : !part;
}

/** True if the sign of an order fits. */
export function isSign(sign: number | undefined, fits: (sign: number) => boolean): Truth {
  return sign === undefined ? undefined : fits(sign);
}
