import { PlatformError } from '../errors.ts';

/** A query that cannot be used; the message ends up in the answer, so it names nothing the request does not. */
export function invalidQuery(message: string): PlatformError {
  return new PlatformError('INVALID_QUERY', message);
}

/** A name that is hidden or unknown: one answer for both. */
export function forbidden(): PlatformError {
  return new PlatformError('FORBIDDEN');
}
