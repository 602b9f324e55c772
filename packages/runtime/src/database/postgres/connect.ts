/**
 * Making a connection: `pg` reads the URL, negotiates TLS and authenticates; then our own client takes over the socket.
 */
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { giveBack } from '../../json/byte-writer.ts';
import { ConnectionError } from '../errors.ts';
import { Connection } from '../protocol/connection.ts';
import { type BackendKey, cancelBackend } from './cancel.ts';
import { type PostgresSettings, sessionSql } from './options.ts';
import { createReusingSocket } from './socket.ts';

/** A connection of its own kind: `shared` ones are for pipelined reads, others for one request at a time. */
export interface PostgresConnection {
  readonly connection: Connection;
  /** Asks the server over another connection to end the running statement; never rejects. */
  cancel(): Promise<void>;
}

/** Told once when a connection has ended for whatever reason. */
export type Closed = (connection: Connection, error: unknown) => void;

/** Milliseconds of silence after which the operating system asks whether the other side still lives. */
const keepAliveMs = 30_000;

/**
 * Connects, authenticates and sets the session up.
 *
 * Rejects with a `ConnectionError` whose message says what was tried and what happened, without the password.
 */
export async function openConnection(
  settings: PostgresSettings,
  shared: boolean,
  closed: Closed,
): Promise<PostgresConnection> {
  const { socket, reuse } = createReusingSocket();
  const client = new pg.Client({
    stream: () => socket,
    connectionString: settings.url,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  });
  // Errors reject the promises below; without a listener they would end the process as well.
  client.on('error', () => {});
  const key = keyOf(client);
  try {
    await client.connect();
    await client.query(sessionSql({ ...settings, readOnly: true }, shared));
  } catch (cause) {
    client.connection.stream.destroy();
    throw new ConnectionError(describeFailure(client, cause), { cause });
  }
  const connection = takeOver(client.connection.stream, settings.preparedLimit, closed);
  reuse();
  return { connection, cancel: () => cancelBackend(client, key()) };
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
  // Its listeners for errors and the end stay: they only tell the client, which nobody listens to any more.
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => connection.receive(chunk));
  socket.on('error', (error) => connection.fail(error));
  socket.on('end', () => connection.fail(new ConnectionError('The server ended the connection.')));
  socket.on('close', () => connection.fail(new ConnectionError('The connection was closed.')));
  socket.resume();
  return connection;
}

/** Listens for the key that ends statements of this connection from outside. */
function keyOf(client: pg.Client): () => BackendKey | undefined {
  let key: BackendKey | undefined;
  client.connection.on('backendKeyData', (message: { processID: number; secretKey: number }) => {
    key = { processId: message.processID, secret: message.secretKey };
  });
  return () => key;
}

function describeFailure(client: pg.Client, cause: unknown): string {
  const reason = cause instanceof Error ? cause.message || errorCode(cause) : String(cause);
  const place = client.host.startsWith('/') ? client.host : `${client.host}:${client.port}`;
  return `Cannot connect to the database "${client.database ?? ''}" at ${place} as "${client.user ?? ''}": ${reason}`;
}

/** Node reports several addresses that all refused as an error without a message. */
function errorCode(error: Error): string {
  return 'code' in error ? String(error.code) : error.name;
}
