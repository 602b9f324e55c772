/** One request over HTTP: its address, headers and body, and whether it is sent again. */
import { sleep } from './abort.ts';
import { type Call, type Key, keyText } from './call.ts';
import { readError } from './errors.ts';
import type { AuthMode, Fetch, TransportOptions } from './options.ts';
import { serialiseQuery } from './query.ts';
import { delayBefore, isRepeatable } from './retry.ts';
import { sendForm } from './upload.ts';

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
