/** Stands for a shared cache: takes purges, and tells which answers they concern. */
import { once } from 'node:events';
import { createServer } from 'node:http';

/** Takes purges. */
export interface PurgeReceiver {
  readonly url: string;
  /** Tags of each purge so far. */
  readonly purges: (readonly string[])[];
  /** Answers so many purges with an error from now on. */
  fail(count: number): void;
  close(): Promise<void>;
}

/** Starts one. */
export async function receivePurges(header = 'surrogate-key'): Promise<PurgeReceiver> {
  const purges: string[][] = [];
  let failures = 0;
  const server = createServer((request, response) => {
    if (request.method !== 'PURGE' || failures > 0) {
      failures -= 1;
      response.writeHead(503).end();
      return;
    }
    purges.push(String(request.headers[header]).split(' '));
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    purges,
    fail(count) {
      failures = count;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
