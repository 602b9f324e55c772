/** Single requests, for processes that send many of them. */
import { type Agent, type IncomingMessage, request } from 'node:http';

/** One request of a swarm; the body is sent as JSON text. */
export interface Shot {
  readonly path: string;
  readonly method?: string;
  readonly token?: string;
  readonly body?: string;
}

/** What came back. */
export interface Hit {
  readonly status: number;
  readonly text: string;
  /** Names and values of the headers, without the date and the lengths. */
  readonly headers: string;
}

/** Fires one shot. */
export async function fire(url: string, { path, method = 'GET', token, body }: Shot, agent?: Agent): Promise<Hit> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    const target = new URL(url);
    request({ host: target.hostname, port: target.port, path, method, headers, ...(agent && { agent }) }, resolve)
      .on('error', reject)
      .end(body);
  });
  const text = await textOf(response);
  return {
    status: response.statusCode ?? 0,
    text,
    // Most shots are judged without them.
    get headers() {
      const headers = Object.entries(response.headers).filter(([name]) => !accidental.has(name));
      return JSON.stringify(headers);
    },
  };
}

const accidental = new Set(['date', 'content-length', 'x-request-id']);

/** Reads a body by events, which take a part of the time of an iterator. */
function textOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    response
      .setEncoding('utf8')
      .on('data', (chunk) => {
        text += String(chunk);
      })
      .on('end', () => resolve(text))
      .on('error', reject);
  });
}
