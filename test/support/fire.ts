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
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  const headers = Object.entries(response.headers).filter(
    ([name]) => !['date', 'content-length', 'x-request-id'].includes(name),
  );
  return { status: response.statusCode ?? 0, text, headers: JSON.stringify(headers) };
}
