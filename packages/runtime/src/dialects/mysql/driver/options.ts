import type { ConnectionOptions, SslOptions } from 'mysql2';
import { readable } from '../../../database/readable.ts';
import { openSocket } from './sockets.ts';

/** True if a URL names a MySQL or MariaDB database. */
export function isMysqlUrl(url: string): boolean {
  return /^(?:mysql|mariadb):\/\//i.test(url);
}

/**
 * How to connect, by a URL: `mysql://user:password@host:3306/database`. `?ssl-mode=required` encrypts, and
 * `verify_identity` checks the certificate, too; without one of them nothing is encrypted.
 */
export function connectionOptions(url: string): ConnectionOptions {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const mode = searchParams.get('ssl-mode')?.toLowerCase().replace('-', '_');
  const address = {
    host: hostname === '' ? 'localhost' : hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 3306 : Number(port),
  };
  const encryption = encryptionOf(mode);
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

function encryptionOf(mode: string | undefined): SslOptions | undefined {
  if (mode === 'required') return { rejectUnauthorized: false };
  return mode === 'verify_ca' || mode === 'verify_identity' ? {} : undefined;
}
