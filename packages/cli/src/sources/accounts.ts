/** Users and roles in the platform's own tables, as the command line looks at them and changes them. */
import { randomBytes } from 'node:crypto';
import {
  createPasswords,
  type OwnSql,
  ownTables,
  readEnvironment,
  refusePasswords,
  rowsBeside,
  type SystemPlace,
} from '@tablewright/runtime/tools';
import { CommandError, exitCodes } from '../errors/failures.ts';
import type { Project } from '../project/project.ts';
import { inTransaction, type Run, runOwn, type Source } from './source.ts';
import { systemPlace, systemState } from './system.ts';

interface ListedUser {
  readonly email: string;
  readonly status: string;
  /** Name; null for none. */
  readonly role: string | null;
  /** ISO 8601 in UTC; null for never. */
  readonly lastAccess: string | null;
}

/** A role: its row, and its part of the permissions file. */
interface ListedRole {
  readonly name: string;
  readonly users: number;
  readonly admin: boolean;
  readonly app: boolean;
  /** False where requests of its users have the rules of the public role. */
  readonly ruled: boolean;
}

/** The users and roles of a project's database. */
export interface Accounts {
  users(): Promise<readonly ListedUser[]>;
  roles(): Promise<readonly ListedRole[]>;
  /** Names of roles that the permissions file has and the table has not. */
  missingRoles(): Promise<readonly string[]>;
  /** Makes a role as the permissions file describes it; does nothing when there is one of that name. */
  addRole(name: string): Promise<void>;
  /** Makes an active user. Rejects with advice when the address is taken. */
  addUser(email: string, password: string, role: string | null): Promise<void>;
  /** Sets the password and ends every session of the user. Resolves to where the user signs in: `default` by password. */
  setPassword(email: string, password: string): Promise<string>;
  /** Sets the static token, null for none. */
  setToken(email: string, token: string | null): Promise<void>;
}

/** Opens them. Rejects when the tables are not installed. */
export async function openAccounts(source: Source, project: Project): Promise<Accounts> {
  const tables = systemPlace(source, project);
  const { installed } = await systemState(source, project);
  if (!installed) {
    throw new CommandError(exitCodes.invalid, 'There are no users here.', 'Run `platform migrate` to install them.');
  }
  const texts = accountStatements(tables);
  const run = (sql: OwnSql, values: readonly (string | null)[]) => runOwn(source, sql, values);
  // Where rules come from the tables, every row is a role of its own.
  const fromTables = project.config.permissionSource === 'tables';
  const existing = new Map(project.permissions.roles.map((role) => [role.name, role]));

  async function insertRole(name: string): Promise<void> {
    const { admin, app, description } = existing.get(name) ?? { admin: name === 'admin', app: true, description: null };
    await run(texts.addRole, [name, description, String(admin), String(app)]);
  }

  return {
    async users() {
      const rows = await run(texts.users, []);
      return rows.map(listedUser);
    },
    async roles() {
      const rows = await run(texts.roles, []);
      return rows.map(([name, count, admin, app]) => ({
        name: name ?? '',
        users: Number(count),
        admin: admin === 'true',
        app: app === 'true',
        ruled: admin === 'true' || fromTables || existing.get(name ?? '')?.admin === false,
      }));
    },
    async missingRoles() {
      const rows = await run(texts.roleNames, []);
      const present = new Set(rows.map(([name]) => name));
      return fromTables ? [] : [...existing.keys()].filter((name) => !present.has(name)).sort();
    },
    addRole: insertRole,
    async addUser(email, password, role) {
      if (role !== null && (existing.has(role) || role === 'admin')) await insertRole(role);
      const hashed = await hashPassword(await run(texts.policy, []), password);
      const [named] = role === null ? [[null]] : await run(texts.roleNamed, [role]);
      if (named === undefined) {
        throw new CommandError(exitCodes.usage, `There is no role "${role}".`, 'See `platform roles`.');
      }
      const [made] = await run(texts.addUser, [email, hashed, named[0] ?? null]);
      if (made !== undefined) return;
      const hint = 'Give another password by `platform users passwd`.';
      throw new CommandError(exitCodes.usage, `There is a user "${email}" already.`, hint);
    },
    async setPassword(email, password) {
      const hashed = await hashPassword(await run(texts.policy, []), password);
      // After the change, which waits for sign-ins under way: their sessions end, too.
      await changeUser(source, email, texts.setPassword, hashed, [texts.endSessions]);
      const [[provider] = []] = await run(texts.providerOf, [email]);
      return provider ?? 'default';
    },
    setToken: (email, token) => changeUser(source, email, texts.setToken, token, []),
  };
}

