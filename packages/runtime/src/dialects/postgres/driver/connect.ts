/** Connects with the fast driver: `pg` reads the URL and authenticates; then our client takes over the socket. */
import type { Duplex } from 'node:stream';
import pg from 'pg';
import type { Database } from '../../../database/database.ts';
import { ConnectionError, UnfitError } from '../../../database/errors.ts';
import { createReusingSocket } from '../../../database/messages.ts';
import { giveBack } from '../../../json/byte-writer.ts';
import { Connection } from '../protocol/connection.ts';
import type { Channel } from '../protocol/request.ts';
import { type ConnectedClient, cancelBackend, connectClient } from './client.ts';
import { runIdentified, type SessionFacts } from './identified.ts';
import { type PostgresSettings, sessionSql } from './options.ts';

export interface PostgresConnection extends SessionFacts {
  readonly connection: Channel;
  /** Asks the server over another connection to end the running statement; never rejects. */
  cancel(): Promise<void>;
}

/** Called once when a connection has ended for any reason. */
export type Closed = (connection: Channel, error: unknown) => void;

/** Opens a connection; `closed` is called once when it has ended. */
export type Open = (shared: boolean, closed: Closed) => Promise<PostgresConnection>;

/**
 * Connects, authenticates and sets the session up.
 *
 * Rejects with a `ConnectionError` whose message states the attempt and its result, without the password. It is
 * `UnfitError` when the choice of driver is left to us and this one does not work here.
 */
export async function openConnection(settings: PostgresSettings, closed: Closed): Promise<PostgresConnection> {
  const { socket, reuse } = createReusingSocket();
  const setUp = sessionSql({ ...settings, readOnly: true });
  const { client, key, learned } = await connectClient(settings, { stream: () => socket }, (connected) => {
    const isSure = settings.driver !== 'auto';
    return isSure ? runIdentified(connected.client, setUp) : setUpWhereFit(connected, setUp);
  });
  const connection = takeOver(client.connection.stream, settings.preparedLimit, closed);
  reuse();
  return { connection, ...learned, cancel: () => cancelBackend(client, key) };
}

/** Moves the socket from `pg` to a connection of ours. */
function takeOver(socket: Duplex, preparedLimit: number, closed: Closed): Connection {
  const connection: Connection = new Connection(
    {
      write: (bytes) => void socket.write(bytes, (error) => (error ? undefined : giveBack(bytes))),
      destroy: () => void socket.destroy(),
    },
    preparedLimit,
    (error) => closed(connection, error),
  );
  // Its listeners for errors and the end stay: they only inform the client, which has no listeners any more.
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => connection.receive(chunk));
  socket.on('error', (error) => connection.fail(error));
  socket.on('end', () => connection.fail(new ConnectionError('The server ended the connection.')));
  socket.on('close', () => connection.fail(new ConnectionError('The connection was closed.')));
  socket.resume();
  return connection;
}

/** Sets the session up, unless that would do harm or be of no use: then it rejects with `UnfitError`. */
async function setUpWhereFit({ client, key }: Pick<ConnectedClient, 'client' | 'key'>, setUp: string) {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  // A pooler issues keys of its own. Settings of a session there would also apply to the next client of the pool.
  if (rows[0]?.pid !== key?.processId) {
    throw new UnfitError('The database is reached through a pooler, so a session may be shared with others.');
  }
  await orUnfit('prepared statements', client.query({ name: 'platform_probe', text: 'SELECT 1' }));
  return orUnfit('settings of the session', runIdentified(client, `DEALLOCATE platform_probe; ${setUp}`));
}

async function orUnfit<T>(what: string, query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || /^(53|57)/.test(cause.code ?? '')) throw cause;
    throw new UnfitError(`The database or what stands before it refuses ${what}.`, { cause });
  }
}

/**
 * Waits before a failed attempt is repeated: doubling waits with jitter, so that many processes do not come back at
 * once. A second at most, as requests fail that long after the server is back, and readiness is told within two.
 */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #failures = 0;
  #until = 0;

  /** Waits at most `firstMs` after the first failure, twice as long after each further one, up to `maxMs`. */
  constructor(firstMs = 250, maxMs = 1_000) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
  }

  /** True after a failure until the next success. */
  get failing(): boolean {
    return this.#failures > 0;
  }

  /** Milliseconds from `now` until the next try is due; 0 when it is. */
  wait(now: number): number {
    return Math.max(this.#until - now, 0);
  }

  /** Notes a failure; `random` in [0, 1) spreads the wait over its upper half. */
  fail(now: number, random: number): void {
    const limit = Math.min(this.#firstMs * 2 ** this.#failures, this.#maxMs);
    this.#failures = Math.min(this.#failures + 1, 30);
    this.#until = now + limit * (0.5 + random / 2);
  }

  /** Notes a success. */
  succeed(): void {
    this.#failures = 0;
    this.#until = 0;
  }
}

/** Time that statements of the fast driver may take once the plain one is there, in milliseconds. */
const graceMs = 30_000;

/**
 * The fast driver where it works, else the plain one. That is decided at the start, or when a new connection (after the
 * database moved behind a pooler, say) does not support the fast one. There is no way back.
 *
 * `fast` opens the fast driver and tells its argument about every connection that is unfit. `told` is called once with
 * the reason, when the plain driver is connected. Rejects as the driver does that was tried last.
 */
export async function connectFitting(
  fast: (unfit: (reason: UnfitError) => void) => Promise<Database>,
  plain: () => Promise<Database>,
  onFallback: (reason: Error) => void,
): Promise<Database> {
  let unfitBecause: UnfitError | undefined;
  let moving = false;
  let closed = false;
  const lanes: Database[] = [];

  async function move(reason: UnfitError): Promise<void> {
    const database = await plain();
    if (closed) return database.close(0);
    const [left] = lanes;
    lanes.unshift(database);
    onFallback(reason);
    void left?.close(graceMs);
  }

  function unfit(reason: UnfitError): void {
    unfitBecause ??= reason;
    if (moving || lanes.length !== 1) return;
    moving = true;
    // When that fails too, the next connection of the fast lane that is unfit tries again.
    void move(reason)
      .catch(() => {})
      .finally(() => {
        moving = false;
      });
  }

  const first = await fast(unfit).catch(async (error: unknown) => {
    if (unfitBecause === undefined) throw error;
    const database = await plain();
    onFallback(unfitBecause);
    return database;
  });
  lanes.push(first);
  const current = (): Database => lanes[0] ?? first;
  return {
    read: (statement, parameters, sink, client) => current().read(statement, parameters, sink, client),
    stream: (...stream) => current().stream(...stream),
    load: () => current().load?.() ?? {},
    roundTripMs: () => current().roundTripMs?.() ?? 0,
    transaction: (work) => current().transaction(work),
    briefTransaction: (...brief) => current().briefTransaction(...brief),
    query: (...query) => current().query(...query),
    showPlan: async (...shown) => current().showPlan?.(...shown) ?? '',
    async close(grace) {
      closed = true;
      await Promise.all(lanes.map((driverMode) => driverMode.close(grace)));
    },
  };
}
