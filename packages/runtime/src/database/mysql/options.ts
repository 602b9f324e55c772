import type { ConnectionOptions } from 'mysql2';

/** Whether a database is one of MySQL's family, by its URL. */
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
  return {
    host: hostname === '' ? 'localhost' : hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 3306 : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    charset: 'utf8mb4',
    timezone: 'Z',
    // Parameters of prepared statements have no names: see `execute-packet.ts`.
    flags: ['-CLIENT_QUERY_ATTRIBUTES'],
    ...(mode === 'required' && { ssl: { rejectUnauthorized: false } }),
    ...((mode === 'verify_ca' || mode === 'verify_identity') && { ssl: {} }),
  };
}
