import type { Connection } from 'mysql2';

/** What sessions are made of. */
export interface MysqlSession {
  readonly isMariadb: boolean;
  readonly statementTimeoutMs: number;
}

/**
 * What the dialect relies on, whatever the server's own settings are: identifiers in double quotes, a clock in UTC, and
 * lists that are never cut. Sessions only read.
 */
export function setUp(connection: Pick<Connection, 'query'>, { isMariadb, statementTimeoutMs }: MysqlSession): void {
  const timeout = isMariadb
    ? `max_statement_time = ${statementTimeoutMs / 1000}`
    : `max_execution_time = ${statementTimeoutMs}`;
  const settings = [
    "sql_mode = 'ANSI_QUOTES,STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'",
    "time_zone = '+00:00'",
    'group_concat_max_len = 4294967295',
    timeout,
  ];
  // A connection that fails here fails the statement behind it as well, which tells.
  connection.query(`SET SESSION ${settings.join(', ')}`, () => {});
  connection.query('SET SESSION TRANSACTION READ ONLY', () => {});
}
