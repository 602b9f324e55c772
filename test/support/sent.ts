import { Agent, type IncomingMessage, request } from 'node:http';
import { gunzipSync, inflateSync } from 'node:zlib';
import type { Ask } from './platform.ts';

/** What a request of a test sends beside its address. */
export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | undefined;
}

/** Writes a request as it is sent: the token as Bearer, and a body that is neither text nor a form as JSON. */
export function sentOf({ token, headers, body }: Ask): Sent {
  const isForm = body instanceof FormData;
  return {
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined || typeof body === 'string' || isForm ? body : JSON.stringify(body),
  };
}

/** The same as text, for those who look at it: of a form its fields, and of files their names. */
export function sentText(ask: Ask): { readonly headers: Headers; readonly body: string | undefined } {
  const { headers, body } = sentOf(ask);
  if (!(body instanceof FormData)) return { headers: new Headers(headers), body };
  const texts = [...body].map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : value.name,
  ]);
  const told = new Headers({ ...headers, 'content-type': 'multipart/form-data' });
  return { headers: told, body: new URLSearchParams(texts).toString() };
}

/** An answer as it came over the wire, decoded. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** The headers that `fetch` adds, so that servers see the client that they usually see. */
const usual = {
  accept: '*/*',
  'accept-language': '*',
  'sec-fetch-mode': 'cors',
  'user-agent': 'node',
  'accept-encoding': 'gzip, deflate',
};

const agent = new Agent({ keepAlive: true });

/** Sends a request as `fetch` would, which takes three times the processor's time. Redirects are followed. */
export async function send(address: string, method: string, { headers, body }: Sent): Promise<Received> {
  const url = new URL(address);
  if (body instanceof FormData || url.protocol !== 'http:') {
    const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
    return { ...pick(response), bytes: Buffer.from(await response.arrayBuffer()) };
  }
  let [to, by, sent] = [url, method, body];
  const named = new Headers({ ...usual, ...Object.fromEntries(new Headers(headers)) });
  for (let redirects = 0; ; redirects++) {
    const answer = await exchange(to, by, named, sent);
    const location = redirectStatuses.has(answer.status) ? answer.headers.get('location') : null;
    if (location === null) return answer;
    if (redirects === 20) throw new TypeError('fetch failed');
    const next = new URL(location, to);
    if (next.origin !== to.origin) for (const name of ['authorization', 'cookie']) named.delete(name);
    if (answer.status === 303 ? !/^(GET|HEAD)$/.test(by) : answer.status < 303 && by === 'POST') {
      [by, sent] = ['GET', undefined];
      named.delete('content-type');
    }
    to = next;
  }
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function pick({ status, headers }: Response): Pick<Received, 'status' | 'headers'> {
  return { status, headers };
}

async function exchange(url: URL, method: string, named: Headers, body: string | undefined): Promise<Received> {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const asked = request(url, { agent, method, headers: Object.fromEntries(named) });
  // Without a body only these methods say that it has no bytes.
  const length = bytes?.length ?? (/^(POST|PUT|PATCH)$/.test(method) ? 0 : undefined);
  if (length === undefined) asked.useChunkedEncodingByDefault = false;
  else asked.setHeader('content-length', length);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // An error behind the beginning of the answer is one of the answer.
    asked.on('response', resolve).on('error', (cause) => reject(new TypeError('fetch failed', { cause })));
    asked.end(bytes);
  });
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const chunks: Buffer[] = await response.toArray().catch((cause: unknown) => {
    throw new TypeError('terminated', { cause });
  });
  return { status: response.statusCode ?? 0, headers, bytes: decoded(Buffer.concat(chunks), headers) };
}

function decoded(bytes: Buffer, headers: Headers): Buffer {
  if (bytes.length === 0) return bytes;
  const encoding = headers.get('content-encoding');
  return encoding === 'gzip' ? gunzipSync(bytes) : encoding === 'deflate' ? inflateSync(bytes) : bytes;
}
