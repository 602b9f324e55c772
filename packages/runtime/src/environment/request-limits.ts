/** Variables of the general limits of requests. Source: API specification, section 16. */
import { type Read, type Reading, readBoolean, readDuration, readInteger } from './values.ts';

/** How many requests are answered. */
export interface RequestLimits {
  /** Per client address; null: no limit. */
  readonly client: RequestLimit | null;
  /** Limit of all clients together; null: no limit. */
  readonly global: RequestLimit | null;
  /** Redis in which several processes count together; null: each counts on its own. */
  readonly redis: string | null;
}

/** So many requests in so many milliseconds. */
export interface RequestLimit {
  readonly points: number;
  readonly duration: number;
}

/** Reads the variables. */
export function readRequestLimits(read: Read): RequestLimits {
  return {
    client: readLimit(read, 'RATE_LIMITER', 50),
    global: readLimit(read, 'RATE_LIMITER_GLOBAL', 1000),
    redis: read<string | null>('REDIS', readRedisUrl, null),
  };
}

/** Reports an invalid limit even if it is off. */
function readLimit(read: Read, name: string, defaultPoints: number): RequestLimit | null {
  const limit = {
    points: read(`${name}_POINTS`, readInteger(1), defaultPoints),
    duration: read(`${name}_DURATION`, readDuration, 1000),
  };
  return read(`${name}_ENABLED`, readBoolean, false) ? limit : null;
}

function readRedisUrl(text: string): Reading<string> {
  // The value can hold a password, so the sentence never repeats it.
  return /^rediss?:\/\//.test(text) && URL.canParse(text)
    ? { value: text }
    : { problem: 'must be an address such as "redis://user:password@host:6379/0".' };
}
