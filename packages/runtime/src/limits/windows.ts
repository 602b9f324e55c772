/** Counts per key in windows of equal length, which are forgotten together; needs no timer. */
import { PlatformError } from '../errors.ts';

/** State of a key. */
export interface Counted {
  readonly attempts: number;
  /** Milliseconds until it begins anew. */
  readonly left: number;
}

/** The windows of one limit. Moments are milliseconds of any clock that only goes forward. */
export type Windows = ReturnType<typeof createWindows>;

interface Window {
  attempts: number;
  until: number;
}

/** Makes windows of so many milliseconds, at most `maxWindows`: beyond it those that began longest ago are forgotten. */
export function createWindows(duration: number, maxWindows: number) {
  // Two generations. When the young one is full or as old as a window lasts, all windows of the old one are forgotten.
  let young = new Map<string, Window>();
  let old = new Map<string, Window>();
  let youngSince = Number.NEGATIVE_INFINITY;
  const maxNew = Math.ceil(maxWindows / 2);

  function find(key: string, now: number): Window | undefined {
    const found = young.get(key) ?? old.get(key);
    return found !== undefined && found.until > now ? found : undefined;
  }

  function begin(key: string, window: Window, now: number): void {
    if (young.size >= maxNew || now - youngSince >= duration) {
      old = young;
      young = new Map();
      youngSince = now;
    }
    young.set(key, window);
  }

  return {
    /** Counts one; the first one of a key begins its window. */
    count(key: string, now: number): Counted {
      const found = find(key, now);
      if (found === undefined) {
        begin(key, { attempts: 1, until: now + duration }, now);
        return { attempts: 1, left: duration };
      }
      found.attempts += 1;
      return { attempts: found.attempts, left: found.until - now };
    },
    /** State of a key; undefined when its window is over, or there has been none. */
    read(key: string, now: number): Counted | undefined {
      const found = find(key, now);
      return found && { attempts: found.attempts, left: found.until - now };
    },
    /** Takes over how a key stands elsewhere. */
    note(key: string, { attempts, left }: Counted, now: number): void {
      const found = find(key, now);
      if (found === undefined) begin(key, { attempts, until: now + left }, now);
      else {
        found.attempts = attempts;
        found.until = now + left;
      }
    },
  };
}

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
