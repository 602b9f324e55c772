/**
 * Effects of writing users beyond their fields: permission to change an administrator, keeping one, and ending
 * sessions. Source: API specification, sections 2.2 and 3.2.
 */

import type { Caller } from '../caller.ts';
import { allRows, firstRow } from '../database/own-statements/own-rows.ts';
import { createScript, type OwnSql, returnRows } from '../database/own-statements/script.ts';
import { byFamily } from '../dialects/by-family.ts';
import { transactionNumber } from '../dialects/fragment.ts';
import type { MysqlTables } from '../dialects/mysql/own-tables/tables.ts';
import { PlatformError } from '../errors.ts';
import { arrayLiteral } from '../language/index.ts';
import type { SystemPlace } from '../system/place.ts';
import type { Running, Step, SystemHook } from '../write/execute/running.ts';
import { keyArray, writes } from '../write/hooks/system-hook.ts';
import { administratorStatements, keepAdministrator } from './administrators.ts';

/** Facts of a user that writes are checked by. */
interface UserState {
  readonly role: string | null;
  readonly isActive: boolean;
  readonly isAdministrator: boolean;
}

type States = ReadonlyMap<string, UserState>;

interface Statements {
  readonly states: OwnSql;
  readonly locked: OwnSql;
  readonly outdate: OwnSql;
  /**
   * Those of the users ($1) that have an address which the server cannot normalize, with it; null if it can normalize
   * all.
   */
  readonly foreign: OwnSql | null;
  readonly normalise: OwnSql;
}

function postgresStatements(schema: string): Statements {
  const statesSql = `SELECT u.id::text, u.role::text, (u.status = 'active')::text,
(SELECT r.admin_access FROM ${schema}.platform_roles r WHERE r.id = u.role)::text
FROM ${schema}.platform_users u WHERE u.id = ANY ($1::uuid[]) ORDER BY u.id`;
  const lockedSql = `SELECT u.id::text FROM ${schema}.platform_users u WHERE u.id = ANY ($1::uuid[]) ORDER BY u.id FOR NO KEY UPDATE`;
  const outdateSql = `WITH ended AS (DELETE FROM ${schema}.platform_sessions WHERE "user" = ANY ($2::uuid[]))
UPDATE ${schema}.platform_users SET security_version = security_version + 1
WHERE id = ANY ($1::uuid[]) RETURNING ${transactionNumber}`;
  return { states: statesSql, locked: lockedSql, outdate: outdateSql, foreign: null, normalise: '' };
}

function mysqlStatements({ table, list, lock }: MysqlTables): Statements {
  const users = table('platform_users');
  const named = `${users} AS u JOIN ${list('$1[]', 'k')} ON u.id = k.v`;
  const states = `SELECT CAST(u.id AS CHAR), CAST(u.role AS CHAR), IF(u.status = 'active', 'true', 'false'),
(SELECT ELT(r.admin_access + 1, 'false', 'true') FROM ${table('platform_roles')} r WHERE r.id = u.role)
FROM ${named} ORDER BY u.id`;
  return {
    states: createScript(returnRows(states)),
    locked: createScript(returnRows(`SELECT CAST(u.id AS CHAR) FROM ${named} ORDER BY u.id${lock('u')}`)),
    outdate: createScript(
      `DELETE s FROM ${table('platform_sessions')} AS s JOIN ${list('$2[]', 'k')} ON s."user" = k.v`,
      `UPDATE ${named} SET u.security_version = u.security_version + 1`,
    ),
    foreign: createScript(
      returnRows(`SELECT CAST(u.id AS CHAR), u.email FROM ${named} WHERE LENGTH(u.email) <> CHAR_LENGTH(u.email)`),
    ),
    normalise: createScript(`UPDATE ${users} SET email_normal_of = $2, email_normal = $2:email WHERE id = $1`),
  };
}

/** Makes the systemHook of users. */
export function createUserHook(location: SystemPlace, isAdmin: (caller: Caller) => boolean): SystemHook {
  const texts = byFamily(location, { postgres: postgresStatements, mysql: mysqlStatements });
  const administratorTexts = administratorStatements(location);

  /** Writes the comparison form of addresses beyond ASCII, which the database cannot compute. */
  async function normalise({ transaction }: Running, keys: string): Promise<void> {
    if (texts.foreign === null) return;
    for (const user of await allRows(transaction, texts.foreign, [keys])) {
      await allRows(transaction, texts.normalise, user);
    }
  }

  async function read(running: Running, sql: OwnSql, keys: string): Promise<States> {
    const rows = await allRows(running.transaction, sql, [keys]);
    return new Map(
      rows.map(([id, role = null, active, admin]) => [
        id ?? '',
        { role, isActive: active === 'true', isAdministrator: admin === 'true' },
      ]),
    );
  }

  /** Users as they are when they are held still: the statement that waits for them sees their roles as they were before. */
  async function hold(running: Running, keys: string): Promise<States> {
    const locked = allRows(running.transaction, texts.locked, [keys]);
    const [states] = await Promise.all([read(running, texts.states, keys), locked]);
    return states;
  }

  /** Tokens of users whose role has changed are outdated, sessions of those end who may not be signed in any more. */
  async function outdate(running: Running, step: Step, before: States, after: States): Promise<void> {
    const password = writes(step, ['password']);
    const ended = [...after].filter(([id, { isActive }]) => password || (before.get(id)?.isActive && !isActive));
    const moved = [...after].filter(([id, { role }]) => before.get(id)?.role !== role);
    const outdated = new Set([...ended, ...moved].map(([id]) => id));
    if (outdated.size === 0) return;
    const row = await firstRow(running.transaction, texts.outdate, [
      arrayLiteral([...outdated]),
      arrayLiteral(ended.map(([id]) => id)),
    ]);
    if (row?.[0]) running.transaction.identify(row[0]);
  }

  return {
    async watch(running, step) {
      const admin = isAdmin(running.caller);
      const before = step.keys === null ? none : await hold(running, keyArray(step.keys));
      const affected = [...before.values()];
      // Also where a payload says nothing: presets may.
      if (!admin && affected.some(isAdministrator)) throw forbidden();
      return async (keys) => {
        if (writes(step, ['email'])) await normalise(running, keyArray(keys));
        const after = step.action === 'delete' ? none : await read(running, texts.states, keyArray(keys));
        const promoted = [...after].some(([id, state]) => state.isAdministrator && !before.get(id)?.isAdministrator);
        if (promoted && !admin) throw forbidden();
        if (step.action === 'update') await outdate(running, step, before, after);
        const lost = [...before].some(([id, state]) => administers(state) && !administers(after.get(id)));
        if (lost) await keepAdministrator(running, administratorTexts);
      };
    },
  };
}

const none: States = new Map();

function isAdministrator(state: UserState): boolean {
  return state.isAdministrator;
}

function administers(state: UserState | undefined): boolean {
  return state?.isAdministrator === true && state.isActive;
}

function forbidden(): PlatformError {
  return new PlatformError('FORBIDDEN');
}
