/**
 * What writing users means beyond their fields: who may touch an administrator, that one stays, and which sessions end.
 * Source: API specification, sections 2.2 and 3.2.
 */
import type { Caller } from '../caller.ts';
import { arrayLiteral } from '../contract/index.ts';
import { PlatformError } from '../errors.ts';
import { allRows, firstRow } from '../write/own-rows.ts';
import { transactionNumber } from '../write/statement.ts';
import type { Running, Step } from '../write/step.ts';
import { keyArray, type Warden, writes } from '../write/warden.ts';
import { keepAdministrator } from './administrators.ts';

/** A user as far as writes are judged by it. */
interface UserState {
  readonly role: string | null;
  readonly isActive: boolean;
  readonly isAdministrator: boolean;
}

type States = ReadonlyMap<string, UserState>;

/** Fields of an administrator that only administrators change. */
const guarded = ['password', 'email', 'token', 'tfa_secret', 'role'] as const;

/** Makes the warden of users; `schema` is quoted. */
export function createUserWarden(schema: string, isAdmin: (caller: Caller) => boolean): Warden {
  const statesSql = `SELECT u.id::text, u.role::text, (u.status = 'active')::text,
(SELECT r.admin_access FROM ${schema}.platform_roles r WHERE r.id = u.role)::text
FROM ${schema}.platform_users u WHERE u.id = ANY ($1::uuid[]) ORDER BY u.id`;
  const lockedSql = `${statesSql} FOR NO KEY UPDATE OF u`;
  const outdateSql = `WITH ended AS (DELETE FROM ${schema}.platform_sessions WHERE "user" = ANY ($2::uuid[]))
UPDATE ${schema}.platform_users SET security_version = security_version + 1
WHERE id = ANY ($1::uuid[]) RETURNING ${transactionNumber}`;

  async function read(running: Running, sql: string, keys: string): Promise<States> {
    const rows = await allRows(running.transaction, sql, [keys]);
    return new Map(
      rows.map(([id, role = null, active, admin]) => [
        id ?? '',
        { role, isActive: active === 'true', isAdministrator: admin === 'true' },
      ]),
    );
  }

  /** Tokens of users whose role has changed are outdated, sessions of those end who may not be signed in any more. */
  async function outdate(running: Running, step: Step, before: States, after: States): Promise<void> {
    const password = writes(step, ['password']);
    const ended = [...after].filter(([id, { isActive }]) => password || (before.get(id)?.isActive && !isActive));
    const moved = [...after].filter(([id, { role }]) => before.get(id)?.role !== role);
    const outdated = new Set([...ended, ...moved].map(([id]) => id));
    if (outdated.size === 0) return;
    const row = await firstRow(running.transaction, outdateSql, [
      arrayLiteral([...outdated]),
      arrayLiteral(ended.map(([id]) => id)),
    ]);
    if (row?.[0]) running.transaction.identify(row[0]);
  }

  return {
    async watch(running, step) {
      const admin = isAdmin(running.caller);
      const before = step.keys === null ? none : await read(running, lockedSql, keyArray(step.keys));
      const touched = [...before.values()];
      if (!admin && step.action === 'update' && writes(step, guarded) && touched.some(isAdministrator))
        throw forbidden();
      return async (keys) => {
        const after = step.action === 'delete' ? none : await read(running, statesSql, keyArray(keys));
        const promoted = [...after].some(([id, state]) => state.isAdministrator && !before.get(id)?.isAdministrator);
        if (promoted && !admin) throw forbidden();
        if (step.action === 'update') await outdate(running, step, before, after);
        const lost = [...before].some(([id, state]) => administers(state) && !administers(after.get(id)));
        if (lost) await keepAdministrator(running, schema);
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
