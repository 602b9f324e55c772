/** Requests that meet another transaction at a certain moment: it holds rows until they wait for them. */
import { expect } from 'vitest';
import { isOnMariadb, mysqlOf } from './contract-database.ts';
import { withClient } from './database.ts';
import { withMysql } from './mariadb.ts';

/** Another transaction: what it has done before the requests are sent. */
export interface Holding {
  readonly before: string;
  readonly also?: string;
  /** How many sessions have to wait. Default: 1. */
  readonly waiting?: number;
}

/**
 * Sends requests while another transaction holds what they need, and commits it when all of them wait. Its statements are written for
 * PostgreSQL, one in each text.
 */
export async function whileHeld<T>(
  url: string,
  { before, also, waiting = 1 }: Holding,
  send: () => Promise<T>,
): Promise<T> {
  const meet = async (run: (sql: string) => Promise<unknown>): Promise<T> => {
    await run('BEGIN');
    await run(before);
    if (also !== undefined) await run(also);
    const answers = send();
    // Looked at below: what goes wrong before is told instead.
    answers.catch(() => {});
    await untilWaiting(url, waiting);
    await run('COMMIT');
    return answers;
  };
  return isOnMariadb()
    ? withMysql(url, async (connection) => {
        await connection.query("SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_TRANS_TABLES'");
        return meet((sql) => connection.query(mysqlOf(sql)));
      })
    : withClient(url, (client) => meet((sql) => client.query(sql)));
}

/** Waits until so many sessions of a database wait for others. */
export async function untilWaiting(url: string, waiting: number): Promise<void> {
  // MariaDB and MySQL look anew only when nobody has asked for a tenth of a second.
  const interval = isOnMariadb() ? 150 : 30;
  await expect.poll(() => sessionsThatWait(url), { interval }).toBe(waiting);
}

async function sessionsThatWait(url: string): Promise<number> {
  if (isOnMariadb()) {
    const sql = "SELECT COUNT(*) AS waiting FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
    const [rows] = await withMysql(url, (connection) => connection.query(sql));
    return Array.isArray(rows) && rows[0] !== undefined && 'waiting' in rows[0] ? Number(rows[0].waiting) : 0;
  }
  const sql = `SELECT count(*)::integer AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return withClient(url, async (client) => (await client.query(sql)).rows[0].waiting);
}
