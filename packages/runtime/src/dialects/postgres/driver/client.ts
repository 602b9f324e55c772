/** A client of `pg` that is connected and authenticated: both driver modes start from it. */
import pg from 'pg';
import { ConnectionError, PoolingError } from '../../../database/errors.ts';
import type { BackendKey } from './cancel.ts';
import type { PostgresSettings } from './options.ts';

/** A connected client, and the facts that the server sent it. */
export interface ConnectedClient {
  readonly client: pg.Client;
  /** Key for ending its statements from outside; undefined when the server sent none. */
  readonly key: BackendKey | undefined;
}

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
export async function connectClient(
  settings: PostgresSettings,
  config: pg.ClientConfig,
  prepare: (connected: ConnectedClient) => Promise<void>,
): Promise<ConnectedClient> {
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

async function connectTo(
  url: string,
  settings: PostgresSettings,
  config: pg.ClientConfig,
  prepare: (connected: ConnectedClient) => Promise<void>,
): Promise<ConnectedClient> {
  const client = new pg.Client({
    ...config,
    connectionString: url,
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
    await inTime(prepare(connected), settings.connectTimeoutMs);
    return connected;
  } catch (cause) {
    client.connection.stream.destroy();
    if (cause instanceof ConnectionError || cause instanceof PoolingError) throw cause;
    throw new ConnectionError(describeFailure(client, cause), { cause });
  }
}

/** `pg` counts the time until it is connected, but a server may fall silent after that, too. */
async function inTime(prepared: Promise<void>, timeoutMs: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('timeout expired')), timeoutMs);
  try {
    await Promise.race([prepared, late]);
  } finally {
    clearTimeout(timer);
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
