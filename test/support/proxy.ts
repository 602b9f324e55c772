/** A TCP proxy in front of PostgreSQL that counts what a client asks the server to execute. */
import { connect as connectSocket, createServer, type Socket } from 'node:net';

/** A running proxy. */
export interface CountingProxy {
  /** The database's URL, through the proxy. */
  readonly url: string;
  /** Execute and simple Query messages since the last `reset`. */
  readonly executed: () => number;
  readonly reset: () => void;
  readonly close: () => Promise<void>;
}

/** Starts a proxy on a free port for the database of `url`. */
export async function countStatements(url: string): Promise<CountingProxy> {
  const target = new URL(url);
  let executed = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connectSocket(Number(target.port), target.hostname);
    const count = messageCounter((type) => {
      if (type === 'E' || type === 'Q') executed += 1;
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    client.on('data', (bytes) => {
      count(bytes);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => client.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String(address.port);
  return {
    url: proxied.href,
    executed: () => executed,
    reset: () => {
      executed = 0;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Calls `seen` with the type of every message of a client's stream; the untyped start-up message is passed over. */
function messageCounter(seen: (type: string) => void): (bytes: Buffer) => void {
  let pending = Buffer.alloc(0);
  let started = false;
  return (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    for (;;) {
      const header = started ? 5 : 4;
      if (pending.length < header) return;
      const length = pending.readInt32BE(header - 4) + (started ? 1 : 0);
      if (pending.length < length) return;
      if (started) seen(String.fromCharCode(pending[0] ?? 0));
      // An SSLRequest is answered by one byte and followed by the start-up message proper.
      else started = pending.readInt32BE(4) !== 80877103;
      pending = pending.subarray(length);
    }
  };
}
