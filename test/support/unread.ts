/** Clients that ask for much and read nothing of it. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

/** A client that does not read. */
export interface UnreadOptions {
  /** Address of the client. Default: that of the server. */
  readonly address?: string;
  readonly token?: string;
}

/** Asks, waits until the answer begins to arrive, and leaves it unread. The caller destroys the socket. */
export async function askWithoutReading(url: string, path: string, options: UnreadOptions = {}): Promise<Socket> {
  const { address, token } = options;
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, ...(address && { localAddress: address }) });
  socket.on('error', () => {});
  await once(socket, 'connect');
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`);
  await once(socket, 'readable');
  return socket;
}

/** Waits until the server has closed its side of connections, of which clients that read nothing hear nothing. */
export async function untilCut(
  sockets: readonly Socket[],
  { timeout = 30_000 }: { readonly timeout?: number } = {},
): Promise<void> {
  // Where the system does not tell, it is waited for longer than the server does.
  if (!existsSync('/proc/net/tcp')) return sleep(timeout / 4);
  const hex = (port = 0): string => port.toString(16).toUpperCase().padStart(4, '0');
  const names = sockets.map(({ localPort, remotePort }) => `${hex(remotePort)} ${hex(localPort)}`);
  const areKept = async (): Promise<boolean> => {
    const texts = ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => ''));
    // Local address, remote address, and the state of a connection that both sides keep.
    const found = (await Promise.all(texts)).join('\n').matchAll(/:(\w{4}) \w+:(\w{4}) 01 /g);
    const kept = new Set([...found].map(([, local, remote]) => `${local} ${remote}`));
    return names.some((name) => kept.has(name));
  };
  await expect.poll(areKept, { timeout, interval: 200 }).toBe(false);
}
