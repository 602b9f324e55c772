/** A TCP relay between us and a database whose other end can be moved, that can hang, and refuse statements with names. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A running relay. */
export interface Relay {
  /** The URL of its first target, through the relay. */
  readonly url: string;
  /** Connections from here on go to the host and port of another URL, and those there are end. */
  move(to: string): void;
  /** The same, and those there go on. */
  lead(to: string): void;
  /** From here on it takes connections, and reads and answers nothing, not even the end of one. */
  hang(): void;
  close(): Promise<void>;
}

/** What it does besides passing bytes on. */
export interface RelayOptions {
  /** Answers every request that prepares a statement under a name with an error, as some poolers do. */
  readonly refusesNames?: boolean;
  /** True of bytes at which it hangs, and which it does not pass on. */
  readonly hangsAt?: (bytes: Buffer) => boolean;
}

/** Starts a relay on a free port. */
export async function startRelay(url: string, { refusesNames = false, hangsAt }: RelayOptions = {}): Promise<Relay> {
  let target = new URL(url);
  const sockets = new Set<Socket>();
  let isHung = false;
  const hang = (): void => {
    isHung = true;
    for (const socket of sockets) socket.pause();
  };
  const server = createServer((client) => {
    if (isHung) return void sockets.add(client.on('error', () => {}).pause());
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {}).on('close', () => to.destroy());
    }
    upstream.on('data', (bytes) => client.write(bytes));
    client.on('data', (bytes) => {
      if (hangsAt?.(bytes) === true) hang();
      else if (refusesNames && isNamedParse(bytes)) client.write(refusal);
      else upstream.write(bytes);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The relay has no port.');
  const relayed = new URL(url);
  relayed.host = `127.0.0.1:${address.port}`;
  const endAll = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: relayed.href,
    lead(to) {
      target = new URL(to);
    },
    move(to) {
      target = new URL(to);
      endAll();
    },
    hang,
    async close() {
      endAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A client writes the messages of one small request at once, so they come in one piece that starts with `P`. */
function isNamedParse(bytes: Buffer): boolean {
  return bytes[0] === 80 && bytes.length > 5 && bytes[5] !== 0;
}

const refusal = Buffer.concat([
  message('E', 'SERROR\0VERROR\0C0A000\0Mstatements have no names here\0\0'),
  message('Z', 'I'),
]);

function message(kind: string, body: string): Buffer {
  const bytes = Buffer.from(`${kind}....${body}`, 'latin1');
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}
