/** Effects of writing roles on their users. Source: API specification, sections 3.2 and 10.11. */

import { allRows, firstRow } from '../database/own-statements/own-rows.ts';
import { createScript, type OwnSql, returnRow, returnRows, run } from '../database/own-statements/script.ts';
import { byFamily } from '../dialects/by-family.ts';
import { transactionNumber } from '../dialects/fragment.ts';
import type { MysqlTables } from '../dialects/mysql/own-tables/tables.ts';
import { PlatformError } from '../errors.ts';
import type { SystemPlace } from '../system/place.ts';
import type { Running, SystemHook } from '../write/execute/running.ts';
import { keyArray, writes } from '../write/hooks/system-hook.ts';
import { administratorStatements, keepAdministrator } from './administrators.ts';

interface Statements {
  readonly hold: OwnSql;
  readonly administers: OwnSql;
  readonly empty: OwnSql;
  readonly end: OwnSql;
  readonly left: OwnSql;
}

function postgresStatements(schema: string): Statements {
  const holdSql = `SELECT id::text FROM ${schema}.platform_roles WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE`;
  const administersSql = `SELECT r.id::text FROM ${schema}.platform_roles r
WHERE r.id = ANY ($1::uuid[]) AND r.admin_access ORDER BY r.id FOR NO KEY UPDATE`;
  const emptySql = `WITH suspended AS (
  UPDATE ${schema}.platform_users SET role = NULL, status = 'suspended', security_version = security_version + 1
  WHERE role = ANY ($1::uuid[]) RETURNING id
) SELECT ${transactionNumber}, pg_catalog.array_agg(id)::text FROM suspended`;
  // After the statement that waits for sign-ins under way, so that their sessions are seen, too.
  const endSql = `DELETE FROM ${schema}.platform_sessions WHERE "user" = ANY ($1::uuid[])`;
  const leftSql = `SELECT pg_catalog.count(*)::text FROM ${schema}.platform_roles WHERE admin_access`;
  return { hold: holdSql, administers: administersSql, empty: emptySql, end: endSql, left: leftSql };
}

function mysqlStatements({ table, list, lock }: MysqlTables): Statements {
  const roles = table('platform_roles');
  const named = list('$1[]', 'k');
  const theirs = `${table('platform_users')} AS u JOIN ${named} ON u.role = k.v`;
  return {
    hold: createScript(
      returnRows(`SELECT CAST(r.id AS CHAR) FROM ${roles} AS r JOIN ${named} ON r.id = k.v ORDER BY r.id${lock('r')}`),
    ),
    administers: createScript(
      returnRows(`SELECT CAST(r.id AS CHAR) FROM ${roles} AS r JOIN ${named} ON r.id = k.v
WHERE r.admin_access ORDER BY r.id${lock('r')}`),
    ),
    empty: createScript(
      run(`SELECT CONCAT('{', GROUP_CONCAT(u.id), '}') FROM ${theirs}${lock('u')}`, ['suspended']),
      `UPDATE ${theirs} SET u.role = NULL, u.status = 'suspended', u.security_version = u.security_version + 1`,
      returnRow('1', '$suspended'),
    ),
    end: createScript(`DELETE s FROM ${table('platform_sessions')} AS s JOIN ${named} ON s."user" = k.v`),
    left: createScript(returnRows(`SELECT CAST(COUNT(*) AS CHAR) FROM ${roles} WHERE admin_access`)),
  };
}

/** Makes the systemHook of roles. */
export function createRoleHook(location: SystemPlace): SystemHook {
  const texts = byFamily(location, { postgres: postgresStatements, mysql: mysqlStatements });
  const administratorTexts = administratorStatements(location);

  const administering = async (running: Running, keys: string): Promise<number> =>
    (await allRows(running.transaction, texts.administers, [keys])).length;

  return {
    async watch(running, step) {
      const { keys } = step;
      if (keys === null || (step.action === 'update' && !writes(step, ['admin_access']))) return null;
      const ids = keyArray(keys);
      // Waits for transactions that are giving the role to a user, so that all its users are there.
      if (step.action === 'delete') await allRows(running.transaction, texts.hold, [ids]);
      const before = await administering(running, ids);
      if (step.action === 'delete') {
        const [number, suspended] = (await firstRow(running.transaction, texts.empty, [ids])) ?? [];
        if (number) running.transaction.identify(number);
        if (suspended) await allRows(running.transaction, texts.end, [suspended]);
      }
      return async () => {
        if ((await administering(running, ids)) >= before) return;
        await keepAdministrator(running, administratorTexts);
        const row = await firstRow(running.transaction, texts.left, []);
        if (row?.[0] === '0') throw new PlatformError('UNPROCESSABLE_ENTITY', 'The last role of administrators stays.');
      };
    },
  };
}
