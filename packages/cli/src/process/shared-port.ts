/** The port of several processes: the first one holds it, and passes each connection to a process that serves. */
import type { Worker } from 'node:cluster';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { stopAccepting } from '@tablewright/runtime/tools';

/** Addresses to listen at: the first host has to be there, others may be missing. */
export interface ListenAddress {
  readonly hosts: readonly [string, ...string[]];
  readonly port: number;
}

/** Passes connections to processes in turn. One at a time is on its way to each, so that one that hangs gets no further one. */
export class SharedPort {
  readonly #listenAddress: () => Promise<ListenAddress>;
  readonly #pass: (worker: Worker, socket: Socket) => void;
  /** Processes that get connections; true for those that none is on its way to. */
  readonly #workers = new Map<Worker, boolean>();
  readonly #waiting: Socket[] = [];
  #servers: readonly Server[] = [];
  #opening: Promise<AddressInfo> | null = null;
  #closing: Promise<void> | null = null;
  #emptied = (): void => undefined;

  /** `listenAddress` is asked for with the first process, whose start has checked the settings. */
  constructor(listenAddress: () => Promise<ListenAddress>, pass: (worker: Worker, socket: Socket) => void) {
    this.#listenAddress = listenAddress;
    this.#pass = pass;
  }

  /** Listens, unless it does, and passes connections to this process, too. Rejects with the error of Node. */
  async add(worker: Worker): Promise<AddressInfo> {
    this.#opening ??= this.#listen();
    const address = await this.#opening;
    this.#workers.set(worker, true);
    this.#passOn();
    return address;
  }

  /** Passes it no further connection. The last one that leaves takes those that have come until the port is closed. */
  async remove(worker: Worker): Promise<void> {
    if (this.#workers.size === 1 && this.#workers.has(worker)) await this.close();
    this.drop(worker);
  }

  /** Forgets a process. Where it was the last one, no connection can be answered. */
  drop(worker: Worker): void {
    this.#workers.delete(worker);
    if (this.#workers.size === 0) for (const socket of this.#waiting.splice(0)) socket.destroy();
    this.#passOn();
  }

  /** Is told that a process has taken its connection. */
  taken(worker: Worker): void {
    if (this.#workers.has(worker)) this.#workers.set(worker, true);
    this.#passOn();
  }

  /** Stops listening; resolves when all connections that had come are passed on. */
  close(): Promise<void> {
    this.#closing ??= this.#stopListening();
    return this.#closing;
  }

  async #stopListening(): Promise<void> {
    const servers = this.#servers;
    this.#servers = [];
    this.#opening = null;
    await Promise.all(servers.map((server) => stopAccepting(server)));
    if (this.#waiting.length === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#emptied = resolve;
    await promise;
  }

  async #listen(): Promise<AddressInfo> {
    try {
      const { hosts, port } = await this.#listenAddress();
      const [first, ...others] = hosts;
      const server = await this.#listenOn(first, port);
      const address = server.address();
      if (address === null || typeof address === 'string') throw new TypeError('The port has no number.');
      const further = await Promise.allSettled(others.map((other) => this.#listenOn(other, address.port)));
      this.#servers = [server, ...further.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))];
      this.#closing = null;
      return address;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }

  async #listenOn(host: string, port: number): Promise<Server> {
    // Nothing is read from connections here; the processes would set this on those that they accept themselves.
    const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
      if (this.#workers.size === 0) socket.destroy();
      else this.#waiting.push(socket);
      this.#passOn();
    });
    server.listen({ host, port });
    await once(server, 'listening');
    return server;
  }

  #passOn(): void {
    for (const [worker, isFree] of this.#workers) {
      if (this.#waiting.length === 0) break;
      if (!isFree) continue;
      const socket = this.#waiting.shift();
      // Behind the others, whose turn it is next.
      this.#workers.delete(worker);
      this.#workers.set(worker, false);
      if (socket !== undefined) this.#pass(worker, socket);
    }
    if (this.#waiting.length === 0) this.#emptied();
  }
}

/** Hosts for a HOST. A system may know addresses as `localhost` that it does not have, so others than the first may be missing. */
export async function addressesOf(host: string): Promise<ListenAddress['hosts']> {
  if (host !== 'localhost') return [host];
  const [first = host, ...others] = (await lookup(host, { all: true })).map(({ address }) => address);
  return [first, ...others];
}
