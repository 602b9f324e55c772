/** Clients that ask for much and read nothing of it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

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
