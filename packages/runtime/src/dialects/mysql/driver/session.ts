import { type Connection, createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2';
import type { MigrationConnection } from '../../../database/database.ts';
import { toDatabaseError } from '../../../database/errors.ts';
import { PlatformError } from '../../../errors.ts';
import { mysqlSessionSettings } from '../../../language/index.ts';
import { sessionNames } from '../texts.ts';
import { toMysqlError } from './errors.ts';
import { connectionOptions, cut } from './options.ts';
import { serverSql } from './run.ts';

interface MysqlSession {
  readonly isMariadb: boolean;
  readonly statementTimeoutMs: number;
  /** True if it belongs to a pool, which ends it when it is idle. Default: false. */
  readonly pooled?: true;
}

const modes = ['ANSI_QUOTES', 'STRICT_TRANS_TABLES', 'NO_ENGINE_SUBSTITUTION', 'NO_AUTO_VALUE_ON_ZERO'];
/** A transaction that waits longer for a lock releases its own locks, and tries again. */
const lockWaitSeconds = 10;
/**
 * A transaction that is silent for so long is lost, and would keep its locks from all others. MySQL cannot tell a
 * silent transaction from idleness, so there the pool closes idle connections before (`idleMs`).
 */
const idleSeconds = { mariadb: 10, mysql: 20 } as const;

/**
 * MariaDB keeps results of subqueries by the columns around them. It takes texts for the same that are equal to their
 * collation, although a subquery tells them apart by their characters.
 */
const subqueries = "optimizer_switch = 'subquery_cache=off'";

/** Time that an unused connection is kept, in milliseconds. */
export const idleMs = 10_000;

/**
 * Settings that the dialect relies on, independent of the server's own, as one statement. They are identifiers in
 * double quotes, texts in utf8mb4, a clock in UTC, and what commands rely on as well. Others are a key of 0 that stays
 * one, and seconds that are rounded as PostgreSQL rounds them.
 */
export function sessionSql({ isMariadb, statementTimeoutMs, pooled }: MysqlSession): string {
  const timeout = isMariadb
    ? `max_statement_time = ${statementTimeoutMs / 1000}`
    : `max_execution_time = ${statementTimeoutMs}`;
  const idle = isMariadb ? `idle_transaction_timeout = ${idleSeconds.mariadb}` : `wait_timeout = ${idleSeconds.mysql}`;
  const settings = [
    `sql_mode = '${[...modes, ...(isMariadb ? ['TIME_ROUND_FRACTIONAL'] : [])].join()}'`,
    "time_zone = '+00:00'",
    mysqlSessionSettings,
    `innodb_lock_wait_timeout = ${lockWaitSeconds}`,
    ...(isMariadb ? [subqueries] : []),
    ...(pooled === true ? [idle] : []),
    timeout,
  ];
  return `SET SESSION ${settings.join(', ')}, ${sessionNames}`;
}

/**
 * Sets a session up for the dialect.
 *
 * Sessions only read, unless a transaction says otherwise, and every statement sees all earlier commits, as on
 * PostgreSQL. Writes rely on that when they read rows that they have waited for (`docs/decisions/writes-on-mysql.md`).
 * When all is set, `took` is told the milliseconds of a round trip, and the server; that is empty if it is unknown.
 */
export function setUp(
  connection: Pick<Connection, 'query'>,
  session: MysqlSession,
  took: (ms: number, server: string) => void = () => undefined,
): void {
  const begun = performance.now();
  // A connection that fails here also fails the statement after it, which reports the error.
  let ms = 0;
  connection.query(sessionSql({ ...session, pooled: true }), () => {
    ms = performance.now() - begun;
  });
  connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY', () => undefined);
  connection.query<RowDataPacket[]>(`SELECT ${serverSql} AS server`, (_error, rows) =>
    took(ms, rows?.[0]?.server ?? ''),
  );
}

/** Seconds that a statement waits for a table that is in use, and for rows; later statements queue after it. */
const lockSeconds = 5;

/** Names stand in backticks, so that conditions are reported as the compiler reads them. */
const settings = [
  "sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'",
  "time_zone = '+00:00'",
  mysqlSessionSettings,
  `lock_wait_timeout = ${lockSeconds}`,
  `innodb_lock_wait_timeout = ${lockSeconds}`,
  sessionNames,
];

/** Opens one, hands it to `work`, and closes it. Within, errors are the driver's; rejections become `PlatformError`. */
export async function inSchemaSession<T>(url: string, work: (session: MigrationConnection) => Promise<T>): Promise<T> {
  const connection = createConnection({
    ...connectionOptions(url),
    connectTimeout: 10_000,
    // Everything as the text that the server sends.
    typeCast: (field) => field.string('utf-8'),
  });
  // Each statement reports the error to its caller.
  connection.on('error', () => undefined);
  try {
    await order(connection, `SET SESSION ${settings.join(', ')}`);
    await order(connection, 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    return await work({
      family: 'mysql',
      query: (text, parameters) => ask(connection, text, parameters),
      script: (text) => order(connection, text),
    });
  } catch (error) {
    throw error instanceof PlatformError ? error : toDatabaseError(toMysqlError(error));
  } finally {
    cut(connection);
  }
}

function order(connection: Connection, text: string): Promise<void> {
  return ask(connection, text, []).then(() => undefined);
}

function ask(
  connection: Connection,
  sql: string,
  parameters: readonly (string | null)[],
): Promise<readonly (readonly (string | null)[])[]> {
  return new Promise((resolve, reject) => {
    const options = { sql, values: [...parameters], rowsAsArray: true };
    connection.query<RowDataPacket[][] | ResultSetHeader>(options, (error, rows) => {
      if (error) reject(error);
      // A statement that changes rows returns how many it found.
      else if (!Array.isArray(rows)) resolve([['1', String(rows.affectedRows)]]);
      else resolve(rows.map((row) => row.map((value: unknown) => (typeof value === 'string' ? value : null))));
    });
  });
}
