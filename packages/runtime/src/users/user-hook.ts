/** Effects of writing users: changes of administrators, keeping one, ends of sessions. Source: sections 2.2, 3.2. */
import type { Caller } from '../caller.ts';
import { allRows, firstRow, identifiedRow, type OwnSql } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import { fromRows, type OwnStatements } from '../dialects/own-tables.ts';
import { forbidden, PlatformError } from '../errors.ts';
import { arrayLiteral } from '../language/index.ts';
import type { SystemPlace } from '../system/place.ts';
import { keyArray, type Running, type Step, type SystemHook, writes } from '../write/execute/running.ts';

interface UserState {
  readonly role: string | null;
  readonly isActive: boolean;
  readonly isAdministrator: boolean;
}

type States = ReadonlyMap<string, UserState>;

function statements(location: SystemPlace) {
  const { table, text, flag, among, lock, ...sql } = ownTables(location);
  const named = among('platform_users', 'u');
  const admin = `(SELECT ${flag('r.admin_access')} FROM ${table('platform_roles')} AS r WHERE r.id = u.role)`;
  const state = [text('u.id'), text('u.role'), flag("u.status = 'active'"), admin];
  return {
    states: sql.rows(`SELECT ${state.join(', ')}${fromRows(named)} ORDER BY u.id`),
    locked: sql.rows(`SELECT ${text('u.id')}${fromRows(named)} ORDER BY u.id${lock('u', 'NO KEY UPDATE')}`),
    outdate: sql.both(
      sql.remove(among('platform_sessions', 's', 'user', '$2')),
      sql.update(named, { security_version: 'u.security_version + 1' }),
    ),
    foreign: sql.statements.foreignEmails,
  };
}

export function createUserHook(location: SystemPlace, isAdmin: (caller: Caller) => boolean): SystemHook {
  const texts = statements(location);
  const administratorTexts = administratorStatements(location);

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
    const users = [arrayLiteral([...outdated]), arrayLiteral(ended.map(([id]) => id))];
    await identifiedRow(running.transaction, texts.outdate, users);
  }

  return {
    async watch(running, step) {
      const admin = isAdmin(running.caller);
      const before = step.keys === null ? none : await hold(running, keyArray(step.keys));
      const affected = [...before.values()];
      // Also where a payload says nothing: presets may.
      if (!admin && affected.some(isAdministrator)) throw forbidden();
      return async (keys) => {
        if (writes(step, ['email'])) await normalise(running, texts.foreign, keyArray(keys));
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

/** Writes the comparison form of addresses beyond ASCII, which the database cannot compute. */
async function normalise(
  { transaction }: Running,
  foreign: OwnStatements['foreignEmails'],
  keys: string,
): Promise<void> {
  if (foreign === null) return;
  const { find, write } = foreign;
  for (const user of await allRows(transaction, find, [keys])) await allRows(transaction, write, user);
}

const none: States = new Map();

function isAdministrator(state: UserState): boolean {
  return state.isAdministrator;
}

function administers(state: UserState | undefined): boolean {
  return state?.isAdministrator === true && state.isActive;
}

/** Serialises requests that take an administrator away: each of two could believe that the other one stays. */
const lastAdministrator = 'platform.last-administrator';

/** Statements about administrators: a lock by a name, and the number of active ones. */
type Administrators = ReturnType<typeof administratorStatements>;

export function administratorStatements(location: SystemPlace) {
  const { table, text, rows, turn } = ownTables(location);
  return {
    lock: turn(),
    administrators: rows(`SELECT ${text('COUNT(*)')} FROM ${table('platform_users')} AS u
JOIN ${table('platform_roles')} AS r ON r.id = u.role WHERE r.admin_access AND u.status = 'active'`),
  };
}

/** Makes sure that an active administrator is left after one was taken away. Throws UNPROCESSABLE_ENTITY. */
export async function keepAdministrator(running: Running, { lock, administrators }: Administrators): Promise<void> {
  await allRows(running.transaction, lock, [lastAdministrator]);
  // A statement of its own: it sees the changes that the one before has waited for.
  const row = await firstRow(running.transaction, administrators, []);
  if (row?.[0] === '0') {
    throw new PlatformError('UNPROCESSABLE_ENTITY', 'The last active administrator must stay one.');
  }
}
