/** Connections of a server: those of a port of its own, or those that the process passes on which holds the port. */
import type { AddressInfo } from 'node:net';
import { Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Environment } from '../environment.ts';
import type { Listener } from '../http/fastify-adapter.ts';

/** Connections that another process accepts for this one. */
export interface PassedConnections {
  /** Has them handed to `accept` from now on; resolves to the address of their port. */
  open(accept: (socket: Socket) => void): Promise<AddressInfo>;
  /** Resolves when the last one was handed over. */
  close(): Promise<void>;
}

/** Takes connections from `open` to `close`. */
export interface Acceptor {
  /** Address of the port; null before it is open. */
  address(): AddressInfo | string | null;
  open(): Promise<void>;
  /** Resolves when all connections were taken that had come, and no further one will. */
  close(): Promise<void>;
}

/** Makes the acceptor of a server; `passed` is absent where it has a port of its own. */
export function createAcceptor(
  { server }: Pick<Listener, 'server'>,
  { host, port }: Pick<Environment, 'host' | 'port'>,
  passed: PassedConnections | undefined,
): Acceptor {
  const { server: httpServer } = server;
  if (passed === undefined) {
    return {
      address: () => httpServer.address(),
      open: async () => void (await server.listen({ host, port })),
      close: () => stopAccepting(httpServer),
    };
  }
  let address: AddressInfo | null = null;
  return {
    address: () => address,
    async open() {
      await server.ready();
      // Node begins to watch the time of connections with this event.
      httpServer.emit('listening');
      address = await passed.open((socket) => void httpServer.emit('connection', socket));
    },
    close: () => passed.close(),
  };
}

/** Milliseconds of a turn of the event loop in which nothing was done. */
const quietMs = 0.1;

/** Turns of the event loop after which a server stops listening, also where connections never cease to come. */
const maxIterations = 1_000;

/**
 * Stops listening when no connection waits. The kernel resets those that it has taken but the process has not: a proxy
 * has sent its request by then, and repeats no POST. The event loop takes one connection a turn; a short turn that takes
 * none tells that none waits. The `close` of HTTP servers would also end idle connections at once.
 */
export async function stopAccepting(server: Server): Promise<void> {
  if (!server.listening) return;
  let taken = 0;
  server.on('connection', () => taken++);
  for (let isQuiet = false, turn = 0; !isQuiet && turn < maxIterations; turn++) {
    const [before, begun] = [taken, performance.now()];
    await nextTurn();
    isQuiet = taken === before && performance.now() - begun < quietMs;
  }
  Server.prototype.close.call(server);
}
