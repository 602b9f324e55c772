/** Connections to a MySQL or MariaDB server, each for one request at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolConnection } from 'mysql2';
import { ConnectionError, isLost } from '../errors.ts';
import { toMysqlError } from './errors.ts';
import { inTime } from './in-time.ts';
import { lineOf } from './line.ts';

/** How long a request waits for a connection, and how long for an answer before the connection counts as dead; in milliseconds. */
export interface Patience {
  readonly timeoutMs: number;
  /** Infinity waits for ever. */
  readonly answerTimeoutMs: number;
}

/** How often it is looked whether everybody has given back what he leased, in milliseconds. */
const lookMs = 10;

/** Lends the connections of the driver's pool, and knows who has one: statements that pass the driver by are none to it. */
export class MysqlPool {
  readonly answerTimeoutMs: number;
  readonly #pool: Pool;
  readonly #timeoutMs: number;
  readonly #leased = new Set<PoolConnection>();
  /** Those who wait for a connection. */
  #waiting = 0;
  #closing = false;

  constructor(pool: Pool, { timeoutMs, answerTimeoutMs }: Patience) {
    this.#pool = pool;
    this.#timeoutMs = timeoutMs;
    this.answerTimeoutMs = answerTimeoutMs;
  }

  /** Hands a connection to `use`, which asks once; one that is lost, or that gives no answer in time, is not given back. */
  async use<T>(use: (connection: PoolConnection) => Promise<T>): Promise<T> {
    const connection = await this.lease();
    try {
      const value = await inTime(this.answerTimeoutMs, use(connection));
      this.release(connection);
      return value;
    } catch (error) {
      if (isLost(error)) this.destroy(connection);
      else this.release(connection);
      throw error;
    }
  }

  /** Takes a connection, which the taker releases or destroys. Rejects with `ConnectionError` when none is free in time. */
  lease(): Promise<PoolConnection> {
    if (this.#closing) return Promise.reject(new ConnectionError('The connections are being closed.'));
    this.#waiting += 1;
    return new Promise((resolve, reject) => {
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        this.#waiting -= 1;
        reject(new ConnectionError('No connection was free in time.'));
      }, this.#timeoutMs);
      this.#pool.getConnection((error, connection) => {
        clearTimeout(timer);
        if (late) {
          if (!error) connection.release();
          return;
        }
        this.#waiting -= 1;
        if (error) {
          reject(toMysqlError(error));
          return;
        }
        this.#leased.add(connection);
        resolve(connection);
      });
    });
  }

  /** Takes a connection back that can be used again. */
  release(connection: PoolConnection): void {
    // One that was closed under its taker is gone.
    if (this.#leased.delete(connection)) connection.release();
  }

  /** Closes a connection that nobody can use any more. */
  destroy(connection: PoolConnection): void {
    this.#leased.delete(connection);
    connection.destroy();
  }

  /** Waits for what is under way, at most `graceMs`, refusing everything new; then closes every connection. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const end = performance.now() + graceMs;
    while (this.#leased.size + this.#waiting > 0 && performance.now() < end) await sleep(Math.min(lookMs, graceMs));
    for (const connection of [...this.#leased]) {
      this.destroy(connection);
      lineOf(connection).abandon(new ConnectionError('The connections were closed.'));
    }
    await new Promise<void>((resolve) => this.#pool.end(() => resolve()));
  }
}
