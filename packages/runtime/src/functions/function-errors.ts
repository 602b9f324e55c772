/** Errors that functions raise on purpose. */
import { ServerError, untrueFunction } from '../database/errors.ts';
import { PlatformError } from '../errors.ts';

/** Characters of a function's own message at most. */
const longestMessage = 500;

const noValue = 'A value is none of its type.';

/** Takes an error of a call to the one that answers it; any other stays as it is. */
export function toFunctionError(thrown: unknown, writes: boolean): unknown {
  if (!(thrown instanceof PlatformError) || !(thrown.cause instanceof ServerError)) return thrown;
  const { cause } = thrown;
  const message = [...cause.message].slice(0, longestMessage).join('');
  switch (cause.sqlstate) {
    case 'TW400':
      return new PlatformError('INVALID_PAYLOAD', message, {}, { cause });
    case 'TW403':
      return new PlatformError('FORBIDDEN', undefined, {}, { cause });
    case 'TW422':
      return new PlatformError('UNPROCESSABLE_ENTITY', message, {}, { cause });
    // The transactions of reads cannot write, and some servers do not try where a function says that it does not.
    case '25006':
    case '0A000':
      if (writes && thrown.code !== 'INVALID_QUERY') return thrown;
      return new PlatformError('UNPROCESSABLE_ENTITY', untrueFunction, {}, { cause });
    case 'P0001':
      return new PlatformError('UNPROCESSABLE_ENTITY', 'The function refuses this.', {}, { cause });
    // A domain: what only reads checks no row.
    case '23514':
      return writes ? thrown : new PlatformError('INVALID_QUERY', noValue, {}, { cause });
    default:
      if (!writes || thrown.code !== 'INVALID_QUERY') return thrown;
      return new PlatformError('INVALID_PAYLOAD', noValue, {}, { cause });
  }
}
