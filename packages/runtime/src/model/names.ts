/** Names of what is made. */

import { invalidPayload } from '../json/problems.ts';
import type { JsonValue } from '../language/index.ts';

/** Bytes of a name that the database keeps; longer ones would be cut. */
const longestName = 63;
const namePattern = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Takes the name of a table or column that is to be made. Throws INVALID_PAYLOAD for what cannot be one. */
export function newName(value: JsonValue | undefined, what: string): string {
  if (typeof value !== 'string' || !namePattern.test(value)) {
    throw invalidPayload(`The name of a ${what} must be a letter and then letters, digits and underscores.`);
  }
  if (value.length > longestName) throw invalidPayload(`The name of a ${what} has at most ${longestName} characters.`);
  return value;
}

/** A name of our own making for a constraint or index, cut where it would be too long; not quoted. */
export function madeName(parts: readonly string[], ending: string): string {
  return `${parts.join('_').slice(0, longestName - ending.length - 1)}_${ending}`;
}
