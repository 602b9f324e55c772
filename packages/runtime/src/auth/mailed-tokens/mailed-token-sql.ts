/**
 * The statements of mailed tokens. Each answers at most one row of texts, the transaction's
 * number first where it writes.
 */

import { byFamily } from '../../dialects/by-family.ts';
import { mysqlMailedTokens } from '../../dialects/mysql/own-tables/mailed-token.ts';
import { type MailedTokenStatements, postgresMailedTokens } from '../../dialects/postgres/own-tables/mailed-token.ts';
import type { SystemPlace } from '../../system/place.ts';

/** The statements for the location of the tables. */
export function mailedTokenStatements(location: SystemPlace): MailedTokenStatements {
  return byFamily<MailedTokenStatements>(location, { postgres: postgresMailedTokens, mysql: mysqlMailedTokens });
}
