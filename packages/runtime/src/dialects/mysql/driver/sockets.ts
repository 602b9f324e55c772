/** Sockets of the driver that read every answer into the same memory, as those to PostgreSQL do. */
import type { Socket } from 'node:net';
import { createReusingSocket } from '../../../database/socket.ts';

/** Functions that make a socket reuse its memory. */
const reuses = new WeakMap<object, () => void>();

/** Opens a socket, set up as the driver sets up its own. Errors of connecting are events of the socket. */
export function openSocket(address: { readonly host: string; readonly port: number }): Socket {
  const { socket, reuse } = createReusingSocket();
  reuses.set(socket, reuse);
  socket.on('connect', () => socket.setKeepAlive(true));
  socket.setNoDelay(true);
  return socket.connect(address);
}

/**
 * From here on data that a socket has read is only valid while its `data` event is handled. Without effect on sockets
 * that were not opened here.
 */
export function reuseMemory(socket: unknown): void {
  if (typeof socket === 'object' && socket !== null) reuses.get(socket)?.();
}
