/** Sending forms with word of how far they are. */
import type { Fetch, UploadProgress } from './options.ts';

type ReportProgress = (progress: UploadProgress) => void;

/**
 * Sends a form and reports how much of it has gone. `XMLHttpRequest` does it where there is one, because browsers
 * report no progress of `fetch`. Elsewhere the body is watched as it is read.
 */
export function sendForm(
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
  const headers = { ...init.headers, 'Content-Type': form.headers.get('content-type') ?? '' };
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
