/** One request over HTTP: its address, headers and body, and whether it is sent again. */

import { type Call, type Key, keyText, serialiseQuery } from './call.ts';
import { readError } from './errors.ts';
import type { AuthMode, Fetch, TransportOptions } from './options.ts';
import { sendForm } from './upload.ts';
import { sleep } from './waits.ts';

/** Sends a request with a token or without; resolves to an answer of success and rejects with `PlatformError`. */
export type Send = (call: Call, token: string | null) => Promise<Response>;

/** Bytes of an address beyond which a query travels in the body. */
const longestUrl = 8192;

/** Makes the sender of a client. */
export function createSend(base: string, mode: AuthMode, options: TransportOptions): Send {
  const { params, retries = 3 } = options;
  const root = base.replace(/\/+$/, '');
  const { onUploadProgress: onProgress } = options;
  const send: Fetch = (url, init) => {
    if (onProgress && init.body instanceof FormData) return sendForm(options.fetch, url, init, onProgress);
    return (options.fetch ?? fetch)(url, init);
  };

  const positions = createPositions();

  return async (call, token) => {
    const { query, search, body, method } = call;
    const signal = call.options?.signal;
    const path = root + call.path.map((segment) => `/${encodeSegment(segment)}`).join('');
    const url = path + serialiseQuery(params, query, search);
    const isLong = call.isList === true && url.length > longestUrl;
    const seen = positions.current();
    const init: RequestInit = {
      method: isLong ? 'SEARCH' : method,
      headers: {
        ...(seen.length > 0 && { [positionHeader]: seen.join() }),
        ...headersOf(call, token, isLong || (body !== undefined && !(body instanceof FormData))),
      },
      ...(mode === 'cookie' && { credentials: 'include' }),
      ...(signal && { signal }),
      ...(isLong && { body: JSON.stringify({ query: query ?? {} }) }),
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    };
    for (let attempt = 0; ; attempt++) {
      const response = await send(isLong ? path + serialiseQuery(params) : url, init);
      positions.remember(response.headers.get(positionHeader), seen);
      if (response.ok || response.status === call.accepts) return response;
      const delay = attempt < retries && isRepeatable(call) ? delayBefore(response, attempt) : null;
      if (delay === null) throw await readError(response);
      await response.body?.cancel();
      await sleep(delay, signal);
    }
  };

  function headersOf({ options: requestOptions }: Call, token: string | null, isJson: boolean): Record<string, string> {
    return {
      ...(isJson && { 'Content-Type': 'application/json' }),
      ...options.headers,
      ...(token !== null && { Authorization: `Bearer ${token}` }),
      ...(requestOptions?.idempotencyKey !== undefined && { 'Idempotency-Key': requestOptions.idempotencyKey }),
      ...requestOptions?.headers,
    };
  }
}

const positionHeader = 'X-Consistency-Token';
/** Writes under way at once whose positions are told apart, and milliseconds for which one is of use. */
const maxPositions = 6;
const positionMs = 60_000;

/**
 * Positions of answers, which later requests have to see where replicas answer. One is replaced by that of the answer to the
 * request which carried it: the server answers with the greatest.
 */
function createPositions() {
  let positions: readonly string[] = [];
  let until = 0;
  return {
    current: (): readonly string[] => (Date.now() < until ? positions : []),
    remember(position: string | null, carried: readonly string[]): void {
      if (position === null) return;
      positions = [...positions.filter((other) => other !== position && !carried.includes(other)), position];
      if (positions.length > maxPositions) positions = ['latest'];
      until = Date.now() + positionMs;
    },
  };
}

/** Browsers resolve `.` and `..` in every spelling, so a key of that name would lead to another address. */
function encodeSegment(segment: Key): string {
  if (typeof segment === 'object') return keyText(segment);
  const text = String(segment);
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`"${text}" cannot stand in an address.`);
  return encodeURIComponent(text);
}

/** Milliseconds that the client waits at most; an answer that asks for more is a failure at once. */
const longestDelay = 60_000;

/** A request that has the same effect however often it is sent. */
function isRepeatable({ method, options }: Call): boolean {
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
function delayBefore({ status, headers }: Response, attempt: number): number | null {
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
