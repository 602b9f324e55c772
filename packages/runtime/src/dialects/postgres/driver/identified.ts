import pg from 'pg';
import { identitySql } from '../identity.ts';

/** SQLSTATEs of a server that does not tell its identity: no such function, or no right to it. */
const untold = /^(?:42501|42883|42P01|0A000)$/;

/**
 * Runs statements that set a session up, and learns the identity of the server in the same round trip. It is undefined where
 * the server does not tell. Source: reliability notes, R10.
 */
export async function runIdentified(client: pg.Client, sql: string): Promise<string | undefined> {
  try {
    // First, so that nothing was run where it is refused.
    const results: unknown = await client.query({ text: `SELECT ${identitySql}; ${sql}`, rowMode: 'array' });
    const [first] = Array.isArray(results) ? results : [results];
    return String(first.rows[0][0]);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || !untold.test(error.code ?? '')) throw error;
    await client.query(sql);
    return undefined;
  }
}
