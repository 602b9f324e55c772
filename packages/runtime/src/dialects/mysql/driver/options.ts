import type { ConnectionOptions, SslOptions } from 'mysql2';
import { readable } from '../../../database/readable.ts';
import { openSocket } from './sockets.ts';

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
 * `verify_identity` that it is one of the host. Undefined without one of them: nothing is encrypted.
 */
export function mysqlEncryption(url: string): SslOptions | undefined {
  const mode = new URL(url).searchParams.get('ssl-mode')?.toLowerCase().replace('-', '_');
  if (mode === 'required') return { rejectUnauthorized: false };
  if (mode === 'verify_ca') return {};
  return mode === 'verify_identity' ? { verifyIdentity: true } : undefined;
}
