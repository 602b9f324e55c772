import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Connection, ConnectionOptions, SslOptions } from 'mysql2';
import { ConnectionError, readable } from '../../../database/errors.ts';
import { createReusingSocket } from '../../../database/messages.ts';

/** Options of a connection, by a URL: `mysql://user:password@host:3306/database`. */
export function connectionOptions(url: string): ConnectionOptions {
  const { hostname, port, username, password, pathname } = new URL(url);
  const address = {
    host: hostname === '' ? 'localhost' : hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 3306 : Number(port),
  };
  const encryption = mysqlEncryption(url);
  return {
    ...address,
    user: readable(username),
    password: readable(password),
    database: readable(pathname.slice(1)),
    charset: 'utf8mb4',
    timezone: 'Z',
    // Parameters of prepared statements have no names: see `execute-packet.ts`.
    flags: ['-CLIENT_QUERY_ATTRIBUTES'],
    // Under TLS the driver's own socket is as good.
    ...(encryption === undefined ? { stream: () => openSocket(address) } : { ssl: encryption }),
  };
}

/**
 * Encryption of a connection, by its URL: `?ssl-mode=required` encrypts, `verify_ca` also checks the certificate, and
 * `verify_identity` that it is one of the host. Undefined without one of them: nothing is encrypted. Throws for the words of
 * other drivers, since who wrote them wants encryption.
 */
export function mysqlEncryption(url: string): SslOptions | undefined {
  const { searchParams } = new URL(url);
  const foreign = ['ssl', 'sslmode', 'sslaccept', 'tls'].find((name) => !off.has(searchParams.get(name) ?? 'false'));
  if (foreign !== undefined) throw unknownEncryption(`${foreign}=${searchParams.get(foreign)}`);
  const mode = searchParams.get('ssl-mode')?.toLowerCase().replace('-', '_') ?? 'disabled';
  if (mode === 'required') return { rejectUnauthorized: false };
  if (mode === 'verify_ca') return {};
  if (mode === 'verify_identity') return { verifyIdentity: true };
  if (mode === 'disabled' || mode === 'preferred') return undefined;
  throw unknownEncryption(`ssl-mode=${searchParams.get('ssl-mode')}`);
}

const off: ReadonlySet<string> = new Set(['false', '0', 'disable', 'disabled']);

function unknownEncryption(text: string): Error {
  const cause = new Error(`"${text}" asks for an encryption that is unknown`);
  return new ConnectionError('The address of the database cannot be used.', {
    cause: Object.assign(cause, { code: 'UNKNOWN_ENCRYPTION' }),
  });
}

/** Closes a connection at once: the driver leaves that to the server, and one that hangs does not do it. */
export function cut(connection: Pick<Connection, 'destroy' | 'emit'>): void {
  connection.destroy();
  // That of promises has another within.
  const { stream }: { readonly stream?: unknown } = Reflect.get(connection, 'connection') ?? connection;
  if (stream instanceof Duplex) stream.destroy();
  connection.emit('end');
}

/** Functions that make a socket reuse its memory. */
const reuses = new WeakMap<object, () => void>();

/** Opens a socket, set up as the driver sets up its own. Errors of connecting are events of the socket. */
function openSocket(address: { readonly host: string; readonly port: number }): Socket {
  const { socket, reuse } = createReusingSocket();
  reuses.set(socket, reuse);
  socket.on('connect', () => socket.setKeepAlive(true));
  socket.setNoDelay(true);
  return socket.connect(address);
}

/** From here on data of a socket is valid only during its `data` event. No effect on sockets of others. */
export function reuseMemory(socket: unknown): void {
  if (typeof socket === 'object' && socket !== null) reuses.get(socket)?.();
}
