/** Facts about the connection to a MySQL or MariaDB server. */
import { mysqlEncryption } from '@tablewright/runtime/mysql';
import { type ConnectionFacts, isLocalHost } from '../connection.ts';

/** Reads an address as the driver does. A certificate of another host proves nothing. */
export function mysqlConnection(url: string): ConnectionFacts {
  const ssl = mysqlEncryption(url);
  return {
    isLocal: isLocalHost(new URL(url).hostname),
    encryption: ssl === undefined ? 'none' : ssl.verifyIdentity === true ? 'checked' : 'unchecked',
    checking: 'ssl-mode=verify_identity',
  };
}

/** Asks for the limits of connections of the server and of the user; 0 is none. */
export const mysqlLimitsSql = 'SELECT @@global.max_connections, @@session.max_user_connections';
