import { type Connection, createConnection } from 'mysql2';
import { connectionOptions } from './options.ts';

/** Milliseconds after which the attempt is given up. */
const timeoutMs = 2_000;

/**
 * Ends the statement of a connection by a connection of its own: a server notices late that its client is gone. Resolves
 * when it was asked, or cannot be; never rejects.
 */
export function killStatement(url: string, { threadId }: Pick<Connection, 'threadId'>): Promise<void> {
  return new Promise((resolve) => {
    if (!Number.isInteger(threadId)) return resolve();
    const killer = createConnection({ ...connectionOptions(url), connectTimeout: timeoutMs });
    // It may be gone by itself.
    killer.on('error', () => resolve());
    killer.query(`KILL ${threadId}`, () => {
      killer.destroy();
      resolve();
    });
  });
}
