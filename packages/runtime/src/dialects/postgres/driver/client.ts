/** A client of `pg` that is connected and authenticated: both driver modes start from it. */

import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import pg from 'pg';
import { ConnectionError, PoolingError } from '../../../database/errors.ts';
import { inTime } from '../../../database/waits.ts';
import { addressConfig, type PostgresSettings } from './options.ts';

/** A connected client, and the facts that the server sent it. */
export interface ConnectedClient<Learned = unknown> {
  readonly client: pg.Client;
  /** Key for ending its statements from outside; undefined when the server sent none. */
  readonly key: BackendKey | undefined;
  /** Result of preparing it. */
  readonly learned: Learned;
}

/** Prepares a fresh connection. */
type Prepare<Learned> = (connected: Pick<ConnectedClient, 'client' | 'key'>) => Promise<Learned>;

/** Milliseconds of silence after which the operating system asks whether the other side still lives. */
const keepAliveMs = 30_000;

/** SQLSTATEs of a user or password that is refused. */
const refusedPassword = /^28(?:P01|000)$/;

/**
 * Reads the URL, negotiates TLS, authenticates, and runs `prepare` on the fresh connection.
 *
 * Rejects with a `ConnectionError` whose message states the attempt and its result, without the password; when
 * `prepare` throws one, with that.
 */
export async function connectClient<Learned>(
  settings: PostgresSettings,
  config: pg.ClientConfig,
  prepare: Prepare<Learned>,
): Promise<ConnectedClient<Learned>> {
  const { renewable } = settings;
  const url = renewable.current();
  try {
    return await connectTo(url, settings, config, prepare);
  } catch (error) {
    const other = isRefusedPassword(error) ? renewable.renew(url) : null;
    if (other === null) throw error;
    return connectTo(other, settings, config, prepare);
  }
}

function isRefusedPassword(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && 'code' in cause && refusedPassword.test(String(cause.code));
}

async function connectTo<Learned>(
  url: string,
  settings: PostgresSettings,
  config: pg.ClientConfig,
  prepare: Prepare<Learned>,
): Promise<ConnectedClient<Learned>> {
  const client = createClient({
    ...config,
    ...addressConfig(url),
    connectionTimeoutMillis: settings.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  });
  // Errors reject the promises below; without a listener they would end the process as well.
  client.on('error', () => {});
  const key = keyOf(client);
  try {
    await client.connect();
    const connected = { client, key: key() };
    // `pg` counts the time until it is connected, but a server may fall silent after that, too.
    const late = () => Promise.reject(new Error('timeout expired'));
    return { ...connected, learned: await inTime(prepare(connected), settings.connectTimeoutMs, late) };
  } catch (cause) {
    client.connection.stream.destroy();
    if (cause instanceof ConnectionError || cause instanceof PoolingError) throw cause;
    throw new ConnectionError(describeFailure(client, cause), { cause });
  }
}

/** Making one reads the files that its address names. */
function createClient(config: pg.ClientConfig): pg.Client {
  try {
    return new pg.Client(config);
  } catch (cause) {
    throw new ConnectionError('The address of the database cannot be used.', { cause });
  }
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
  const address = client.host.startsWith('/') ? client.host : `${client.host}:${client.port}`;
  return `Cannot connect to the database "${client.database ?? ''}" at ${address} as "${client.user ?? ''}": ${reason}`;
}

/** Node reports several addresses that all refused as an error without a message. */
function errorCode(error: Error): string {
  return 'code' in error ? String(error.code) : error.name;
}

/** Key from the server by which another connection can end the statements of this one. */
interface BackendKey {
  readonly processId: number;
  readonly secret: number;
}

const cancelCode = 80_877_102;
const tlsCode = 80_877_103;
const timeoutMs = 2_000;

/** Sends the request to where `client` is connected, with TLS when it uses TLS. Never rejects: it is a courtesy. */
export async function cancelBackend(client: pg.Client, key: BackendKey | undefined): Promise<void> {
  if (key === undefined) return;
  const { host, port } = client;
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  // After any error the connection that runs the statement is dropped next.
  socket.on('error', () => {});
  await inTime(sendCancel(socket, client, key), timeoutMs, () => {}).catch(() => {});
  socket.destroy();
}

/** Resolves when the server has taken the request and closed the connection. */
async function sendCancel(socket: Socket, { host, ssl }: pg.Client, key: BackendKey): Promise<void> {
  await once(socket, 'connect');
  const secured = ssl ? await secure(socket, host, ssl) : socket;
  secured.on('error', () => {});
  // Not `end`: a pooler that hears its client leave before it has passed the request on drops it.
  secured.write(cancelRequest(key));
  secured.resume();
  await once(secured, 'close');
}

function cancelRequest(key: BackendKey): Buffer {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(cancelCode, 4);
  message.writeInt32BE(key.processId, 8);
  message.writeInt32BE(key.secret, 12);
  return message;
}

/** `ssl` holds the options of `pg`, which are those of node:tls. */
async function secure(socket: Socket, host: string, ssl: unknown): Promise<Socket> {
  const message = Buffer.alloc(8);
  message.writeInt32BE(8, 0);
  message.writeInt32BE(tlsCode, 4);
  socket.write(message);
  const [result] = await once(socket, 'data');
  if (String(result) !== 'S') throw new Error('The server does not offer TLS.');
  const options = typeof ssl === 'object' && ssl !== null ? ssl : {};
  const secured = connectTls({ ...options, socket, host, ...(isIP(host) === 0 ? { servername: host } : {}) });
  await once(secured, 'secureConnect');
  return secured;
}
