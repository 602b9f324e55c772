/**
 * Tells if a connection is fit for the prepared driver mode. Its session must be ours alone, because it is set up once.
 * It must keep statements under their names.
 */
import pg from 'pg';
import { UnfitError } from '../../../database/errors.ts';
import type { ConnectedClient } from './client.ts';

/** Sets the session up, unless that would do harm or be of no use: then it rejects with `UnfitError`. */
export async function setUpWhereFit({ client, key }: ConnectedClient, setUp: string): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  // A pooler issues keys of its own. Settings of a session there would also apply to the next client of the pool.
  if (rows[0]?.pid !== key?.processId) {
    throw new UnfitError('The database is reached through a pooler, so a session may be shared with others.');
  }
  await orUnfit('prepared statements', client.query({ name: 'platform_probe', text: 'SELECT 1' }));
  await orUnfit('settings of the session', client.query(`DEALLOCATE platform_probe; ${setUp}`));
}

async function orUnfit(what: string, query: Promise<unknown>): Promise<void> {
  try {
    await query;
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || /^(53|57)/.test(cause.code ?? '')) throw cause;
    throw new UnfitError(`The database or what stands before it refuses ${what}.`, { cause });
  }
}
