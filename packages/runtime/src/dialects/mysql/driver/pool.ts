/** Connections to a MySQL or MariaDB server, each for one request at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolConnection } from 'mysql2';
import type { ReadClient } from '../../../database/database.ts';
import {
  ConnectionError,
  isLost,
  isNotPrimary,
  isStatementTimeout,
  statementTimeout,
} from '../../../database/errors.ts';
import type { Failover } from '../../../database/hosts/choose-primary.ts';
import { type Admitted, leftError, noneFree, ReadQueue, type Waited, Waits } from '../../../database/waits.ts';
import { ClientGoneError } from '../../../errors.ts';
import type { PoolLoad, PoolObserver } from '../../../operate/metrics/pool-metrics.ts';
import { toMysqlError } from './errors.ts';
import { lineOf } from './line.ts';
import { cut } from './options.ts';

/** Times that a request waits for a connection, and for an answer before the connection counts as dead; in milliseconds. */
interface PoolTimeouts {
  readonly timeoutMs: number;
  /** Infinity waits for ever. */
  readonly answerTimeoutMs: number;
  /** Time that a statement of callers without a token may run. */
  readonly publicTimeoutMs: number;
}

interface MysqlPoolOptions extends PoolTimeouts {
  /** Connections at most. */
  readonly poolMax: number;
  readonly observer: PoolObserver;
  /** Ends the statement of a connection to a server. */
  readonly kill: (connection: PoolConnection, server: string) => Promise<void>;
  /** Called when the server refused the password. True if there is another one now. */
  readonly renew: () => boolean;
  /** Choice among several servers. */
  readonly failover: Failover;
}

/** Interval at which it is checked if all leased connections were returned, in milliseconds. */
const lookMs = 10;
/** Interval at which it is checked if a read has taken too long, or its client has left. */
const readLookMs = 100;
/** Round trips in which a connection is made and its first statement prepared: reads that wait for others wait so much longer. */
const connectingTrips = 8;

/** Lends the connections of the driver's pool, and knows who has one: statements that pass the driver by are none to it. */
export class MysqlPool {
  readonly answerTimeoutMs: number;
  readonly publicTimeoutMs: number;
  readonly #pool: Pool;
  readonly #options: MysqlPoolOptions;
  readonly #reads: ReadQueue;
  readonly #waits = new Waits();
  /** With the milliseconds of a round trip, once they are known. */
  readonly #open = new Map<PoolConnection, number>();
  readonly #settingUp = new Map<PoolConnection, Promise<void>>();
  readonly #servers = new WeakMap<PoolConnection, string>();
  readonly #leased = new Set<PoolConnection>();
  /** Changes of the server that takes writes. */
  moves = 0;
  #waiting = 0;
  #closing = false;

  constructor(pool: Pool, options: MysqlPoolOptions) {
    const { timeoutMs, poolMax } = options;
    this.#pool = pool;
    this.#options = options;
    this.answerTimeoutMs = options.answerTimeoutMs;
    this.publicTimeoutMs = options.publicTimeoutMs;
    options.failover.listen((change) => {
      if (change === 'moved') this.moves++;
      if (change === 'moved' || change === 'gone') this.#dropAll();
    });
    const limit = Math.max(1, poolMax - Math.max(1, Math.floor(poolMax / 3)));
    this.#reads = new ReadQueue({ maxCount: limit, maxPublic: Math.max(1, limit - 2), timeoutMs });
  }

  get waited(): Waited {
    return this.#waits.waited;
  }

