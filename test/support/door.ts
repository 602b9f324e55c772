/** A door between two networks: connections to one side of it go on to the other. A side is a port of this machine, or a socket of the file system. */
import { connect, createServer, type Server } from 'node:net';

/** Ports and paths of the two sides. */
export interface Door {
  readonly from: number | string;
  readonly to: number | string;
}

/** Opens it. */
export function openDoor({ from, to }: Door): Server {
  const server = createServer((outside) => {
    const inside = typeof to === 'number' ? connect(to, '127.0.0.1') : connect(to);
    inside.on('error', () => outside.destroy()).on('close', () => outside.destroy());
    outside.on('error', () => inside.destroy()).on('close', () => inside.destroy());
    outside.pipe(inside).pipe(outside);
  });
  return typeof from === 'number' ? server.listen(from, '127.0.0.1') : server.listen(from);
}
