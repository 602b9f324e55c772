/** A TCP proxy in front of PostgreSQL that notes what a client asks the server to execute, and what the server refuses. */
import { connect as connectSocket, createServer, type Socket } from 'node:net';

/** A running proxy. */
export interface CountingProxy {
  /** The database's URL, through the proxy. */
  readonly url: string;
  /**
   * Execute and simple Query messages since the last `reset`. Those with which a connection opens are left out, and the
   * look at the catalog that a server takes every thirty seconds.
   */
  readonly executed: () => number;
  /** Texts of the Parse and simple Query messages since the last `reset`. */
  readonly texts: () => readonly string[];
  /** Texts of the statements that were run since the last `reset`, those among them that were prepared before. */
  readonly ran: () => readonly string[];
  /** Errors that the server answered since the last `reset`, as it words them. */
  readonly errors: () => readonly string[];
  readonly reset: () => void;
  readonly close: () => Promise<void>;
}

/** Starts a proxy on a free port for the database of `url`. */
export async function countStatements(url: string): Promise<CountingProxy> {
  const target = new URL(url);
  let executed = 0;
  let texts: string[] = [];
  let ran: string[] = [];
  let errors: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connectSocket(Number(target.port), target.hostname);
    const aside = new Set<string>();
    const prepared = new Map<string, string>();
    let isAside = false;
    const note = messageReader(false, 'PBEQ', (type, body) => {
      if (type === 'P') {
        if (isProbe(body) || isSettings(body) || isWatch(body)) aside.add(nameAt(body, 0));
        else aside.delete(nameAt(body, 0));
        prepared.set(nameAt(body, 0), nameAt(body, body.indexOf(0) + 1));
      }
      if (type === 'B') {
        // After the name of the portal stands that of the statement.
        const name = nameAt(body, body.indexOf(0) + 1);
        isAside = aside.has(name);
        ran.push(prepared.get(name) ?? '');
      }
      if ((type === 'E' && !isAside) || (type === 'Q' && !isOpening(body))) executed += 1;
      if (type === 'P' && !isSettings(body)) texts.push(nameAt(body, body.indexOf(0) + 1));
      if (type === 'Q') texts.push(body.toString('utf8', 0, body.indexOf(0)));
    });
    const noteAnswer = messageReader(true, 'E', (_, body) => {
      errors.push(body.toString('utf8').replaceAll('\0', ' '));
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
      note(bytes);
      upstream.write(bytes);
    });
    client.on('drain', () => upstream.resume());
    upstream.on('data', (bytes) => {
      noteAnswer(bytes);
      // Whoever reads slowly has the database wait, as without a proxy, and not this process keep what comes.
      if (!client.write(bytes)) upstream.pause();
    });
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
    texts: () => texts,
    ran: () => ran,
    errors: () => errors,
    reset: () => {
      executed = 0;
      texts = [];
      ran = [];
      errors = [];
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** True for the statement by which a connection is tried. */
function isProbe(body: Buffer): boolean {
  return body.toString('latin1', 0, 15) === 'platform_probe\0';
}

/** True for the settings that the plain driver sends with every request. */
function isSettings(body: Buffer): boolean {
  return body.toString('latin1', 0, 70).startsWith('\0SELECT pg_catalog.count(pg_catalog.set_config(');
}

/** True for the look at the catalog by which a server finds drift. */
function isWatch(body: Buffer): boolean {
  return nameAt(body, body.indexOf(0) + 1).startsWith('\nWITH RECURSIVE object AS (');
}

/** The text that ends with the next zero. */
function nameAt(body: Buffer, start: number): string {
  return body.toString('utf8', start, body.indexOf(0, start));
}

/**
 * Whether a message is of those with which a new connection is looked at and set up. Connections open beside what a test
 * asks for, when a server starts and when its pool grows under load, so their messages may come at any time.
 */
function isOpening(body: Buffer): boolean {
  return /^(SET |SELECT pg_catalog\.pg_backend_pid\(\) AS pid|SELECT \(SELECT pg_catalog\.concat\(c\.system|DEALLOCATE platform_probe;)/i.test(
    body.toString('latin1', 0, 60),
  );
}

/**
 * Calls `seen` with the type and the body of every message of some types in a stream; others, which may be rows by the hundred
 * thousand, are passed over unread. A client's stream starts with an untyped start-up message, which is passed over, too; a
 * server's has none (`started`).
 */
function messageReader(
  started: boolean,
  types: string,
  seen: (type: string, body: Buffer) => void,
): (bytes: Buffer) => void {
  const read = new Set(Buffer.from(types));
  let pending: Buffer = Buffer.alloc(0);
  let typed = started;
  let ahead = 0;
  return (bytes) => {
    const skipped = Math.min(ahead, bytes.length);
    ahead -= skipped;
    const rest = bytes.subarray(skipped);
    const chunk = pending.length === 0 ? rest : Buffer.concat([pending, rest]);
    let at = 0;
    for (;;) {
      const header = typed ? 5 : 4;
      if (chunk.length - at < header) break;
      const length = chunk.readInt32BE(at + header - 4) + (typed ? 1 : 0);
      const type = chunk[at] ?? 0;
      const isPassed = typed && !read.has(type);
      if (!isPassed && chunk.length - at < length) break;
      if (typed && !isPassed) seen(String.fromCharCode(type), chunk.subarray(at + header, at + length));
      // An SSLRequest is answered by one byte and followed by the start-up message proper.
      if (!typed) typed = chunk.readInt32BE(at + 4) !== 80877103;
      at += length;
    }
    ahead += Math.max(0, at - chunk.length);
    pending = chunk.subarray(at);
  };
}