  /** All connections, and all that wait for one. */
  get load(): PoolLoad {
    const used = this.#leased.size;
    const waiting = this.#waits.waited.waiting;
    return { used, idle: Math.max(0, this.#open.size - used), max: this.#options.poolMax, waiting };
  }

  /** True where transactions have no server to go to. */
  get isLost(): boolean {
    return !this.#options.failover.isSettled;
  }

  /** True once they have waited in vain. */
  get isTimedOut(): boolean {
    return this.#options.failover.isTimedOut;
  }

  /** A transaction has failed: perhaps with its server. */
  failed(failure: unknown): void {
    if (isNotPrimary(failure) || isLost(failure)) this.#options.failover.lost();
  }

  /** Closes all connections: a former server must take nothing more. */
  #dropAll(): void {
    for (const connection of [...this.#open.keys()]) {
      const isLeased = this.#leased.has(connection);
      this.destroy(connection);
      if (isLeased) lineOf(connection).abandon(new ConnectionError('Another server is asked from now on.'));
    }
  }

  /** Counts a connection until it is closed; the result takes the milliseconds of a round trip of it, and its server. */
  opened(connection: PoolConnection): (ms: number, server: string) => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#open.set(connection, Number.POSITIVE_INFINITY);
    this.#settingUp.set(connection, promise);
    const ended = (): void => {
      this.#settingUp.delete(connection);
      resolve();
    };
    connection.once('end', () => {
      this.#open.delete(connection);
      ended();
    });
    return (ms, server) => {
      this.#servers.set(connection, server);
      if (this.#open.has(connection)) this.#open.set(connection, ms);
      ended();
    };
  }

  /** Resolves once the session of a connection is set up; null if it is. */
  settingUp(connection: PoolConnection): Promise<void> | null {
    return this.#settingUp.get(connection) ?? null;
  }

  /** Least time of a round trip of its connections when they were made; 0 where none is known. */
  get roundTripMs(): number {
    const least = Math.min(...this.#open.values());
    return Number.isFinite(least) ? least : 0;
  }

  /**
   * Hands a connection to `use`, which reads once; one that is lost, or that gives no answer in time, is not given back.
   * Reads leave connections to transactions, and those of callers without a token also to other reads.
   */
  async read<T>(isPublic: boolean, use: (connection: PoolConnection) => Promise<T>, client?: ReadClient): Promise<T> {
    const entering = this.#enter(isPublic, client);
    const admitted = entering instanceof Promise ? await entering : entering;
    try {
      return await this.#use(isPublic, use, client);
    } finally {
      this.#reads.leave(admitted);
    }
  }

  async #use<T>(
    isPublic: boolean,
    use: (connection: PoolConnection) => Promise<T>,
    client: ReadClient | undefined,
  ): Promise<T> {
    const connection = await this.lease(client);
    const isShort = isPublic && this.publicTimeoutMs < this.answerTimeoutMs;
    try {
      const timeoutMs = isShort ? this.publicTimeoutMs : this.answerTimeoutMs;
      const value = await watched(use(connection), (ms) => {
        if (ms > timeoutMs) return isShort ? statementTimeout() : new ConnectionError('No answer in time.');
        return leftError(client);
      });
      this.release(connection);
      return value;
    } catch (error) {
      if (error instanceof ClientGoneError || (isShort && isStatementTimeout(error))) this.abandon(connection);
      else if (isLost(error)) this.destroy(connection);
      else this.release(connection);
      throw error;
    }
  }

  #enter(isPublic: boolean, client: ReadClient | undefined): Admitted | Promise<Admitted> {
    if (this.#closing) throw new ConnectionError('The connections are being closed.');
    const entering = this.#reads.enter(isPublic, connectingTrips * this.roundTripMs, client);
    if (!(entering instanceof Promise)) return entering;
    const ended = this.#waits.begin();
    return entering.finally(ended);
  }

  /** Closes a connection, and ends the statement that the server still runs for it. */
  abandon(connection: PoolConnection): void {
    void this.#kill(connection);
    this.destroy(connection);
  }

  async #kill(connection: PoolConnection): Promise<void> {
    const server = this.#servers.get(connection) ?? '';
    if (server !== '') await this.#options.kill(connection, server);
  }

  /** Takes a connection for a stream; `end` is to be called after it. */
  async leaseForStream(
    isPublic: boolean,
    client: ReadClient,
  ): Promise<{ readonly connection: PoolConnection; readonly end: () => void }> {
    const entering = this.#enter(isPublic, client);
    const admitted = entering instanceof Promise ? await entering : entering;
    const end = (): void => this.#reads.leave(admitted);
    try {
      return { connection: await this.lease(client), end };
    } catch (error) {
      end();
      throw error;
    }
  }

  /**
   * Takes a connection, which the taker releases or destroys. Rejects with `ConnectionError` when none is free in time,
   * and with `ClientGoneError` when its client has left before.
   */
  lease(client?: ReadClient): Promise<PoolConnection> {
    if (this.#closing) return Promise.reject(new ConnectionError('The connections are being closed.'));
    const { observer, timeoutMs } = this.#options;
    const pauseMs = client === undefined ? timeoutMs : Math.min(timeoutMs, readLookMs);
    this.#waiting += 1;
    const ended = this.#waits.begin();
    const since = performance.now();
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (failure?: unknown): void => {
        isOver = true;
        clearTimeout(timer);
        ended();
        this.#waiting -= 1;
        if (failure !== undefined) reject(failure);
      };
      const look = (): void => {
        const left = since + timeoutMs - performance.now();
        const failure = leftError(client) ?? (left > 0 ? undefined : noneFree());
        if (failure === undefined) {
          timer = setTimeout(look, Math.min(left, pauseMs));
          return;
        }
        if (failure instanceof ConnectionError) observer.timedOut();
        end(failure);
      };
      let timer = setTimeout(look, pauseMs);
      this.#connect((error, connection) => {
        const failure = error ? toMysqlError(error) : leftError(client);
        const isTaken = !isOver && failure === undefined;
        if (!isOver) end(failure);
        if (isTaken) {
          observer.waited(performance.now() - since);
          this.#leased.add(connection);
          resolve(connection);
        } else if (!error) connection.release();
      });
    });
  }

  #connect(done: Parameters<Pool['getConnection']>[0]): void {
    this.#pool.getConnection((error, connection) => {
      if (error?.code === 'ER_ACCESS_DENIED_ERROR' && this.#options.renew()) this.#pool.getConnection(done);
      else done(error, connection);
    });
  }

  /** Takes a connection back that can be used again. */
  release(connection: PoolConnection): void {
    // One that was closed under its taker is gone.
    if (this.#leased.delete(connection)) connection.release();
  }

  destroy(connection: PoolConnection): void {
    this.#open.delete(connection);
    this.#leased.delete(connection);
    cut(connection);
  }

  /** Waits for statements under way, at most `graceMs`, refusing everything new; then closes every connection. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const end = performance.now() + graceMs;
    while (this.#leased.size + this.#waiting > 0 && performance.now() < end) await sleep(Math.min(lookMs, graceMs));
    const leased = [...this.#leased];
    await Promise.all(leased.map((connection) => this.#kill(connection)));
    for (const connection of leased) {
      this.destroy(connection);
      lineOf(connection).abandon(new ConnectionError('The connections were closed.'));
    }
    // Says goodbye on all that are idle, and at once: others, as those that are being made, are not waited for.
    this.#pool.end(() => {});
  }
}

/** Waits for the result of a read, as long as looks at it find no error. */
function watched<T>(reading: Promise<T>, findError: (ms: number) => Error | undefined): Promise<T> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const timer = setInterval(() => {
      const error = findError(performance.now() - begun);
      if (error === undefined) return;
      clearInterval(timer);
      reject(error);
    }, readLookMs);
    reading.then(
      (value) => {
        clearInterval(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearInterval(timer);
        reject(error);
      },
    );
  });
}
