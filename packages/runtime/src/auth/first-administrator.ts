/**
 * First user of a project; without it, signing in is impossible. Source: API specification, section 16 (ADMIN_EMAIL).
 */

import { randomBytes } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { ask, firstRow } from '../database/own-statements/own-rows.ts';
import { createScript, generateKey, type OwnSql, requireRow, returnRows } from '../database/own-statements/script.ts';
import { byFamily } from '../dialects/by-family.ts';
import { transactionNumber } from '../dialects/fragment.ts';
import { type MysqlTables, mysqlTurn } from '../dialects/mysql/own-tables/tables.ts';
import type { Passwords } from '../passwords/passwords.ts';
import type { SystemPlace } from '../system/place.ts';

/** E-mail address and password of the first administrator. */
export interface AdministratorWish {
  readonly email: string;
  /** Null: one is made. */
  readonly password: string | null;
}

/** An administrator who was just made. */
export interface FirstAdministrator {
  readonly email: string;
  /** The generated password, to be shown once; null if a password was given. */
  readonly madePassword: string | null;
}

/**
 * The statements: one tells if there is a user, one lets only the first of several servers begin, one makes the user.
 */
interface Statements {
  readonly somebody: OwnSql;
  readonly lock: OwnSql;
  readonly insert: OwnSql;
}

/** True if there is no user at all. */
export async function hasNoUser(database: Pick<Database, 'query'>, location: SystemPlace): Promise<boolean> {
  const texts = byFamily(location, { postgres: postgresStatements, mysql: mysqlStatements });
  return (await ask(database, texts.somebody, [])).length === 0;
}

/** Makes the administrator when there is no user at all; null when there is one. */
export async function createFirstAdministrator(
  database: Pick<Database, 'query' | 'transaction'>,
  location: SystemPlace,
  passwords: Pick<Passwords, 'hash'>,
  { email, password }: AdministratorWish,
): Promise<FirstAdministrator | null> {
  if (!(await hasNoUser(database, location))) return null;
  const texts = byFamily(location, { postgres: postgresStatements, mysql: mysqlStatements });
  const madePassword = password === null ? randomBytes(15).toString('base64url') : null;
  const hashed = await passwords.hash(password ?? madePassword ?? '');
  const made = await database.transaction(async (transaction) => {
    // If several servers start at once, the first one makes the user and the others see it.
    await firstRow(transaction, texts.lock, []);
    const [number = null] = (await firstRow(transaction, texts.insert, [email, hashed])) ?? [];
    if (number !== null) transaction.identify(number);
    return { value: number !== null };
  });
  return made ? { email, madePassword } : null;
}

function postgresStatements(schema: string): Statements {
  return {
    somebody: `SELECT 1 FROM ${schema}.platform_users LIMIT 1`,
    lock: `LOCK TABLE ${schema}.platform_users IN SHARE ROW EXCLUSIVE MODE`,
    insert: insertSql(schema),
  };
}

function mysqlStatements(tables: MysqlTables): Statements {
  const { table } = tables;
  const users = table('platform_users');
  const roles = table('platform_roles');
  return {
    somebody: createScript(returnRows(`SELECT '1' FROM ${users} LIMIT 1`)),
    lock: mysqlTurn(tables, "'platform.first-administrator'"),
    insert: createScript(
      requireRow(`SELECT '1' FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM ${users})`),
      generateKey('role'),
      `INSERT INTO ${roles} (id, name, icon, description, admin_access)
SELECT $role, 'admin', 'verified', 'May do everything.', 1 FROM DUAL
WHERE NOT EXISTS (SELECT 1 FROM ${roles} WHERE admin_access)`,
      requireRow(
        `SELECT CAST(id AS CHAR) FROM ${roles} WHERE admin_access ORDER BY name = 'admin' DESC, name, id LIMIT 1`,
        ['role'],
      ),
      generateKey('id'),
      `INSERT INTO ${users} (id, email, email_normal_of, email_normal, password, role)
VALUES ($id, $1, $1, $1:email, $2, $role)`,
    ),
  };
}

/** A role with admin access is taken where there is one, and made where there is none. */
function insertSql(schema: string): string {
  const roles = `${schema}.platform_roles`;
  return `WITH found AS (
  SELECT id FROM ${roles} WHERE admin_access ORDER BY name = 'admin' DESC, name, id LIMIT 1
), made AS (
  INSERT INTO ${roles} (name, icon, description, admin_access)
  SELECT 'admin', 'verified', 'May do everything.', true
  WHERE NOT EXISTS (SELECT FROM found) AND NOT EXISTS (SELECT FROM ${schema}.platform_users)
  RETURNING id
)
INSERT INTO ${schema}.platform_users (email, password, role)
SELECT $1::text, $2::text, id FROM (SELECT id FROM found UNION ALL SELECT id FROM made) AS role
WHERE NOT EXISTS (SELECT FROM ${schema}.platform_users)
RETURNING ${transactionNumber}`;
}
