/** Connections to a MySQL or MariaDB server, each for one request at a time. */
import type { Pool, PoolConnection } from 'mysql2';
import { ConnectionError, isLost } from '../errors.ts';
import { toMysqlError } from './errors.ts';
import { inTime } from './in-time.ts';

/** Connections, how long a request waits for one, and how long for an answer before the connection counts as dead. */
export interface MysqlPool {
  readonly pool: Pool;
  readonly timeoutMs: number;
  readonly answerTimeoutMs: number;
}

/** Hands a connection to `use`, which asks once; one that is lost, or that gives no answer in time, is not given back. */
export async function withConnection<T>(from: MysqlPool, use: (connection: PoolConnection) => Promise<T>): Promise<T> {
  const connection = await lease(from);
  try {
    const value = await inTime(from.answerTimeoutMs, use(connection));
    connection.release();
    return value;
  } catch (error) {
    if (isLost(error)) connection.destroy();
    else connection.release();
    throw error;
  }
}

/** Takes a connection, which the taker releases or destroys. Rejects with `ConnectionError` when none is free in time. */
export function lease({ pool, timeoutMs }: MysqlPool): Promise<PoolConnection> {
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      reject(new ConnectionError('No connection was free in time.'));
    }, timeoutMs);
    pool.getConnection((error, connection) => {
      clearTimeout(timer);
      if (error) reject(toMysqlError(error));
      else if (late) connection.release();
      else resolve(connection);
    });
  });
}
