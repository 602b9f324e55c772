/** The socket of a connection: received data lands in one buffer instead of in new memory for every chunk. */
import { Socket } from 'node:net';

/** Bytes read at once; the most that Node asks the operating system for. */
const readSize = 65_536;

/** A socket that can read into one buffer. */
interface ReusingSocket {
  readonly socket: Socket;
  /**
   * From here on a chunk is only valid while its `data` event is handled, because the next one overwrites it. Before,
   * every chunk is a copy. Without effect under TLS, which reads from the socket by itself.
   */
  reuse(): void;
}

/** Makes a socket that is not connected yet. */
export function createReusingSocket(): ReusingSocket {
  const buffer = Buffer.allocUnsafeSlow(readSize);
  let reused = false;
  const socket = new Socket({
    onread: {
      buffer,
      callback(size) {
        const chunk = buffer.subarray(0, size);
        socket.emit('data', reused ? chunk : Buffer.from(chunk));
        return true;
      },
    },
  });
  return {
    socket,
    reuse() {
      reused = true;
    },
  };
}
