import { Socket } from 'node:net';

/** A socket whose bytes arrive in one buffer that is used again and again. */
export interface FixedSocket {
  readonly socket: Socket;
  /** From here on bytes go to this function, and are only valid during the call; before, they are emitted as `data`. */
  divert(receive: (bytes: Buffer) => void): void;
}

/** Large enough that a usual answer is not cut. */
const bufferSize = 131_072;

/**
 * Makes an unconnected socket that reads into a fixed buffer instead of one it allocates per chunk.
 *
 * Not for TLS, which reads from the socket below Node's streams.
 */
export function createFixedSocket(): FixedSocket {
  let receive = (bytes: Buffer): void => {
    // Whoever listens while connecting may keep what it gets.
    socket.emit('data', Buffer.from(bytes));
  };
  const buffer = Buffer.allocUnsafeSlow(bufferSize);
  const socket: Socket = new Socket({
    onread: {
      buffer,
      callback: (size) => {
        receive(buffer.subarray(0, size));
        return true;
      },
    },
  });
  return {
    socket,
    divert: (next) => {
      receive = next;
    },
  };
}
