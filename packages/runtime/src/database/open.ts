import type { Database } from './database.ts';
import { isMysqlUrl } from './mysql/options.ts';
import { connectPglite, type EmbeddedPostgres } from './pglite.ts';
import { connectPostgres, type PostgresOptions } from './postgres.ts';

/** Where the database is: a server by its URL, or an embedded one by its data directory or running instance. */
export type DatabasePlace = { readonly url: string } | { readonly embedded: string | EmbeddedPostgres };

/**
 * Opens the database of a place; the options are for servers.
 *
 * Rejects with SERVICE_UNAVAILABLE when it cannot be reached; the error's `cause` says why in one sentence.
 */
export async function openDatabase(
  place: DatabasePlace,
  options: Omit<PostgresOptions, 'url'> = {},
): Promise<Database> {
  if (!('url' in place)) return connectPglite(place.embedded);
  const { url } = place;
  if (!isMysqlUrl(url)) return connectPostgres({ ...options, url });
  const { connectMysql } = await import('./mysql.ts');
  return connectMysql({ ...options, url });
}
