import { PlatformError } from '../errors.ts';
import { invalidPayload } from '../json/problems.ts';

/** Refuses a name that is taken. */
export function exists(what: string, name: string): PlatformError {
  return invalidPayload(`There is a ${what} "${name}" already.`);
}

/** Refuses what would lose data. */
export function loses(what: string): PlatformError {
  return new PlatformError('UNPROCESSABLE_ENTITY', `${what}, which would be lost: say so with ?data=discard.`);
}
