/** A tiny HTTP server that answers what a test tells it to, and notes what it was asked. */
import { once } from 'node:events';
import { createServer } from 'node:http';

/** A request that arrived. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** What to answer. */
export interface Told {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is a string. */
  readonly body?: unknown;
  /** Never answers. */
  readonly silent?: true;
}

/** The server. */
export interface AnsweringServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Forgets what it was asked, and answers these in turn; the last one for ever. */
  tell(...answers: readonly Told[]): void;
  close(): Promise<void>;
}

/** Starts one on a free port of the loopback. */
export async function startAnswering(): Promise<AnsweringServer> {
  const asked: Asked[] = [];
  let answers: readonly Told[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { method = '', url = '', headers } = request;
    const told = answers[Math.min(asked.push({ method, url, headers, body }), answers.length) - 1] ?? {};
    if (told.silent) return;
    response.writeHead(told.status ?? 200, { 'content-type': 'application/json', ...told.headers });
    response.end(typeof told.body === 'string' ? told.body : JSON.stringify(told.body ?? { data: null }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    asked,
    tell(...next) {
      asked.length = 0;
      answers = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
