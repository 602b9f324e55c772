/** Effects of writing roles on their users. Source: API specification, sections 3.2 and 10.11. */
import { allRows, firstRow } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import { fromRows } from '../dialects/own-tables.ts';
import { PlatformError } from '../errors.ts';
import { arrayLiteral } from '../language/index.ts';
import type { ModelChanges, ModelCollection } from '../model/model-changer.ts';
import type { SystemPlace } from '../system/place.ts';
import { keyArray, type Running, type SystemHook, writes } from '../write/execute/running.ts';
import { administratorStatements, keepAdministrator } from './user-hook.ts';

function statements(location: SystemPlace) {
  const { table, text, among, lock, ...sql } = ownTables(location);
  const named = among('platform_roles', 'r');
  const users = among('platform_users', 'u', 'role');
  const suspended = { role: 'NULL', status: "'suspended'", security_version: 'u.security_version + 1' };
  return {
    hold: sql.rows(`SELECT ${text('r.id')}${fromRows(named)} ORDER BY r.id${lock('r')}`),
    administers: sql.rows(
      `SELECT ${text('r.id')}${fromRows(named, 'r.admin_access')} ORDER BY r.id${lock('r', 'NO KEY UPDATE')}`,
    ),
    empty: sql.writeReturning(users, [text('u.id')], sql.update(users, suspended)),
    // After the statement that waits for sign-ins under way, so that their sessions are seen, too.
    end: sql.write(sql.remove(among('platform_sessions', 's', 'user'))),
    left: sql.rows(`SELECT ${text('COUNT(*)')} FROM ${table('platform_roles')} WHERE admin_access`),
  };
}

export function createRoleHook(location: SystemPlace): SystemHook {
  const texts = statements(location);
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
        const suspended = await allRows(running.transaction, texts.empty, [ids]);
        const [number] = suspended[0] ?? [];
        if (number) running.transaction.identify(number);
        const users = arrayLiteral(suspended.flatMap(([, id]) => id ?? []));
        if (suspended.length > 0) await allRows(running.transaction, texts.end, [users]);
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

export function createModelHook(changes: ModelChanges, collection: ModelCollection): SystemHook {
  return {
    async watch({ transaction }) {
      const refusal = changes.refusalOf(collection);
      if (refusal !== null) throw new PlatformError('UNPROCESSABLE_ENTITY', refusal);
      await changes.begin(transaction);
      return () => changes.compile(transaction, collection);
    },
  };
}

/** A hook that runs both, the first one first. */
export function bothHooks(first: SystemHook, second: SystemHook): SystemHook {
  return {
    async watch(running, step) {
      const after = await first.watch(running, step);
      const last = await second.watch(running, step);
      return async (keys) => {
        await after?.(keys);
        await last?.(keys);
      };
    },
  };
}
