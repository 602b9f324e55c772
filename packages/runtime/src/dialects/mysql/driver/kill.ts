import { type Connection, createConnection } from 'mysql2';
import { connectionOptions } from './options.ts';

/** Milliseconds after which the attempt is given up. */
const timeoutMs = 2_000;

/**
 * Ends the statement of a connection by a connection of its own: a server notices late that its client is gone. Never
 * throws.
 */
export function killStatement(url: string, { threadId }: Pick<Connection, 'threadId'>): void {
  if (!Number.isInteger(threadId)) return;
  const killer = createConnection({ ...connectionOptions(url), connectTimeout: timeoutMs });
  // It may be gone by itself.
  killer.on('error', () => {});
  killer.query(`KILL ${threadId}`, () => killer.destroy());
}
