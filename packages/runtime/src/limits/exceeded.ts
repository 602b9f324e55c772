import { PlatformError } from '../errors.ts';

/** The error of a limit; `left` is how many milliseconds it stays reached. Source: API specification, section 9. */
export function exceeded(limit: number, left: number): PlatformError {
  const seconds = Math.max(1, Math.ceil(left / 1000));
  const reset = new Date(Date.now() + left).toISOString();
  return new PlatformError(
    'REQUESTS_EXCEEDED',
    undefined,
    { limit, reset },
    { headers: { 'retry-after': String(seconds) } },
  );
}
