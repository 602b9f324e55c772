/** What writing roles means for their users. Source: API specification, sections 3.2 and 10.11. */
import { PlatformError } from '../errors.ts';
import { transactionNumber } from '../write/statement.ts';
import type { Running } from '../write/step.ts';
import { keyArray, runOwn, type Warden, writes } from '../write/warden.ts';
import { keepAdministrator } from './administrators.ts';

/** Makes the warden of roles; `schema` is quoted. */
export function createRoleWarden(schema: string): Warden {
  const administersSql = `SELECT r.id::text FROM ${schema}.platform_roles r
WHERE r.id = ANY ($1::uuid[]) AND r.admin_access ORDER BY r.id FOR NO KEY UPDATE`;
  const emptySql = `WITH suspended AS (
  UPDATE ${schema}.platform_users SET role = NULL, status = 'suspended', security_version = security_version + 1
  WHERE role = ANY ($1::uuid[]) RETURNING id
) SELECT ${transactionNumber}, pg_catalog.array_agg(id)::text FROM suspended`;
  // Behind the statement that waits for sign-ins under way, so that their sessions are seen, too.
  const endSql = `DELETE FROM ${schema}.platform_sessions WHERE "user" = ANY ($1::uuid[])`;
  const leftSql = `SELECT pg_catalog.count(*)::text FROM ${schema}.platform_roles WHERE admin_access`;

  const administering = async (running: Running, keys: string): Promise<number> =>
    (await runOwn(running, administersSql, [keys])).length;

  return {
    async watch(running, step) {
      const { keys } = step;
      if (keys === null || (step.action === 'update' && !writes(step, ['admin_access']))) return null;
      const ids = keyArray(keys);
      const before = await administering(running, ids);
      if (step.action === 'delete') {
        const [[number, suspended] = []] = await runOwn(running, emptySql, [ids]);
        if (number) running.transaction.identify(number);
        if (suspended) await runOwn(running, endSql, [suspended]);
      }
      return async () => {
        if ((await administering(running, ids)) >= before) return;
        await keepAdministrator(running, schema);
        const [row] = await runOwn(running, leftSql, []);
        if (row?.[0] === '0') throw new PlatformError('UNPROCESSABLE_ENTITY', 'The last role of administrators stays.');
      };
    },
  };
}
