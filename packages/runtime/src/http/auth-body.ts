/** Bodies of the routes of sign-in: objects with a few texts. */

import { PlatformError } from '../errors.ts';
import type { JsonValue } from '../language/index.ts';

/** A body as an object; an empty one has no members. Throws INVALID_PAYLOAD for a list. */
export function bodyObject(body: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  if (body === undefined) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new PlatformError('INVALID_PAYLOAD', 'The body must be an object.');
  }
  return Object.fromEntries(Object.entries(body));
}

/** A text that must be there. Throws INVALID_PAYLOAD otherwise. */
export function requiredText(body: Readonly<Record<string, JsonValue>>, name: string): string {
  const value = optionalText(body, name);
  if (value === null) throw new PlatformError('INVALID_PAYLOAD', `"${name}" is required.`);
  return value;
}

/** A text, null where it is absent. Throws INVALID_PAYLOAD for anything else. */
export function optionalText(body: Readonly<Record<string, JsonValue>>, name: string): string | null {
  const value = memberOf(body, name);
  if (value === undefined) return null;
  if (typeof value !== 'string') throw new PlatformError('INVALID_PAYLOAD', `"${name}" must be a string.`);
  return value;
}

/** True or false, false where it is absent. Throws INVALID_PAYLOAD for anything else. */
export function optionalFlag(body: Readonly<Record<string, JsonValue>>, name: string): boolean {
  const value = memberOf(body, name) ?? false;
  if (typeof value !== 'boolean') throw new PlatformError('INVALID_PAYLOAD', `"${name}" must be true or false.`);
  return value;
}

function memberOf(body: Readonly<Record<string, JsonValue>>, name: string): JsonValue | undefined {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}
