/** Which answers are asked for again, and when. */
import type { Call } from './call.ts';

/** Milliseconds that the client waits at most; an answer that asks for more is a failure at once. */
const longestDelay = 60_000;

/** A request that has the same effect however often it is sent. */
export function isRepeatable({ method, options }: Call): boolean {
  return method === 'GET' || method === 'SEARCH' || method === 'DELETE' || (method === 'POST' && hasKey(options));
}

function hasKey(options: Call['options']): boolean {
  const names = Object.keys(options?.headers ?? {});
  return options?.idempotencyKey !== undefined || names.some((name) => name.toLowerCase() === 'idempotency-key');
}

/**
 * Milliseconds to wait before a request is sent again; null: it failed. `Retry-After` counts when there is one,
 * otherwise half a second that doubles with every attempt.
 */
export function delayBefore({ status, headers }: Response, attempt: number): number | null {
  if (status !== 429 && status !== 503) return null;
  const requested = readRetryAfter(headers.get('retry-after'));
  const delay = requested ?? 500 * 2 ** attempt;
  return delay > longestDelay ? null : delay;
}

/** `Retry-After` is a number of seconds or a date. */
function readRetryAfter(text: string | null): number | null {
  if (text === null) return null;
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(milliseconds) ? null : Math.max(0, milliseconds);
}
