import type { Statement } from '../../database/database.ts';
import type { Dialect } from '../../language/index.ts';

/**
 * Names of locks are short on MySQL and MariaDB, and of the whole server. It waits for a year, which the timeout of statements
 * cuts: a negative time is for ever on MySQL, and on MariaDB no lock at all.
 */
const sessionLock: Statement = {
  name: 'w_lock',
  text: 'SELECT GET_LOCK(SHA2(CONCAT(DATABASE(), ?), 256), 31536000)',
  held: true,
};

/** Statements that wait until every other transaction that named the same text has ended, by server. */
export const namedLocks: Readonly<Record<Dialect, Statement>> = {
  postgres: {
    name: 'w_lock',
    text: 'SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1::pg_catalog.text, 0))',
  },
  mysql: sessionLock,
  mariadb: sessionLock,
};
