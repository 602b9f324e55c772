/** Facts about the connection to a MySQL or MariaDB server. */
import { type ConnectionFacts, isLocalHost } from './connection.ts';

/** Reads an address as the driver does. */
export function mysqlConnection({ hostname, searchParams }: URL): ConnectionFacts {
  const mode = searchParams.get('ssl-mode')?.toLowerCase().replace('-', '_');
  const isChecked = mode === 'verify_ca' || mode === 'verify_identity';
  return {
    isLocal: isLocalHost(hostname),
    encryption: isChecked ? 'checked' : mode === 'required' ? 'unchecked' : 'none',
    checking: 'ssl-mode=verify_identity',
  };
}

/** Asks for the limits of connections of the server and of the user; 0 is none. */
export const mysqlLimitsSql = 'SELECT @@global.max_connections, @@session.max_user_connections';
