/** Effects of writing folders beyond their fields. Source: API specification, section 10.6. */

import { allRows, firstRow } from '../database/own-statements/own-rows.ts';
import { createScript, type OwnSql, returnRows } from '../database/own-statements/script.ts';
import { byFamily } from '../dialects/by-family.ts';
import { type MysqlTables, mysqlTurn } from '../dialects/mysql/own-tables/tables.ts';
import { transactionLock } from '../dialects/postgres/own-tables/transaction-lock.ts';
import { failedValidation } from '../json/problems.ts';
import type { SystemPlace } from '../system/place.ts';
import type { SystemHook } from '../write/execute/running.ts';
import { keyArray, writes } from '../write/hooks/system-hook.ts';

/** Serialises requests that move folders: each of two could close one half of a circle. */
const moves = 'platform.folder-moves';

interface Statements {
  readonly lock: OwnSql;
  readonly circle: OwnSql;
}

function postgresStatements(schema: string): Statements {
  const circleSql = `WITH RECURSIVE way(start, above) AS (
  SELECT id, parent FROM ${schema}.platform_folders WHERE id = ANY ($1::uuid[]) AND parent IS NOT NULL
  UNION
  SELECT way.start, f.parent FROM way JOIN ${schema}.platform_folders f ON f.id = way.above WHERE f.parent IS NOT NULL
) SELECT start::text FROM way WHERE start = above LIMIT 1`;
  return { lock: transactionLock, circle: circleSql };
}

function mysqlStatements(tables: MysqlTables): Statements {
  const { table, list } = tables;
  const folders = table('platform_folders');
  return {
    lock: mysqlTurn(tables),
    circle: createScript(
      returnRows(`WITH RECURSIVE way(start, above) AS (
  SELECT CAST(f.id AS CHAR(36)), CAST(f.parent AS CHAR(36)) FROM ${folders} AS f JOIN ${list('$1[]', 'k')} ON f.id = k.v
  WHERE f.parent IS NOT NULL
  UNION
  SELECT way.start, CAST(f.parent AS CHAR(36)) FROM way JOIN ${folders} AS f ON f.id = way.above
  WHERE f.parent IS NOT NULL
) SELECT start FROM way WHERE start = above LIMIT 1`),
    ),
  };
}

/** Makes the systemHook of folders. */
export function createFolderHook(location: SystemPlace): SystemHook {
  const texts = byFamily(location, { postgres: postgresStatements, mysql: mysqlStatements });

  return {
    async watch(running, step) {
      if (step.action === 'delete' || !writes(step, ['parent'])) return null;
      const { transaction } = running;
      await allRows(transaction, texts.lock, [moves]);
      return async (keys) => {
        if ((await firstRow(transaction, texts.circle, [keyArray(keys)])) === undefined) return;
        throw failedValidation(step.payload.placeOf(0), 'parent', 'check', 'must not lie below the folder itself');
      };
    },
  };
}
