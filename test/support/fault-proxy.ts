/** A TCP proxy in front of a database that does harm when a client sends certain bytes, or at a certain flight of messages. */
import { connect as connectSocket, createServer, type Socket } from 'node:net';

/**
 * What happens to the connection on which the bytes are seen: `cut` before the server gets them, `swallow` the answer
 * (the server gets them, the client loses the connection), `crop` the answer after its first bytes, `stall` for ever in
 * both directions, `hold` them and all that follows until they are released.
 */
export type Fault = 'cut' | 'swallow' | 'crop' | 'stall' | 'hold';

/** Bytes that come before an answer is cropped, in one piece or several: some rows, and not all. */
const cropped = 2_000;

/** A running proxy. */
export interface FaultProxy {
  /** The database's URL, through the proxy. */
  readonly url: string;
  /** Does harm the next `times` times that a client sends the text. */
  arm(fault: Fault, text: string | RegExp, times?: number): void;
  /** Does harm `times` times, from the piece on that clients send then: 1 harms the next one. A piece is one flight of messages. */
  armAt(fault: Fault, piece: number, times?: number): void;
  /** Lets all pass that is held, and does no more harm. */
  release(): void;
  /** How often harm was done since `arm`. */
  readonly done: () => number;
  readonly close: () => Promise<void>;
}

/** Starts a proxy on a free port for the database of `url`. */
export async function startFaultProxy(url: string): Promise<FaultProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let armed: { readonly fault: Fault; readonly meets: (bytes: Buffer) => boolean; left: number } | undefined;
  let done = 0;
  const held: (() => void)[] = [];
  const server = createServer((client) => {
    const upstream = connectSocket(Number(target.port), target.hostname);
    let state: 'well' | Fault = 'well';
    let left = cropped;
    const crop = (bytes: Buffer): void => {
      const part = bytes.subarray(0, left);
      left -= part.length;
      if (left > 0) client.write(part);
      else {
        upstream.pause();
        client.end(part);
      }
    };
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    const hold = (bytes: Buffer): void => {
      held.push(() => {
        state = 'well';
        upstream.write(bytes);
      });
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          if (state !== 'stall') end();
        });
    }
    client.on('data', (bytes) => {
      if (armed !== undefined && armed.left > 0 && state === 'well' && armed.meets(bytes)) {
        armed.left -= 1;
        done += 1;
        state = armed.fault;
        if (state === 'cut') end();
      }
      if (state === 'hold') hold(bytes);
      else if (state !== 'cut' && state !== 'stall') upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (state === 'well' || state === 'hold') client.write(bytes);
      else if (state === 'crop') crop(bytes);
      else if (state === 'swallow') end();
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
    arm(fault, text, times = 1) {
      const meets = (bytes: Buffer): boolean =>
        typeof text === 'string' ? bytes.includes(text) : text.test(bytes.toString('latin1'));
      armed = { fault, meets, left: times };
      done = 0;
    },
    armAt(fault, piece, times = 1) {
      let seen = 0;
      armed = { fault, meets: () => ++seen >= piece, left: times };
      done = 0;
    },
    release() {
      armed = undefined;
      for (const pass of held.splice(0)) pass();
    },
    done: () => done,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Starts a proxy on a free port that passes all bytes on after so many milliseconds, as a long way does. */
export async function startLongWay(url: string, ms: number): Promise<Pick<FaultProxy, 'url' | 'close'>> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connectSocket(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from
        .setNoDelay(true)
        .on('error', () => undefined)
        .on('data', (bytes) => void setTimeout(() => to.write(bytes), ms))
        .on('close', () => {
          sockets.delete(from);
          setTimeout(() => to.destroy(), ms);
        });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String(address.port);
  return {
    url: proxied.href,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
