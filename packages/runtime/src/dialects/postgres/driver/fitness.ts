/**
 * Tells if a connection is fit for the prepared driver mode. Its session must be ours alone, because it is set up once.
 * It must keep statements under their names.
 */
import pg from 'pg';
import { UnfitError } from '../../../database/errors.ts';
import type { ConnectedClient } from './client.ts';
import { runIdentified } from './identified.ts';

/**
 * Sets the session up, unless that would do harm or be of no use: then it rejects with `UnfitError`. Gives the identity of
 * the server.
 */
export async function setUpWhereFit({ client, key }: ConnectedClient, setUp: string): Promise<string | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  // A pooler issues keys of its own. Settings of a session there would also apply to the next client of the pool.
  if (rows[0]?.pid !== key?.processId) {
    throw new UnfitError('The database is reached through a pooler, so a session may be shared with others.');
  }
  await orUnfit('prepared statements', client.query({ name: 'platform_probe', text: 'SELECT 1' }));
  return orUnfit('settings of the session', runIdentified(client, `DEALLOCATE platform_probe; ${setUp}`));
}

async function orUnfit<T>(what: string, query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || /^(53|57)/.test(cause.code ?? '')) throw cause;
    throw new UnfitError(`The database or what stands before it refuses ${what}.`, { cause });
  }
}
