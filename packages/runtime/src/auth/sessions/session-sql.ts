/**
 * The statements of sessions. Each answers at most one row of texts, the transaction's number
 * first where it writes.
 */

import { byFamily } from '../../dialects/by-family.ts';
import { mysqlSessions } from '../../dialects/mysql/own-tables/session.ts';
import { postgresSessions, type SessionStatements } from '../../dialects/postgres/own-tables/session.ts';
import type { SystemPlace } from '../../system/place.ts';

/** The statements for the location of the tables. */
export function sessionStatements(location: SystemPlace): SessionStatements {
  return byFamily<SessionStatements>(location, { postgres: postgresSessions, mysql: mysqlSessions });
}