function listedUser([email, status, role, lastAccess]: Awaited<ReturnType<Run>>[number]): ListedUser {
  return { email: email ?? '', status: status ?? '', role: role ?? null, lastAccess: lastAccess ?? null };
}

/** Runs the statements in one transaction; the first one changes the user, and must find it. */
async function changeUser(
  source: Source,
  email: string,
  first: OwnSql,
  value: string | null,
  next: readonly OwnSql[],
): Promise<void> {
  await inTransaction(source, async () => {
    const [row] = await runOwn(source, first, [email, value]);
    if (row === undefined) {
      throw new CommandError(exitCodes.usage, `There is no user "${email}".`, 'See `platform users list`.');
    }
    for (const text of next) await runOwn(source, text, [email]);
  });
}

/** A generated password, to be shown once. */
export function makePassword(): string {
  return randomBytes(15).toString('base64url');
}

/** A static token: never of the form of a JSON web token, because it has no dots. */
export function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Hashes a password that the rules allow: PASSWORD_MIN_LENGTH, and the policy of the settings. */
async function hashPassword([settings]: Awaited<ReturnType<Run>>, password: string): Promise<string> {
  const reading = readEnvironment(process.env);
  const minLength = reading.ok ? reading.environment.auth.passwordMinLength : 8;
  const refusal = await refusePasswords([password], { minLength, pattern: settings?.[0] ?? null });
  const hint = 'Give another one with --password-stdin.';
  if (refusal !== undefined) throw new CommandError(exitCodes.usage, refusal.message, hint);
  return createPasswords().hash(password);
}

/** The statements by name; `$1` is the address of the user, or the name of the role. Changes of a user find one. */
function accountStatements(location: SystemPlace) {
  const { table, text, flag, iso, boolean, fromNothing, rows, write, update, remove, ...sql } = ownTables(location);
  const users = table('platform_users');
  const roles = table('platform_roles');
  const user = { target: `${users} AS u`, alias: 'u', where: sql.hasEmail('u', '$1') };
  const usersOf = text(`(SELECT COUNT(*) FROM ${users} AS u WHERE u.role = r.id)`);
  return {
    /** Address, status, role, last access. */
    users: rows(`SELECT COALESCE(u.email, ${text('u.id')}), u.status, r.name, ${iso('u.last_access')}
FROM ${users} AS u LEFT JOIN ${roles} AS r ON r.id = u.role ORDER BY 1`),
    /** Name, number of users, admin and app access. */
    roles: rows(`SELECT r.name, ${usersOf}, ${flag('r.admin_access')}, ${flag('r.app_access')}
FROM ${roles} AS r ORDER BY r.name`),
    roleNames: rows(`SELECT name FROM ${roles}`),
    /** $2 description, $3 and $4 admin and app access. */
    addRole: write(`INSERT INTO ${roles} (name, description, admin_access, app_access)
SELECT $1::text, $2::text, ${boolean('$3')}, ${boolean('$4')}${fromNothing}
WHERE NOT EXISTS (SELECT 1 FROM ${roles} WHERE name = $1::text)`),
    roleNamed: rows(`SELECT ${text('id')} FROM ${roles} WHERE name = $1::text`),
    policy: rows(`SELECT auth_password_policy FROM ${table('platform_settings')}`),
    /** $2 hash of the password, $3 key of the role; a row unless the address is taken. */
    addUser: sql.statements.addUser,
    providerOf: rows(`SELECT u.provider FROM ${users} AS u WHERE ${user.where}`),
    setPassword: write(update(user, { password: '$2::text', security_version: 'u.security_version + 1' })),
    endSessions: write(remove(rowsBeside(`${table('platform_sessions')} AS s`, 's', user, 'u.id = s.user'))),
    setToken: write(update(user, { token: '$2::text' })),
  };
}
