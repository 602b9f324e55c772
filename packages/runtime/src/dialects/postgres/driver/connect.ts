/**
 * Making a connection of the fast lane: `pg` reads the URL, negotiates TLS and authenticates; then our own client takes
 * over the socket.
 */
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { ConnectionError, UnfitError } from '../../../database/errors.ts';
import { createReusingSocket } from '../../../database/socket.ts';
import { giveBack } from '../../../json/byte-writer.ts';
import { Connection } from '../protocol/connection.ts';
import { cancelBackend } from './cancel.ts';
import type { Channel } from './channel.ts';
import { type ConnectedClient, connectClient } from './client.ts';
import { runIdentified } from './identified.ts';
import { type PostgresSettings, sessionSql } from './options.ts';

/** An open connection. */
export interface PostgresConnection {
  readonly connection: Channel;
  /** Cluster and history that its server held when it was made; undefined where it does not tell. */
  readonly identity: string | undefined;
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
  let identity: string | undefined;
  const { client, key } = await connectClient(settings, { stream: () => socket }, async (connected) => {
    const isSure = settings.driver !== 'auto';
    identity = await (isSure ? runIdentified(connected.client, setUp) : setUpWhereFit(connected, setUp));
  });
  const connection = takeOver(client.connection.stream, settings.preparedLimit, closed);
  reuse();
  return { connection, identity, cancel: () => cancelBackend(client, key) };
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

/**
 * Sets the session up, unless that would do harm or be of no use: then it rejects with `UnfitError`. Gives the identity of
 * the server.
 */
async function setUpWhereFit({ client, key }: ConnectedClient, setUp: string): Promise<string | undefined> {
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
