/** Connections that stay open and ask a server in short turns, so that two servers can be compared within moments. */
import { connect, type Socket } from 'node:net';

/** Asks for some paths, one after the other, on all of its connections at once. */
export class Turns {
  readonly #requests: readonly Buffer[];
  readonly #sockets: readonly Socket[];
  #next = 0;
  #answers = 0;
  #waiting = 0;
  #endsAt = 0;
  #resolve: (answers: number) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(url: string, paths: readonly string[], connections: number) {
    const { hostname, port, host } = new URL(url);
    this.#requests = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
    this.#sockets = Array.from({ length: connections }, () => this.#connect(Number(port), hostname));
  }

  /** Asks for so many milliseconds, and until all is answered. Resolves to the number of answers. */
  take(ms: number): Promise<number> {
    this.#answers = 0;
    this.#waiting = this.#sockets.length;
    this.#endsAt = performance.now() + ms;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      for (const socket of this.#sockets) this.#ask(socket);
    });
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #ask(socket: Socket): void {
    const request = this.#requests[this.#next++ % this.#requests.length];
    if (request !== undefined) socket.write(request);
  }

  #connect(port: number, hostname: string): Socket {
    const socket = connect({ port, host: hostname, noDelay: true });
    let head = '';
    let missing = 0;
    const answered = (): void => {
      this.#answers++;
      if (performance.now() < this.#endsAt) this.#ask(socket);
      else if (--this.#waiting === 0) this.#resolve(this.#answers);
    };
    socket.on('data', (chunk: Buffer) => {
      if (missing === 0) {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n') + 4;
        if (end < 4) return;
        missing = end + lengthOf(head) - (head.length - chunk.length);
        head = '';
      }
      missing -= chunk.length;
      if (missing === 0) answered();
    });
    socket.on('error', (error) => this.#reject(error));
    return socket;
  }
}

/** Length of the body of an answer; throws for one without it, and for a failure. */
function lengthOf(head: string): number {
  const length = /^HTTP\/1\.1 200 .*\r\ncontent-length: *(\d+)/is.exec(head)?.[1];
  if (length === undefined) throw new Error(`An answer is none that can be measured: ${head.slice(0, 300)}`);
  return Number(length);
}
