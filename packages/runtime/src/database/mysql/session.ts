import type { Connection } from 'mysql2';
import { sessionNames } from '../../sql/dialects/mysql-texts.ts';

/** What sessions are made of. */
export interface MysqlSession {
  readonly isMariadb: boolean;
  readonly statementTimeoutMs: number;
  /** Whether it is one of a pool, which ends it when nobody uses it. Default: false. */
  readonly pooled?: true;
}

const modes = ['ANSI_QUOTES', 'STRICT_TRANS_TABLES', 'NO_ENGINE_SUBSTITUTION', 'NO_AUTO_VALUE_ON_ZERO'];
/** Who waits longer for a lock lets go of what he holds, and tries again. */
const lockWaitSeconds = 10;
/**
 * Who says nothing for so long within a transaction is lost, and would keep his locks from everybody else. MySQL tells no
 * transaction from idleness, so there the pool closes idle connections before (`idleMs`).
 */
const idleSeconds = { mariadb: 10, mysql: 20 } as const;

/** How long a connection is kept that nobody uses, in milliseconds. */
export const idleMs = 10_000;

/**
 * What the dialect relies on, whatever the server's own settings are, as one statement: identifiers in double quotes, texts in utf8mb4, a
 * clock in UTC, lists that are never cut, a key of 0 that stays one, and seconds that are rounded as PostgreSQL rounds them.
 */
export function sessionSql({ isMariadb, statementTimeoutMs, pooled }: MysqlSession): string {
  const timeout = isMariadb
    ? `max_statement_time = ${statementTimeoutMs / 1000}`
    : `max_execution_time = ${statementTimeoutMs}`;
  const idle = isMariadb ? `idle_transaction_timeout = ${idleSeconds.mariadb}` : `wait_timeout = ${idleSeconds.mysql}`;
  const settings = [
    `sql_mode = '${[...modes, ...(isMariadb ? ['TIME_ROUND_FRACTIONAL'] : [])].join()}'`,
    "time_zone = '+00:00'",
    'group_concat_max_len = 4294967295',
    `innodb_lock_wait_timeout = ${lockWaitSeconds}`,
    ...(pooled === true ? [idle] : []),
    timeout,
  ];
  return `SET SESSION ${settings.join(', ')}, ${sessionNames}`;
}

/**
 * Sets a session up for the dialect.
 *
 * Sessions only read, unless a transaction says otherwise, and every statement sees what was committed before it: what
 * PostgreSQL does, and what writes count on that look at rows which they have waited for (decision 33).
 */
export function setUp(connection: Pick<Connection, 'query'>, session: MysqlSession): void {
  // A connection that fails here fails the statement behind it as well, which tells.
  connection.query(sessionSql({ ...session, pooled: true }), () => {});
  connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY', () => {});
}
