/** Facts about the connection to a PostgreSQL server. */
import pg from 'pg';
import { type ConnectionFacts, isLocalHost } from '../connection.ts';

/** Reads an address as the driver does, which also takes variables such as PGSSLMODE. */
export function postgresConnection(url: string): ConnectionFacts {
  const client = new pg.Client({ connectionString: url });
  const ssl: unknown = client.ssl;
  const isUnchecked = typeof ssl === 'object' && ssl !== null && Reflect.get(ssl, 'rejectUnauthorized') === false;
  return {
    isLocal: isLocalHost(client.host),
    encryption: isUnchecked ? 'unchecked' : ssl ? 'checked' : 'none',
    checking: 'sslmode=verify-full',
  };
}

/** Asks for the limits of connections of the server, of the role and of the database; -1 is none. */
export const postgresLimitsSql = `SELECT (pg_catalog.current_setting('max_connections')::int
  - pg_catalog.current_setting('superuser_reserved_connections')::int
  - coalesce(pg_catalog.current_setting('reserved_connections', true)::int, 0))::text,
  (SELECT rolconnlimit::text FROM pg_catalog.pg_roles WHERE rolname = current_user),
  (SELECT datconnlimit::text FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())`;
