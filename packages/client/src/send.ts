/** One request over HTTP: its address, headers and body, and whether it is sent again. */
import { type Call, hasAddress, type Key, keyText, longestUrl, serialiseQuery } from './call.ts';
import { readError } from './errors.ts';
import type { AuthMode, Fetch, TransportOptions, UploadProgress } from './options.ts';
import { sleep } from './waits.ts';

/** Sends a request with a token or without; resolves to an answer of success and rejects with `PlatformError`. */
export type Send = (call: Call, token: string | null) => Promise<Response>;

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
      // The cookie of an answer arrives also where the page has been left meanwhile.
      ...(mode === 'cookie' && call.isAnonymous && { keepalive: true }),
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
      ...(isJson && { 'content-type': 'application/json' }),
      ...inLowerCase(options.headers),
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(requestOptions?.idempotencyKey !== undefined && { 'idempotency-key': requestOptions.idempotencyKey }),
      ...inLowerCase(requestOptions?.headers),
    };
  }
}

/** Headers whose names are compared: `fetch` joins the values of names that differ by case alone. */
function inLowerCase(headers: TransportOptions['headers'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const positionHeader = 'x-consistency-token';
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

function encodeSegment(segment: Key): string {
  if (typeof segment === 'object') return keyText(segment);
  if (!hasAddress(segment)) throw new TypeError(`"${segment}" cannot stand in an address.`);
  return encodeURIComponent(segment);
}

/** Milliseconds that the client waits at most; an answer that asks for more is a failure at once. */
const longestDelay = 60_000;

/** A request that has the same effect however often it is sent. */
function isRepeatable({ method, options, isOnce = false }: Call): boolean {
  if (isOnce) return false;
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

type ReportProgress = (progress: UploadProgress) => void;

/**
 * Sends a form and reports how much of it has gone. `XMLHttpRequest` does it where there is one, because browsers
 * report no progress of `fetch`. Elsewhere the body is watched as it is read.
 */
function sendForm(
  send: Fetch | undefined,
  url: string,
  init: RequestInit,
  onProgress: ReportProgress,
): Promise<Response> {
  const Request: unknown = Reflect.get(globalThis, 'XMLHttpRequest');
  return send === undefined && isConstructor(Request)
    ? sendByRequest(new Request(), url, init, onProgress)
    : sendCounted(send ?? fetch, url, init, onProgress);
}

async function sendCounted(send: Fetch, url: string, init: RequestInit, onProgress: ReportProgress): Promise<Response> {
  // Writes the form down: the boundary of its parts stands in the type.
  const form = new Response(init.body ?? null);
  const headers = { ...init.headers, 'content-type': form.headers.get('content-type') ?? '' };
  let loaded = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      loaded += chunk.byteLength;
      controller.enqueue(chunk);
      onProgress({ loaded });
    },
  });
  const half: RequestInit & { readonly duplex: 'half' } = {
    ...init,
    headers,
    body: form.body?.pipeThrough(counter) ?? null,
    duplex: 'half',
  };
  return send(url, half);
}

/** The used part of an `XMLHttpRequest`. */
interface XmlRequest {
  readonly upload: { onprogress: ((event: UploadProgress) => void) | null };
  readonly status: number;
  readonly response: Blob;
  responseType: string;
  withCredentials: boolean;
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: unknown): void;
  abort(): void;
}

function isConstructor(value: unknown): value is new () => XmlRequest {
  return typeof value === 'function';
}

function sendByRequest(
  request: XmlRequest,
  url: string,
  init: RequestInit,
  onProgress: ReportProgress,
): Promise<Response> {
  const { signal } = init;
  return new Promise((resolve, reject) => {
    const stop = (): void => request.abort();
    signal?.throwIfAborted();
    signal?.addEventListener('abort', stop);
    request.open(init.method ?? 'POST', url);
    request.responseType = 'blob';
    request.withCredentials = init.credentials === 'include';
    for (const [name, value] of Object.entries({ ...init.headers })) request.setRequestHeader(name, String(value));
    request.upload.onprogress = ({ loaded, total }) => onProgress({ loaded, ...(total && { total }) });
    request.onload = () => {
      signal?.removeEventListener('abort', stop);
      const { status, response } = request;
      const lines = request
        .getAllResponseHeaders()
        .trim()
        .split(/[\r\n]+/);
      const headers = lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      });
      resolve(new Response(status === 204 ? null : response, { status, headers: headers.filter(([name]) => name) }));
    };
    request.onerror = () => reject(new TypeError('The upload failed.'));
    request.onabort = () => reject(signal?.reason);
    request.send(init.body);
  });
}
