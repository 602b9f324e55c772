/** States that were used, so that each is used once, on however many processes. */

import type { Database } from '../../database/database.ts';
import { firstRow } from '../../database/own-statements/own-rows.ts';
import { createScript, type OwnSql, requireRow } from '../../database/own-statements/script.ts';
import { byFamily } from '../../dialects/by-family.ts';
import { transactionNumber } from '../../dialects/fragment.ts';
import { type MysqlTables, mysqlAfter } from '../../dialects/mysql/own-tables/tables.ts';
import type { SystemPlace } from '../../system/place.ts';
import { stateTtl } from './state.ts';

/** Uses a state up; resolves to true if it had not been used before. */
export type UseState = (key: string) => Promise<boolean>;

/** How often states that have expired are removed, in milliseconds, and how many at once. */
const purgeEveryMs = 600_000;
const maxPurged = 1_000;

const now = 'pg_catalog.statement_timestamp()';

interface Statements {
  readonly use: OwnSql;
  readonly purge: OwnSql;
}

function postgresStatements(schema: string): Statements {
  const table = `${schema}.platform_single_use_tokens`;
  // Only we make keys, so a row is as good a mark of use as one that was there from the start and is changed.
  const useSql = `INSERT INTO ${table} (hash, purpose, expires_at, used_at)
SELECT pg_catalog.sha256(pg_catalog.convert_to($1::text, 'UTF8')), 'oauth_state',
  ${now} + $2::pg_catalog.interval, ${now}
ON CONFLICT (hash) DO NOTHING RETURNING ${transactionNumber}`;
  // An hour later, so that no clock of a server is far enough behind to take one of them for valid.
  const purgeSql = `DELETE FROM ${table} WHERE hash IN (SELECT hash FROM ${table}
WHERE purpose = 'oauth_state' AND expires_at < ${now} - '1 hour'::pg_catalog.interval
ORDER BY expires_at LIMIT ${maxPurged} FOR UPDATE SKIP LOCKED)`;
  return { use: useSql, purge: purgeSql };
}

function mysqlStatements({ table }: MysqlTables): Statements {
  const tokens = table('platform_single_use_tokens');
  return {
    use: createScript(
      requireRow(`INSERT IGNORE INTO ${tokens} (hash, purpose, expires_at, used_at)
VALUES (UNHEX(SHA2($1, 256)), 'oauth_state', ${mysqlAfter('$2')}, NOW(6))`),
    ),
    purge: createScript(
      `DELETE FROM ${tokens} WHERE purpose = 'oauth_state' AND expires_at < NOW(6) - INTERVAL 1 HOUR
ORDER BY expires_at LIMIT ${maxPurged}`,
    ),
  };
}

/** Makes it. */
export function createUseState(database: Pick<Database, 'transaction'>, location: SystemPlace): UseState {
  const texts = byFamily(location, { postgres: postgresStatements, mysql: mysqlStatements });
  let swept = Number.NEGATIVE_INFINITY;
  return function useState(key) {
    return database.transaction(async (transaction) => {
      const [number = null] = (await firstRow(transaction, texts.use, [key, `${stateTtl} milliseconds`])) ?? [];
      if (number !== null) transaction.identify(number);
      if (performance.now() - swept > purgeEveryMs) {
        swept = performance.now();
        await firstRow(transaction, texts.purge, []);
      }
      return { value: number !== null };
    });
  };
}
