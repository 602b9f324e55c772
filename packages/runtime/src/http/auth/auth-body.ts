/** Bodies of operations. */

import { PlatformError } from '../../errors.ts';
import type { JsonValue } from '../../language/index.ts';

/** A body as an object; an empty one has no members. Throws INVALID_PAYLOAD for a list. */
export function bodyObject(body: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  if (body === undefined) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new PlatformError('INVALID_PAYLOAD', 'The body must be an object.');
  }
  return Object.fromEntries(Object.entries(body));
}
